"""A small loop that lets a model write under a matcher. Needs nothing but NumPy."""

from .figures import Figures
from .loop import Finish, Step, generate
from .model import Model, ModelError
from .pick import pick

__all__ = ["Figures", "Finish", "Model", "ModelError", "Step", "generate", "pick"]
