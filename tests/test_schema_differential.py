"""Random schemas over all keywords against judges that share no code with us.

`STENCILM_SCHEMAS=20000 pytest tests/test_schema_differential.py` looks at more of them, and
`STENCILM_SEED=7` at others. A failure shows the schema, made as small as it goes on failing.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from judges import PROOF, NotForJudges, dumps, judges_of, load_proof, loads
from random_schemas import DIALECTS, Generator, mutated, values
from shrinking import shrunk

from stencilm import (
    Compiler,
    Grammar,
    GrammarSyntaxError,
    LimitError,
    Limits,
    UnsatisfiableError,
    UnsupportedError,
    Vocabulary,
    allocate_mask,
    allowed_ids,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Kit

    from stencilm import Matcher

pytest.importorskip("jsonschema_rs", reason="one judge alone has mistakes of its own")

SEED = int(os.environ.get("STENCILM_SEED", "1"))
SCHEMAS = int(os.environ.get("STENCILM_SCHEMAS", "1200"))
QUICK = Limits(compile_time=5)

WORDS = [
    *(b"ab", b"abc", b"bb", b"ca", b"xx", b"aa", b"ba", b"cab", b"abab"),
    *(b'{"', b'":', b'":"', b'",', b'","', b'"}', b"}}", b"[]", b"]}", b"],", b'{"a":', b'{"ab":'),
    *(b'"a":', b'"b":', b'"c"', b',"a"', b',"b', b"{}", b"[[", b"[{", b"}]", b"]]", b"[1", b",1"),
    *(b"true", b"false", b"null", b"tr", b"ue", b",true", b",null", b"10", b"00", b"-1", b"1."),
    *(b".5", b"2.5", b"1,", b"1]", b"1}", b"\\u00", b"\\n", b'\\"', b'""', b'"",', b'""]'),
    *("é".encode(), "é".encode()[:1], "日本".encode(), b"\x9c\xac"),
]


class Finding(Exception):
    """Where we and a judge differ; the first argument says in what."""


@dataclass
class Case:
    """One random schema, and what there is to look at it with."""

    schema: Any
    random: Random
    tally: Counter[str]
    kinds: dict[str, Kit]

    @cached_property
    def judges(self) -> Callable[[Any], set[bool]]:
        return judges_of(self.schema)

    def is_valid(self, text: str) -> bool | None:
        """What the judges say; `None` if they do not agree."""
        try:
            value = loads(text, is_draft4=self.schema.get("$schema") == DIALECTS["draft4"])
        except NotForJudges:
            return None
        verdicts = self.judges(value)
        self.tally["judged" if len(verdicts) == 1 else "judges differ"] += 1
        return verdicts.pop() if len(verdicts) == 1 else None

    def grammar(self, **options: Any) -> Grammar | None:
        """`None` if no text has the schema."""
        try:
            return Grammar.from_json_schema(
                self.schema, whitespace="compact", limits=QUICK, **options
            )
        except UnsatisfiableError:
            return None

    def matcher(self, kit: str, **options: Any) -> Matcher | None:
        grammar = self.grammar(**options)
        if grammar is None:
            return None
        compiler = Compiler(self.kinds[kit].vocabulary, limits=QUICK, cache_entries=0)
        return compiler.compile(grammar).matcher()


@pytest.fixture(scope="module")
def kinds(byte_kit: Kit) -> dict[str, Kit]:
    """Vocabularies: bytes alone, and with tokens of many."""
    words = Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None, *WORDS], stop=[256])
    return {"bytes": byte_kit, "words": type(byte_kit)(words)}


def accepts(matcher: Matcher | None, text: str) -> bool:
    if matcher is None:
        return False
    reader = matcher.fork()
    return reader.accept_bytes(text.encode()) and reader.may_stop()


def weight(token: bytes, late: bool) -> float:
    """How much a walk likes a token: it is to come to an end, and to meet names of the schema."""
    if token in b"}]" or token[-1:] in b"}]":
        return 60 if late else 2
    if token == b'"':
        return 30 if late else 2
    if token[:1] in b"{[":
        return 0.05 if late else 2
    if token in b"eE\\" or token[:1] == b"\\":
        return 0.02
    if token[:1] in b"0123456789.,":
        return 0.05 if late else 0.3
    return 1


def walk(case: Case, kit: Kit, matcher: Matcher) -> bytes | None:
    """A whole text, or `None` if the walk became long."""
    random = case.random
    late_after = random.choice([0, 8, 20])
    matcher, text = matcher.fork(), b""
    mask = allocate_mask(1, kit.vocabulary.size)
    for step in range(200):
        late = step > late_after
        stops = matcher.may_stop()
        matcher.fill_mask(mask)
        allowed = allowed_ids(mask[0]).tolist()
        if stops != (256 in allowed):
            raise Finding("the bit of the stop token", text)
        if stops and (late or random.random() < 0.4):
            return text
        tokens = [token for token in allowed if token != 256]
        if not tokens:
            if stops:
                return text
            raise Finding("a walk got stuck", text)
        spelled = [kit.vocabulary.token_bytes(token) or b"" for token in tokens]
        if len(tokens) > 100 and random.random() < 0.95:
            near = [pair for pair in zip(tokens, spelled, strict=True) if pair[1][-1:] in b'abcx"']
            tokens, spelled = [t for t, _ in near] or tokens, [s for _, s in near] or spelled
        token = random.choices(tokens, [weight(s, late) for s in spelled])[0]
        if not matcher.accept(token):
            raise Finding("a token whose bit is set is refused", text)
        text += kit.vocabulary.token_bytes(token) or b""
    return None


def check_walks(case: Case) -> None:
    """Whole texts of walks are valid, and those in declared order are texts of any order."""
    any_order = case.matcher("bytes", key_order="any")
    for name, kit in case.kinds.items():
        for order in ("any", "declared"):
            matcher = case.matcher(name, key_order=order)
            if (matcher is None) != (any_order is None):
                raise Finding("satisfiable in one order only", order)
            if matcher is None:
                return
            for _ in range(2):
                text = walk(case, kit, matcher)
                case.tally["walks" if text is not None else "long walks"] += 1
                if text is None:
                    continue
                if case.is_valid(text.decode()) is False:
                    raise Finding("a walk is invalid", order, text)
                if not accepts(any_order, text.decode()):
                    raise Finding("a text of a walk is no text of any order", order, text)


MOST_ORDERS = 200
"""Orders of the members of a value that are tried; values with more are not."""


def orders(value: Any) -> Iterator[Any]:
    """The same value with its members in all orders."""
    if isinstance(value, dict):
        inner = [list(itertools.islice(orders(v), 24)) for v in value.values()]
        for chosen in itertools.product(*inner):
            pairs = list(zip(value, chosen, strict=True))
            yield from (dict(pairs) for pairs in itertools.permutations(pairs))
    elif isinstance(value, list):
        yield from (list(items) for items in itertools.product(*map(orders, value)))
    else:
        yield value


def check_values(case: Case) -> None:
    """What `jsonschema` accepts is accepted, and nothing else."""
    any_order = case.matcher("bytes", key_order="any")
    declared = case.matcher("bytes")
    pool = values(case.random, case.schema, 30)
    if any_order is not None:
        for _ in range(2):
            text = walk(case, case.kinds["bytes"], any_order)
            try:
                value = loads((text or b"0").decode())
            except NotForJudges:
                continue
            for _ in range(6):
                value = mutated(case.random, value)
                pool.append(value)
    for value in pool:
        try:
            text = dumps(value)
        except OverflowError:
            continue
        if "e+" in text or "e-" in text:  # Plain numbers have no exponent.
            continue
        is_valid = case.is_valid(text)
        if is_valid is None:
            continue
        case.tally["valid" if is_valid else "invalid"] += 1
        if is_valid != accepts(any_order, text):
            raise Finding(f"{'valid' if is_valid else 'invalid'}, and we say otherwise", text)
        some = list(itertools.islice(orders(value), MOST_ORDERS + 1)) if is_valid else []
        is_tried = 0 < len(some) <= MOST_ORDERS
        if is_tried and not any(accepts(declared, dumps(one)) for one in some):
            raise Finding("valid, and there is no declared order of it", text)


STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def respelled(random: Random, text: str) -> str:
    """The same JSON text with its strings in other spellings."""
    return STRING.sub(lambda match: spelled(random, json.loads(match[0])), text)


def spelled(random: Random, string: str) -> str:
    """A random legal spelling."""
    parts = []
    for character in string:
        short = json.dumps(character)[1:-1] if character != "/" else "\\/"
        units = character.encode("utf-16-be")
        long = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
        long = "".join(random.choice([c, c.upper()]) if c != "u" else c for c in long)
        raw = character if character >= " " and character not in '"\\' else short
        parts.append(random.choice([raw, raw, short, long]))
    return f'"{"".join(parts)}"'


def check_spellings(case: Case) -> None:
    """However its strings are spelled, a value is judged alike; texts in ASCII are, too."""
    matcher = case.matcher("bytes", key_order="any", escapes="any")
    in_ascii = case.matcher("bytes", key_order="any", escapes="ascii")
    if (matcher is None) != (in_ascii is None):
        raise Finding("satisfiable in one spelling only")
    if matcher is None or in_ascii is None:
        return
    pool = [dumps(value) for value in values(case.random, case.schema, 15)]
    for name, kit in case.kinds.items():
        start = case.matcher(name, key_order="any", escapes=case.random.choice(["any", "ascii"]))
        for text in (walk(case, kit, start) for _ in range(2) if start is not None):
            if text is not None and case.is_valid(text.decode()) is False:
                raise Finding("a walk is invalid", text)
            pool += [] if text is None else [text.decode()]
    for text in pool:
        if "e+" in text or "e-" in text:  # Plain numbers have no exponent.
            continue
        is_valid = case.is_valid(text)
        if is_valid is None:
            continue
        case.tally["spelled, valid" if is_valid else "spelled, invalid"] += 1
        for _ in range(4):
            other = respelled(case.random, text)
            if accepts(matcher, other) != is_valid:
                raise Finding("another spelling, another verdict", text, other)
        plain = STRING.sub(lambda match: json.dumps(json.loads(match[0])), text)
        if accepts(in_ascii, plain) != is_valid:
            raise Finding("json.dumps writes it, and it is judged otherwise", plain)
        if not text.isascii() and accepts(in_ascii, text):
            raise Finding("not in ASCII", text)
        first = STRING.match(text, 1)
        if text.startswith("{") and first is not None:
            repeated = f"{text[:-1]},{spelled(case.random, json.loads(first[0]))}:1}}"
            if accepts(matcher, repeated):
                raise Finding("a name comes twice", repeated)


def check_masks(case: Case) -> None:
    """The bit of a token of many bytes is what its bytes say one by one."""
    escapes = case.random.choice(["plain", "any", "ascii"])
    kit, matcher = case.kinds["words"], case.matcher("words", key_order="any", escapes=escapes)
    if matcher is None:
        return
    mask = allocate_mask(1, kit.vocabulary.size)
    for _ in range(2):
        text = walk(case, kit, matcher) or b""
        reader = matcher.fork()
        for at in range(min(len(text), 12) + 1):
            reader.fill_mask(mask)
            allowed = set(allowed_ids(mask[0]).tolist())
            for token in range(257, kit.vocabulary.size):
                spelled = kit.vocabulary.token_bytes(token) or b""
                goes_on = reader.fork().accept_bytes(spelled)
                if goes_on != (token in allowed):
                    raise Finding("a bit", text[:at], spelled, goes_on)
                case.tally["bits"] += 1
            reader.accept_bytes(text[at : at + 1])


# Characters that are asked for at each prefix.
ASKED = [*map(chr, range(33, 127)), "é"]


def check_prefixes(case: Case) -> None:
    """At each prefix exactly those characters may come that the proof allows."""
    proof = load_proof()
    matcher = case.matcher("bytes", key_order="any", numbers="any", escapes="any")
    dialect = next(d for d, uri in DIALECTS.items() if uri == case.schema["$schema"])
    try:
        machine = proof.Machine2(case.schema, dialect)
        machine.wsmax = 0
        state = machine.start()
    except proof.Refused as error:
        is_served = "unsatisfiable" in str(error) and matcher is not None
        if is_served and not is_proof_wrong(case, matcher, "", chr(matcher.next_bytes()[0])):
            raise Finding("unsatisfiable, and we serve it") from None
        return
    if matcher is None:
        raise Finding("satisfiable, and we refuse it")
    for _ in range(2):
        check_prefixes_of_walk(case, matcher, state)


def check_prefixes_of_walk(case: Case, matcher: Matcher, state: Any) -> None:
    random, text, reader = case.random, "", matcher.fork()
    for step in range(40):
        following = reader.next_bytes()
        ours = {c for c in ASKED if c.encode()[0] in following}
        try:
            theirs = {c for c in ASKED if state.step(c) is not None}
        except RecursionError:
            return
        case.tally["prefixes"] += 1
        for character in sorted(ours - theirs):
            if is_repeated(state, character) or is_proof_wrong(case, reader, text, character):
                ours.discard(character)
        if ours != theirs or reader.may_stop() != state.may_stop():
            raise Finding(
                "a prefix", text, "only we: ", ours - theirs, "only they: ", theirs - ours
            )
        late = step > 15
        if not ours or (reader.may_stop() and (late or random.random() < 0.3)):
            return
        near = [c for c in ours if c in 'abcxé"'] if len(ours) > 60 else list(ours)
        near = sorted(near or ours)
        character = random.choices(near, [weight(c.encode(), late) for c in near])[0]
        state = state.step(character)
        if state is None or not reader.accept_bytes(character.encode()):
            return
        text += character


def is_proof_wrong(case: Case, reader: Matcher, text: str, character: str) -> bool:
    """Whether a character leads to a valid text, whatever the proof says.

    Where only one alternative has `uniqueItems`, it looks for room in the others too.
    """
    if len(character.encode()) > 1:
        return False
    going_on = reader.fork()
    going_on.accept_bytes(character.encode())
    rest = walk(case, case.kinds["bytes"], going_on)
    is_valid = rest is not None and case.is_valid(text + character + rest.decode()) is True
    case.tally["the proof is wrong"] += is_valid
    return is_valid


def is_repeated(state: Any, character: str) -> bool:
    """Whether this goes on to a name that came before, which another test looks at."""
    frame = state.fr[-1] if state.fr else ("",)
    if frame[0] != "O" or frame[4] != "key":
        return False
    name = frame[3][0] + ("" if character == '"' else character)
    names = [known for known, _ in frame[2]]
    return name in names if character == '"' else any(known.startswith(name) for known in names)


def run(
    check: Callable[[Case], None],
    kinds: dict[str, Kit],
    count: int,
    dialects: list[str],
    depth: int = 3,
) -> Counter[str]:
    """Looks at this many schemas; what is refused by name is counted."""
    tally: Counter[str] = Counter()

    def look(schema: Any, seed: int, tally: Counter[str]) -> Finding | None:
        case = Case(schema, Random(seed), tally, kinds)
        try:
            check(case)
        except Finding as finding:
            return finding
        except (UnsupportedError, LimitError, GrammarSyntaxError, RecursionError) as error:
            tally[type(error).__name__] += 1
            tally["served"] -= 1
        tally["served"] += 1
        return None

    for at in range(count):
        seed = SEED * 1_000_003 + at
        random = Random(seed)
        schema = Generator(random, random.choice(dialects)).document(depth)
        finding = look(schema, seed, tally)
        if finding is None:
            continue
        same = finding.args[0]

        def fails(less: Any, seed: int = seed, same: str = same) -> bool:
            found = look(less, seed, Counter())
            return found is not None and found.args[0] == same

        small = shrunk(schema, fails, 1_500)
        found = look(small, seed, Counter()) or finding
        pytest.fail(f"schema {seed}: {json.dumps(small)}\n{found}\nfrom {json.dumps(schema)}")
    print(dict(tally), file=sys.stderr)
    return tally


ALL = list(DIALECTS)


def test_walks_end_and_are_valid(kinds: dict[str, Kit]) -> None:
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    tally = run(check_walks, kinds, SCHEMAS, ALL)
    assert tally["walks"] > 4 * SCHEMAS
    assert tally["served"] > 0.75 * SCHEMAS


def test_values_are_judged_alike(kinds: dict[str, Kit]) -> None:
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    tally = run(check_values, kinds, SCHEMAS // 2, ALL)
    assert min(tally["valid"], tally["invalid"]) > 3 * SCHEMAS
    assert tally["judges differ"] < tally["judged"] / 500


def test_spellings_of_a_value_are_judged_alike(kinds: dict[str, Kit]) -> None:
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    tally = run(check_spellings, kinds, SCHEMAS // 4, ALL)
    assert min(tally["spelled, valid"], tally["spelled, invalid"]) > SCHEMAS


def test_bits_of_tokens_are_those_of_their_bytes(kinds: dict[str, Kit]) -> None:
    tally = run(check_masks, kinds, SCHEMAS // 4, ALL)
    assert tally["bits"] > 10_000


@pytest.mark.skipif(not PROOF.is_dir(), reason="the proof lies in ../shared/jsproof, not here")
def test_prefixes_go_on_as_the_proof_says(kinds: dict[str, Kit]) -> None:
    # In draft-04 the proof takes `1.0` for an integer.
    later = [dialect for dialect in ALL if dialect != "draft4"]
    tally = run(check_prefixes, kinds, SCHEMAS // 2, later, depth=2)
    assert tally["prefixes"] > 5 * SCHEMAS
    assert tally["the proof is wrong"] < SCHEMAS / 50
