"""A model's own tokenizer and chat template: what every runner of models needs.

The only file that imports `tokenizers` and `jinja2`.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from stencilm.sampling import ModelError
from stencilm.vocabularies._gguf_file import read_metadata
from stencilm.vocabularies.gguf import encoder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["CHATML", "ChatModel", "ChatTokenizer"]

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The template of models that name none; SmolLM2's, but for its system message."""


class Chat(Protocol):
    """What models ask of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text` alone."""

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn, up to where the answer begins."""


class ChatModel:
    """What the models of all engines have in common."""

    _chat: Chat
    _vocab_size: int

    @property
    def vocab_size(self) -> int:
        """How many logits `step` returns."""
        return self._vocab_size

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without any that a tokenizer would add around it."""
        return self._chat.encode(text)

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn, up to where the answer begins."""
        return self._chat.chat_prompt(user, system)


class ChatTokenizer:
    """Turns messages into the ids that a model was trained to read.

    Args:
        tokenizer: Encodes text; special tokens written in it become their ids.
        template: A Jinja chat template, as GGUF files and Hugging Face folders carry them.
        special: What the template may name: `bos_token`, `eos_token` and so on.

    >>> from tokenizers.models import BPE
    >>> print(ChatTokenizer(Tokenizer(BPE()), CHATML, {}).render("Hi"), end="")
    <|im_start|>user
    Hi<|im_end|>
    <|im_start|>assistant
    """

    def __init__(self, tokenizer: Tokenizer, template: str, special: Mapping[str, str]) -> None:
        self._tokenizer = tokenizer
        self._special = dict(special)
        # A template is a program out of a downloaded file: it runs in Jinja's sandbox.
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        environment.filters["tojson"] = _to_json
        try:
            self._template = environment.from_string(template)
        except TemplateError as error:
            raise ModelError(f"the model's chat template cannot be used: {error}") from error

    @classmethod
    def load(cls, path: Path) -> ChatTokenizer:
        """From a GGUF file, or a folder with a `tokenizer.json`."""
        return cls._from_folder(path) if path.is_dir() else cls._from_gguf(path)

    @classmethod
    def _from_gguf(cls, path: Path) -> ChatTokenizer:
        fields = read_metadata(path)
        tokenizer = encoder(path)
        special = {}
        for name in ("bos", "eos"):
            token_id = fields.get(f"tokenizer.ggml.{name}_token_id")
            if isinstance(token_id, int):
                special[f"{name}_token"] = tokenizer.id_to_token(token_id) or ""
        return cls(tokenizer, str(fields.get("tokenizer.chat_template") or CHATML), special)

    @classmethod
    def _from_folder(cls, path: Path) -> ChatTokenizer:
        file = path / "tokenizer.json"
        if not file.is_file():
            raise ModelError(f"{path} has no tokenizer.json")
        config = _read_json(path / "tokenizer_config.json")
        template_file = path / "chat_template.jinja"
        template = config.get("chat_template")
        if template_file.is_file():
            template = template_file.read_text(encoding="utf-8")
        elif isinstance(template, list):  # Several, by name.
            template = next(t["template"] for t in template if t["name"] == "default")
        special = {
            name: token["content"] if isinstance(token, dict) else token
            for name, token in config.items()
            if name.endswith("_token") and isinstance(token, dict | str)
        }
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # It raises nothing more precise.
            raise ModelError(f"{file} cannot be read: {error}") from error
        return cls(tokenizer, template or CHATML, special)

    def encode(self, text: str) -> list[int]:
        """The ids of `text` alone."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def render(self, user: str, system: str | None = None) -> str:
        """The text of a first turn, up to where the answer begins."""
        messages = [{"role": "user", "content": user}]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        try:
            return self._template.render(
                messages=messages, add_generation_prompt=True, **self._special
            )
        except TemplateError as error:
            raise ModelError(f"the model's chat template refused the messages: {error}") from error

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn, up to where the answer begins."""
        return self.encode(self.render(user, system))


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else {}


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
