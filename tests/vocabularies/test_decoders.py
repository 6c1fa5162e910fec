"""Decoder steps of `tokenizer.json`, against the library where it has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import load

REPLACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
FALLBACK, FUSE = {"type": "ByteFallback"}, {"type": "Fuse"}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}

PIECES = ["▁", "▁▁a", "a▁b", "<0xC3>", "<0xA9>", "<0x0a>", "<0xZZ>", "é", "Ġé", "two words", "▁x▁"]


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(steps)}


def document(decoder: dict[str, Any] | None, kind: str = "BPE") -> dict[str, Any]:
    vocabulary: Any = {piece: token_id for token_id, piece in enumerate(PIECES)}
    model: dict[str, Any] = {"type": kind, "vocab": vocabulary, "merges": []}
    if kind == "Unigram":
        model = {"type": kind, "unk_id": 0, "vocab": [[piece, -1.0] for piece in PIECES]}
    return {"version": "1.0", "added_tokens": [], "model": model, "decoder": decoder}


@pytest.mark.parametrize("kind", ["BPE", "Unigram"])
@pytest.mark.parametrize(
    ("decoder", "drops"),
    [
        (LEVEL, False),
        (sequence(REPLACE, FALLBACK, FUSE), False),
        (sequence(REPLACE, FALLBACK, FUSE, STRIP), True),
        (METASPACE, True),
        ({**METASPACE, "prepend_scheme": "never"}, False),
        (sequence({**METASPACE, "prepend_scheme": "first"}, FALLBACK), True),
        (sequence(STRIP, FALLBACK, FUSE), False),
        (sequence({"type": "Strip", "content": "▁", "start": 1, "stop": 0}, FUSE), False),
        (sequence(LEVEL, FUSE), False),
    ],
)
def test_as_the_library_decodes(kind: str, decoder: dict[str, Any], drops: bool) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    loaded = load(document(decoder, kind))
    library = tokenizers.Tokenizer.from_str(json.dumps(document(decoder, kind)))
    for token_id, token in enumerate(loaded.tokens):
        # In the middle of a text, where nothing is dropped.
        text = library.decode([7, token_id]).encode()
        before = library.decode([7]).encode()
        if "\ufffd".encode() not in text:
            assert text == before + (token or b"")
    assert any("drops a space" in note for note in loaded.notes) == drops


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (None, "no decoder, so tokens are joined with spaces"),
        ({"type": "WordPiece", "prefix": "##", "cleanup": True}, "'WordPiece' cannot be used"),
        ({"type": "BPEDecoder", "suffix": "</w>"}, "'BPEDecoder' cannot be used"),
        ({"type": "CTC"}, "'CTC' cannot be used: it merges repeated tokens"),
        ({"type": "Rot13"}, "'Rot13' cannot be used: what it does to a token is not known"),
        (sequence(FALLBACK, REPLACE), "'Replace' comes after the tokens were joined"),
        (sequence(FUSE, REPLACE), "'Replace' comes after"),
        (sequence(FUSE, LEVEL), "'ByteLevel' comes after"),
        (sequence(FUSE, {**STRIP, "stop": 1}), "only one space from the start"),
        ({**REPLACE, "pattern": {"Regex": "▁+"}}, "has the pattern"),
    ],
)
def test_what_looks_at_neighbours_is_refused_by_name(
    decoder: dict[str, Any] | None, message: str
) -> None:
    with pytest.raises(VocabularyError, match=message):
        load(document(decoder))


def test_word_pieces_need_a_spelling() -> None:
    pieces = {"type": "WordPiece", "vocab": {"[UNK]": 0, "play": 1, "##ing": 2}}
    with pytest.raises(VocabularyError, match="WordPiece tokens cannot be used"):
        load({"model": pieces, "decoder": {"type": "WordPiece"}})
    loaded = load(
        {"model": pieces, "added_tokens": [{"id": 0, "content": "[UNK]", "special": True}]},
        decode=lambda piece: (piece[2:] if piece.startswith("##") else " " + piece).encode(),
    )
    assert loaded.tokens == [None, b" play", b"ing"]


def test_added_tokens_get_the_ids_that_the_library_gives() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": 70, "content": "é", "special": False, **flags},
        {"id": 90, "content": "</s>", "special": True, **flags},
        {"id": 91, "content": "<b>", "special": False, **flags},
    ]
    content = {**document(LEVEL), "added_tokens": added}
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    loaded = load(content)
    assert loaded.size == library.get_vocab_size()
    assert loaded.special == {"</s>": library.token_to_id("</s>")}
    assert loaded.tokens[library.token_to_id("<b>")] == b"<b>"


def test_the_configuration_adds_special_tokens() -> None:
    from stencilm.vocabularies import tokenizer_json

    loaded = tokenizer_json.load(
        document(LEVEL),
        config={
            "added_tokens_decoder": {"11": {"content": "<mask>", "special": True}},
            "eos_token": {"content": "</s>"},
            "bos_token": None,
            "extra_special_tokens": {"image_token": "<image>"},
            "fill_token": "<FILL_ME>",
        },
    )
    assert loaded.special == {"<mask>": 11, "</s>": 12, "<image>": 13}
    assert loaded.stop == (12,)
