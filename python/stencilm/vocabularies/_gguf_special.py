"""Which tokens of a GGUF file llama.cpp takes for special by their names.

Whatever type the file gives these tokens, llama.cpp does not print them, and some end a
generation. Gemma's `</s>`, a tag of HTML among its text tokens, is one: a grammar that allowed it
as text would have its output cut off there.
"""

from __future__ import annotations

from collections.abc import Mapping

from stencilm.vocabularies._gguf_file import Metadata

__all__ = ["special_ids", "stop_ids"]

_END_FIELDS = ("eos", "eot", "eom")
_ENDS = (
    "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> "
    "<|endoftext|> </s> <|eom_id|> <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> "
    "<eos> <turn|> <|tool_response>"
)
_NOT_ENDS_BESIDE = (
    ("<|end|>", {"<|return|>", "<|call|>"}),
    ("<|end|>", {"<|flush|>", "<|call|>"}),
    ("<|end|>", {"<|flush|>", "<|calls|>"}),
    ("</s>", {"<|tool_response>"}),
)
"""Names that end nothing in vocabularies that have these others too."""

_INFILL = {
    "fim_pre": "<|fim_prefix|> <fim-prefix> <fim_prefix> <PRE> <|code_prefix|> <|prefix|>",
    "fim_suf": "<|fim_suffix|> <fim-suffix> <fim_suffix> <SUF> <|code_suffix|> <|suffix|>",
    "fim_mid": "<|fim_middle|> <fim-middle> <fim_middle> <MID> <|code_middle|> <|middle|>",
    "fim_pad": "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]",
    "fim_rep": "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>",
    "fim_sep": "<|file_sep|>",
}
_INFILL_ENDS = ("fim_pad", "fim_rep", "fim_sep")


def stop_ids(fields: Metadata, id_of: Mapping[str, int]) -> list[int]:
    """The tokens that end a generation, those that the file names first.

    >>> stop_ids({"tokenizer.ggml.eos_token_id": 7}, {"<|im_end|>": 3, "<|im_start|>": 4})
    [7, 3]
    """
    named = [_field(fields, role) for role in _END_FIELDS]
    not_ends = {name for name, others in _NOT_ENDS_BESIDE if others <= id_of.keys()}
    named += [id_of.get(name) for name in _ENDS.split() if name not in not_ends]
    named += [_infill(fields, id_of, role) for role in _INFILL_ENDS]
    return [token_id for token_id in named if token_id is not None]


def special_ids(fields: Metadata, id_of: Mapping[str, int]) -> list[int]:
    """The tokens that are not printed for their names; those of `stop_ids` come on top."""
    ids = [_infill(fields, id_of, role) for role in _INFILL]
    return [token_id for token_id in ids if token_id is not None]


def _infill(fields: Metadata, id_of: Mapping[str, int], role: str) -> int | None:
    in_file = _field(fields, role)
    if in_file is not None:
        return in_file
    return next((id_of[name] for name in _INFILL[role].split() if name in id_of), None)


def _field(fields: Metadata, role: str) -> int | None:
    token_id = fields.get(f"tokenizer.ggml.{role}_token_id")
    return token_id if isinstance(token_id, int) else None
