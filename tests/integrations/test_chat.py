"""Chat templates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from stencilm.integrations.chat import CHATML, ChatTokenizer  # noqa: E402
from stencilm.sampling import ModelError  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def chat(template: str) -> ChatTokenizer:
    return ChatTokenizer(tokenizers.Tokenizer(tokenizers.models.BPE()), template, {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    letters = {letter: i for i, letter in enumerate("abcdefgh<>sHi")}
    tokenizers.Tokenizer(tokenizers.models.BPE(letters, [])).save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_the_usual_template() -> None:
    assert chat(CHATML).render("Hi", "Be kind") == (
        "<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_a_template_may_refuse() -> None:
    refusing = chat("{{ raise_exception('no system message, please') }}")
    with pytest.raises(ModelError, match="no system message, please"):
        refusing.render("Hi", "Be kind")


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ cycler.__init__.__globals__ }}",
    ],
)
def test_a_template_cannot_leave_its_sandbox(template: str) -> None:
    with pytest.raises(ModelError, match="refused"):
        chat(template).render("Hi")


def test_a_template_that_is_none() -> None:
    with pytest.raises(ModelError, match="cannot be used"):
        chat("{% for %}")


def test_a_folder_with_its_template_in_the_configuration(folder: Path) -> None:
    config = {
        "bos_token": {"content": "<s>"},
        "chat_template": "{{ bos_token }}{{ messages[0].content }}",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    loaded = ChatTokenizer.load(folder)
    assert loaded.render("Hi") == "<s>Hi"
    assert loaded.chat_prompt("Hi") == [8, 10, 9, 11, 12]


def test_a_folder_with_its_template_in_a_file(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("Q: {{ messages[0].content }}")
    assert ChatTokenizer.load(folder).render("Hi") == "Q: Hi"


def test_a_folder_with_several_templates(folder: Path) -> None:
    templates = [
        {"name": "tool_use", "template": "tools"},
        {"name": "default", "template": "{{ messages[0].content }}!"},
    ]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": templates}))
    assert ChatTokenizer.load(folder).render("Hi") == "Hi!"


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        ChatTokenizer.load(tmp_path)
