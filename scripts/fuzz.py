"""A mutation fuzzer for the front ends and the engine behind them."""

from __future__ import annotations

import functools
import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial

import stencilm

SEEDS = {
    "regex": [
        r"^(?!foo)[a-z]{2,5}\d+$",
        r"(a|b)*abb",
        r"\bword\b.*(?<=x)y?",
        r"[^\w\s-]+(?:é|ü){0,3}$",
        r"(?=.*\d)(?=.*[A-Z]).{8,20}",
        r"\p{L}+\u{1F600}?[\x00-\x1f]",
    ],
    "regex_python": [
        r"(?aimsx) (?P<n> \d{,3} )++ # c",
        r"\A(?i:ſ|[^\Wé])*?$(?<=\b\101)\Z",
        r"(?#c)[]\-^]{2}(?!\B.)(?s-i:.)\U0001F600?",
    ],
    "ebnf": [
        'root ::= root "+" num | num\nnum ::= [0-9]+',
        'root ::= "[" (root ("," root)*)? "]" # list\n',
        'root ::= a{2,4} b?\na ::= "x" | ""\nb ::= [^"\\\\\\n] b | "\\u00e9"',
        'root ::= ~("ab" .*) & [a-c]{1,6}',
        'root ::= TagDispatch(("a", x), excludes=("b"), loop_after_dispatch=false)\nx ::= "c"',
        'root[lazy, max_chars=4] ::= Regex("a[^b]+", flags="i", json_string=true) '
        'Substring("a", "b")',
    ],
    "ebnf_w3c": [
        "[1] A ::= B? 'x' | (B - #x41)* /* c */\n[2a] B ::= [^#x9-#x20\\]+",
    ],
    "lark": [
        'start: expr\nexpr: expr "+" NUM | NUM\nNUM: /[0-9]+/\n%ignore " "',
        '%import common (INT, WS)\nstart: "[" _sep{INT, ","} "]"\n_sep{x, y}: x (y x)*\n%ignore WS',
        'start: A~2..3 [b] /x|y/i -> z\nA.2: "a".."c" & ~"b"\n?b: "é"+ |\n',
        'start: p::0x0\np::_: "" %if is_ones([0:2])\n  | "a" p::set_bit(0) %if bit_clear(0)\n'
        '  | "b" p::set_bit(1) %if bit_clear(1)',
        'start: a %lark { start: "x" A\n A: /a+/ }\na[suffix=";"]: /.*/',
        'start: %regex {"substring_words": "ab aa ab"} "!"\n%extend start: "b"',
    ],
    "lark contextual": [
        'start: "if" NAME "=" sum | NAME\nsum: NAME ("+" NAME)*\nNAME: /[a-z]+/\n%ignore " "',
        '%import common (CNAME, NUMBER, WS, C_COMMENT)\nstart: (CNAME "=" e ";")*\n'
        'e: e "+" e | NUMBER | CNAME | "(" e ")"\n%ignore WS\n%ignore C_COMMENT',
        'start: A~2..3 [b] "x"i+\nA.2: /a*?b/ | "ab"\nb: B | A\nB: /"[^"]*"/\n%ignore /#.*/',
    ],
    "structural_tag": [
        '{"type":"structural_tag","format":{"type":"triggered_tags","triggers":["<a"],"tags":['
        '{"begin":"<a>","content":{"type":"json_schema","json_schema":{"type":"object"}},'
        '"end":"</a>"}],"excludes":["x"],"stop_after_first":true}}',
        '{"type":"structural_tag","format":{"type":"tag","begin":"[","content":{"type":"sequence",'
        '"elements":[{"type":"any_text"},{"type":"repeat","min":1,"max":3,"content":{"type":"regex",'
        '"pattern":"[a-c]"}}]},"end":["]","))"]}}',
        '{"type":"structural_tag","format":{"type":"json_schema","style":"qwen_xml","json_schema":'
        '{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":["x",1]}}}}}',
    ],
    "json_schema": [
        '{"type":"object","properties":{"a":{"type":"integer","minimum":-3,"maximum":1e2},'
        '"b":{"$ref":"#"}},"required":["a"],"additionalProperties":{"type":"string"}}',
        '{"anyOf":[{"type":"string","pattern":"^a+$","maxLength":5},{"enum":[1,"x",null,[1]]}]}',
        '{"type":"array","items":{"type":["number","boolean"]},"minItems":1,"maxItems":3}',
        '{"allOf":[{"properties":{"k":{"format":"date"}}},{"required":["k"]}],"type":"object"}',
        '{"$defs":{"t":{"oneOf":[{"const":1},{"type":"null"}]}},"$ref":"#/$defs/t"}',
    ],
}
MAKE: dict[str, Callable[..., stencilm.Grammar]] = {
    "regex": stencilm.Grammar.from_regex,
    "regex_python": functools.partial(stencilm.Grammar.from_regex, dialect="python"),
    "ebnf": stencilm.Grammar.from_ebnf,
    "ebnf_w3c": functools.partial(stencilm.Grammar.from_ebnf, notation="w3c", start="A"),
    "lark": stencilm.Grammar.from_lark,
    "lark contextual": partial(stencilm.Grammar.from_lark, meaning="contextual"),
    "structural_tag": stencilm.Grammar.from_structural_tag,
    "json_schema": stencilm.Grammar.from_json_schema,
}
LIMITS = stencilm.Limits(
    compile_time=2, expressions=200_000, search=5_000, mask_work=2_000_000, items=1_000
)
EXTRA = ["ab", "aa", '"a', '": ', '",', "true", "nul", "12", "}}", "é", "\n  ", "[["]


def mutate(text: str, others: list[str], rng: random.Random) -> str:
    """A few random edits."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randint(0, len(text)) for _ in range(2))
        match rng.randrange(5):
            case 0:
                text = text[:at] + text[end:][: len(text) - at]
            case 1:
                text = text[:at] + text[at:end] * rng.randint(2, 3) + text[end:]
            case 2:
                other = rng.choice(others)
                cut = rng.randint(0, len(other))
                text = text[:at] + other[cut : cut + rng.randint(1, 12)] + text[at:]
            case 3:
                text = text[:at] + rng.choice('(){}[]|*+?^$\\".,:-0aé\0\U0001f600') + text[at:]
            case _:
                text = text[:at] + str(rng.choice([0, 1, 2**31, 10**30, -1])) + text[end:]
    return text[:2_000]


def walk(matcher: stencilm.Matcher, vocabulary: stencilm.Vocabulary, rng: random.Random) -> None:
    """Masks agree with `accept`, and no allowed token leads to a dead end."""
    mask = stencilm.allocate_mask(1, vocabulary.size)
    for _ in range(12):
        matcher.fill_mask(mask)
        allowed = set(stencilm.allowed_ids(mask[0]).tolist())
        assert allowed or matcher.has_stopped(), "a dead end"
        for token in rng.sample(range(vocabulary.size), 20):
            assert matcher.fork().accept(token) == (token in allowed), f"token {token}"
        if not allowed:
            return
        assert matcher.accept(rng.choice(sorted(allowed)))


def main() -> None:
    seconds = float(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else int(time.time())
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    tokens += [text.encode() for text in EXTRA]
    vocabulary = stencilm.Vocabulary.from_tokens([*tokens, None], stop=[len(tokens)])
    compiler = stencilm.Compiler(vocabulary, limits=LIMITS, cache_entries=0)
    for kind, seeds in SEEDS.items():
        end, tried, taken, seed = time.monotonic() + seconds, 0, 0, first
        while time.monotonic() < end:
            seed += 1
            rng = random.Random(seed)
            source = mutate(rng.choice(seeds), seeds, rng)
            tried += 1
            try:
                matcher = compiler.compile(MAKE[kind](source, limits=LIMITS)).matcher()
                walk(matcher, vocabulary, rng)
                taken += 1
            except stencilm.InternalError:
                print(f"{kind}: seed {seed}: {json.dumps(source)}", file=sys.stderr)
                raise
            except stencilm.StencilmError:
                pass
            except BaseException:
                print(f"{kind}: seed {seed}: {json.dumps(source)}", file=sys.stderr)
                raise
        print(f"fuzz {kind}: {tried} sources, {taken} taken, first seed {first}")


if __name__ == "__main__":
    main()
