"""A small loop that lets a model write under a matcher. Needs nothing but NumPy."""

from .compare import Comparison, compare
from .figures import Figures
from .loop import Finish, Step, generate
from .model import Model, ModelError
from .pick import pick

__all__ = [
    "Comparison",
    "Figures",
    "Finish",
    "Model",
    "ModelError",
    "Step",
    "compare",
    "generate",
    "pick",
]
