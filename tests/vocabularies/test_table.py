"""The table itself: what it refuses, and padding."""

from __future__ import annotations

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokens": []}, "no tokens"),
        ({"tokens": [b"a", "b"]}, "token 1 is of type str"),
        ({"tokens": [b""]}, "token 0 spells nothing"),
        ({"tokens": [b"a"], "special": {"<s>": 0}}, "special token '<s>' has id 0, which spells"),
        ({"tokens": [None], "special": {"<s>": 1}}, "id 1, outside 0..0"),
        ({"tokens": [None], "stop": (-1,)}, "id -1, outside 0..0"),
        ({"tokens": [b"a"], "stop": (0,)}, "stop token has id 0, which spells"),
        ({"tokens": [None], "stop": (0, 0)}, "come twice"),
        ({"tokens": [None], "leading_space": "drop"}, "'keep', 'strip', 'optional'"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        TokenTable(**fields)  # type: ignore[arg-type]


def test_several_ids_may_spell_the_same() -> None:
    assert TokenTable(tokens=[b"a", b"a"]).size == 2


def test_padding_adds_ids_without_text() -> None:
    table = load([b"a", None], special={"</s>": 1}, stop=1, leading_space="strip").padded(4)
    assert table.tokens == [b"a", None, None, None]
    assert (table.special, table.stop, table.leading_space) == ({"</s>": 1}, (1,), "strip")


def test_fewer_logits_than_ids_may_cut_special_tokens_only() -> None:
    table = load([b"a", None, None], special={"</s>": 1, "<image>": 2}, stop=1)
    assert table.padded(2).special == {"</s>": 1}
    with pytest.raises(VocabularyError, match="id 1 ends a sequence"):
        table.padded(1)
    with pytest.raises(VocabularyError, match="id 0 spells text"):
        load([b"a"]).padded(0)


def test_stop_tokens_by_id_and_name_lose_their_text() -> None:
    table = load([b"a", b"\n", None], special={"</s>": 2}, stop=["</s>", "\n", 2])
    assert table.stop == (2, 1)
    assert table.tokens == [b"a", None, None]


def test_a_stop_id_may_lie_in_the_padding() -> None:
    assert load([b"a"], stop=5, vocab_size=8).stop == (5,)
    with pytest.raises(VocabularyError, match=r"token id 5 is outside 0\.\.0"):
        load([b"a"], stop=5)
    with pytest.raises(VocabularyError, match="no stop token '<eos>'"):
        load([b"a"], stop="<eos>")


def test_a_table_can_be_loaded_again_with_other_options() -> None:
    table = load([b"a", None], special={"</s>": 1}, stop=1)
    again = load(table, vocab_size=3, leading_space="optional")
    assert (again.size, again.stop, again.leading_space) == (3, (1,), "optional")
