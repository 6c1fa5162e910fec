"""Stencilm and its peers behind the same few methods, all over one vocabulary.

Peers are optional (`pip install 'stencilm[bench]'`): one that is not installed is left out. A
grammar is `("json_schema", value)`, `("lark", text)`, `("regex", text)` or `("structural_tag",
value)`; an engine that cannot say it raises, and that is shown as a refusal.
"""

from __future__ import annotations

import json
import statistics
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import stencilm

Words = NDArray[np.int32]
GrammarOf = tuple[str, Any]


class Engine(Protocol):
    """Compile a grammar, then walk texts over it."""

    name: str

    def __init__(self, vocabulary: stencilm.Vocabulary, tokenizer: str) -> None: ...
    def forget(self) -> None:
        """Drops whatever earlier grammars left, but not what loading the tokenizer made."""

    def compile(self, kind: str, grammar: Any) -> None: ...
    def begin(self) -> None:
        """A new text."""

    def accept(self, token: int) -> bool: ...
    def fill(self) -> None: ...
    def words(self) -> Words:
        """The mask that `fill` wrote."""

    def may_stop(self) -> bool: ...


class Stencilm:
    name = "stencilm"

    def __init__(self, vocabulary: stencilm.Vocabulary, tokenizer: str) -> None:
        self.vocabulary = vocabulary
        self.compiler = stencilm.Compiler(vocabulary, cache_entries=0)
        self.mask = stencilm.allocate_mask(1, vocabulary.size)

    def forget(self) -> None:
        # As after loading: strings, numbers and white space of JSON are known then.
        self.vocabulary.renew_store()
        self.vocabulary._warm()

    def compile(self, kind: str, grammar: Any) -> None:
        self.compiled = self.compiler.compile(read(kind, grammar))

    def begin(self) -> None:
        self.matcher = self.compiled.matcher()

    def accept(self, token: int) -> bool:
        return self.matcher.accept(token)

    def fill(self) -> None:
        self.matcher.fill_mask(self.mask)

    def words(self) -> Words:
        return self.mask[0]

    def may_stop(self) -> bool:
        return self.matcher.may_stop()


class LLGuidance:
    name = "llguidance"

    def __init__(self, vocabulary: stencilm.Vocabulary, tokenizer: str) -> None:
        import llguidance
        from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

        self.library = llguidance
        self.fill_next = fill_next_token_bitmask
        # It needs the tokenizer itself: where a text is forced it allows the tokens of that only.
        self.tokenizer = llguidance.LLTokenizer(
            tokenizer_file(tokenizer), eos_token=vocabulary.stop_ids[0]
        )
        self.mask = allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def forget(self) -> None:
        """Nothing is kept between grammars."""

    def compile(self, kind: str, grammar: Any) -> None:
        if kind == "json_schema":
            text = self.library.LLMatcher.grammar_from_json_schema(json.dumps(grammar))
        elif kind == "regex":
            text = self.library.LLMatcher.grammar_from_regex(grammar)
        elif kind == "structural_tag":
            raise NotImplementedError(kind)
        else:
            text = self.library.LLMatcher.grammar_from_lark(grammar)
        self.root = self.library.LLMatcher(self.tokenizer, text)
        if self.root.is_error():
            raise ValueError(self.root.get_error())

    def begin(self) -> None:
        self.matcher = self.root.deep_copy()

    def accept(self, token: int) -> bool:
        return bool(self.matcher.consume_token(token))

    def fill(self) -> None:
        self.fill_next(self.matcher, self.mask, 0)

    def words(self) -> Words:
        words: Words = self.mask[0]
        return words

    def may_stop(self) -> bool:
        return bool(self.matcher.is_accepting())


class XGrammar:
    name = "xgrammar"

    def __init__(self, vocabulary: stencilm.Vocabulary, tokenizer: str) -> None:
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self.library = xgrammar
        texts = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
        self.info = xgrammar.TokenizerInfo(
            texts, vocab_size=vocabulary.size, stop_token_ids=vocabulary.stop_ids
        )
        self.stop = vocabulary.stop_ids[0]
        self.mask = xgrammar.allocate_token_bitmask(1, vocabulary.size)
        self.row: Words = self.mask.numpy()[0]
        self.forget()

    def forget(self) -> None:
        self.compiler = self.library.GrammarCompiler(self.info, max_threads=1, cache_enabled=False)

    def compile(self, kind: str, grammar: Any) -> None:
        if kind == "json_schema":
            self.compiled = self.compiler.compile_json_schema(
                json.dumps(grammar), any_whitespace=True, strict_mode=False
            )
        elif kind == "regex":
            self.compiled = self.compiler.compile_regex(grammar)
        elif kind == "structural_tag":
            self.compiled = self.compiler.compile_structural_tag(json.dumps(grammar))
        else:
            self.compiled = self.compiler.compile_lark(grammar)

    def begin(self) -> None:
        self.matcher = self.library.GrammarMatcher(self.compiled)

    def accept(self, token: int) -> bool:
        return bool(self.matcher.accept_token(token))

    def fill(self) -> None:
        if not self.matcher.fill_next_token_bitmask(self.mask):
            self.row[:] = -1

    def words(self) -> Words:
        return self.row

    def may_stop(self) -> bool:
        self.fill()
        return bool((int(self.row[self.stop >> 5]) >> (self.stop & 31)) & 1)


class GLRMask:
    name = "glrmask"

    def __init__(self, vocabulary: stencilm.Vocabulary, tokenizer: str) -> None:
        import glrmask

        self.library = glrmask
        texts = ((token, vocabulary.token_bytes(token)) for token in range(vocabulary.size))
        self.tokens = glrmask.Vocab.from_id_to_bytes({token: text for token, text in texts if text})
        self.least = vocabulary.words

    def forget(self) -> None:
        """Nothing is kept between grammars."""

    def compile(self, kind: str, grammar: Any) -> None:
        if kind == "json_schema":
            made = self.library.Grammar.from_json_schema(json.dumps(grammar))
        elif kind == "regex":
            made = self.library.Grammar.from_lark(f"start: /{grammar}/")
        elif kind == "structural_tag":
            raise NotImplementedError(kind)
        else:
            made = self.library.Grammar.from_lark(grammar)
        self.compiled = made.compile(self.tokens)
        self.mask = np.zeros(max(self.least, self.compiled.mask_len()), dtype=np.int32)

    def begin(self) -> None:
        self.matcher = self.compiled.start()

    def accept(self, token: int) -> bool:
        return bool(self.matcher.commit_token(token))

    def fill(self) -> None:
        self.matcher.fill_mask(self.mask)

    def words(self) -> Words:
        return self.mask

    def may_stop(self) -> bool:
        return bool(self.matcher.is_accepting())


def read(kind: str, grammar: Any) -> stencilm.Grammar:
    """A grammar as Stencilm reads it, from text."""
    if kind == "json_schema":
        return stencilm.Grammar.from_json_schema(json.dumps(grammar))
    if kind == "structural_tag":
        return stencilm.Grammar.from_structural_tag(json.dumps(grammar))
    if kind == "regex":
        return stencilm.Grammar.from_regex(grammar)
    return stencilm.Grammar.from_lark(grammar)


ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (Stencilm, LLGuidance, XGrammar, GLRMask)
}


def installed() -> list[str]:
    """The names of the engines that are there, ours first."""
    found = []
    for name in ENGINES:
        try:
            version_of(name)
            found.append(name)
        except PackageNotFoundError:
            continue
    return found


def version_of(name: str) -> str:
    return stencilm.__version__ if name == "stencilm" else version(name)


class Text:
    """A model's own way of cutting texts into tokens, the same for every engine."""

    def __init__(self, tokenizer: str) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(tokenizer_file(tokenizer))

    def tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def tokenizer_file(tokenizer: str) -> str:
    """The `tokenizer.json` of a folder, or the file itself."""
    path = Path(tokenizer)
    return str(path / "tokenizer.json" if path.is_dir() else path)


def clock() -> int:
    """Nanoseconds that this process has computed, on all its threads.

    What else the machine does is not in them.
    """
    return time.process_time_ns()


def clock_cost() -> float:
    """What one look at the clock adds to what is measured, in nanoseconds."""
    return statistics.median(-(clock() - clock()) for _ in range(2_001))
