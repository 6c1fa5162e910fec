"""A backend for vLLM's structured outputs: `--structured-outputs-config '{"backend": "stencilm"}'`.

The only file that imports `vllm`. vLLM calls `register` in each of its processes, by the entry
point `stencilm` of the group `vllm.general_plugins`. It has no registry of such backends, so
what it needs to know is put into its own classes; a release whose classes are others than those
that were tested here is refused by name.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import vllm
from pydantic.dataclasses import rebuild_dataclass
from vllm.config import structured_outputs as vllm_config
from vllm.entrypoints.generate.base import protocol as vllm_protocol
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.structured_output import StructuredOutputManager
from vllm.v1.structured_output import utils as vllm_utils
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key
from vllm.v1.structured_output.utils import strip_speculative_padding

from stencilm import InternalError, StencilmError, fill_masks

from ._serving import Kind, ServedModel, Settings, refusal, signature_differences
from .torch import allocate_mask, apply_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import torch
    from numpy.typing import NDArray

    from stencilm import Matcher

__all__ = ["StencilmBackend", "StencilmGrammar", "differences", "register"]

NAME = "stencilm"
_CHOSEN = "STENCILM_IS_CHOSEN_BY_VLLM"

_log = logging.getLogger("vllm.plugins.stencilm")

_KINDS: dict[str, Kind] = {
    "JSON": "json",
    "JSON_OBJECT": "json_object",
    "REGEX": "regex",
    "GRAMMAR": "grammar",
    "CHOICE": "choice",
    "STRUCTURAL_TAG": "structural_tag",
}
_FREE = np.int32(-1)
"""A word of a row in which everything is allowed."""

_SIGNATURES: list[tuple[Any, str, list[str]]] = [
    (
        SamplingParams,
        "_validate_structured_outputs",
        ["self", "model_config", "structured_outputs_config", "tokenizer"],
    ),
    (StructuredOutputManager, "grammar_init", ["self", "request"]),
    (StructuredOutputManager, "_create_grammar", ["self", "request"]),
    (
        StructuredOutputManager,
        "grammar_bitmask",
        ["self", "requests", "structured_output_request_ids", "scheduled_spec_decode_tokens"],
    ),
    (
        StructuredOutputManager,
        "_get_constraint_bounds",
        ["self", "request", "spec_tokens", "spec_tokens_committed"],
    ),
    (
        StructuredOutputBackend,
        "compile_grammar",
        ["self", "request_type", "grammar_spec", "stop_token_ids"],
    ),
    (StructuredOutputBackend, "allocate_token_bitmask", ["self", "max_num_seqs"]),
    (StructuredOutputBackend, "destroy", ["self"]),
    (StructuredOutputGrammar, "accept_tokens", ["self", "request_id", "tokens"]),
    (StructuredOutputGrammar, "validate_tokens", ["self", "tokens"]),
    (StructuredOutputGrammar, "rollback", ["self", "num_tokens"]),
    (StructuredOutputGrammar, "fill_bitmask", ["self", "bitmask", "batch_index"]),
    (StructuredOutputGrammar, "is_terminated", ["self"]),
    (StructuredOutputGrammar, "reset", ["self"]),
    (vllm_protocol, "validate_structural_tag_payload", ["payload", "parameter"]),
    (
        vllm_utils,
        "apply_grammar_bitmask",
        ["scheduler_output", "grammar_output", "input_batch", "logits"],
    ),
]
"""What is replaced, called or implemented here."""

_PARAMETERS = {
    *("json", "regex", "choice", "grammar", "json_object", "structural_tag"),
    *("disable_any_whitespace", "disable_additional_properties", "whitespace_pattern"),
    *("_backend", "_backend_was_auto"),
}


def differences() -> list[str]:
    """What this release of vLLM has otherwise than those that were tested: none, if all is well."""
    found = signature_differences(_SIGNATURES)
    abstract = StructuredOutputBackend.__abstractmethods__ | (
        StructuredOutputGrammar.__abstractmethods__
    )
    known = {name for _, name, _ in _SIGNATURES}
    found += [f"{name} is to be implemented, too" for name in sorted(abstract - known)]
    kinds = {option.name for option in StructuredOutputOptions}
    found += [f"{name} is a new kind of constraint" for name in sorted(kinds - set(_KINDS))]
    parameters = set(getattr(StructuredOutputsParams, "__dataclass_fields__", {}))
    if parameters != _PARAMETERS:
        names = ", ".join(sorted(parameters ^ _PARAMETERS))
        found.append(f"StructuredOutputsParams has other fields: {names}")
    if not hasattr(vllm_utils, "xgr"):
        found.append("masks are not applied by XGrammar")
    if NAME in get_args(getattr(vllm_config, "StructuredOutputsBackend", None)):
        return found
    config = vllm_config.StructuredOutputsConfig
    if "backend" not in getattr(config, "__pydantic_fields__", {}):
        found.append("StructuredOutputsConfig.backend is no field of pydantic's")
    decorators = getattr(config, "__pydantic_decorators__", None)
    if "_validate_structured_output_config" not in getattr(decorators, "model_validators", {}):
        found.append("StructuredOutputsConfig is checked otherwise")
    return found


def register() -> None:
    """Makes the backend known to vLLM in this process. Called by vLLM; twice does no harm."""
    found = differences()
    if found:
        _log.error(
            "The backend %r does not know vLLM %s, so it is not available: %s",
            NAME,
            getattr(vllm, "__version__", "of unknown version"),
            "; ".join(found),
        )
        return
    if NAME in get_args(vllm_config.StructuredOutputsBackend):
        return
    _widen_config()
    _wrap(SamplingParams, "_validate_structured_outputs", _validate)
    _wrap(StructuredOutputManager, "grammar_init", _grammar_init)
    _wrap(StructuredOutputManager, "_create_grammar", _create_grammar)
    _wrap(StructuredOutputManager, "grammar_bitmask", _grammar_bitmask)
    _wrap(vllm_protocol, "validate_structural_tag_payload", _validate_tag)
    vllm_utils.xgr = _Kernels()


class StencilmBackend(StructuredOutputBackend):
    """Compiles the grammars of one engine.

    Raises:
        VocabularyError: The tokenizer does not say what its tokens spell.
        ValueError: `STENCILM_OPTIONS` does not hold settings.
    """

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        self._model = ServedModel(tokenizer, vocab_size, Settings.of_environment())
        self._is_compact = vllm_config.structured_outputs_config.disable_any_whitespace

    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: Collection[int] | None = None,
        *,
        is_compact: bool = False,
    ) -> StencilmGrammar:
        """A request's grammar, at the beginning of its text."""
        compiled = self._model.compile(
            _KINDS[request_type.name],
            grammar_spec,
            stop_token_ids or (),
            is_compact=is_compact or self._is_compact,
        )
        return StencilmGrammar(compiled.matcher())

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Rows of masks."""
        return allocate_mask(max_num_seqs, self.vocab_size)

    def destroy(self) -> None:
        """Nothing is held that Python does not let go by itself."""


class StencilmGrammar(StructuredOutputGrammar):
    """Where the text of one request stands.

    While a text is written, only a limit can be in the way. Then the request ends with an
    error, and no other one is touched.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.failure: StencilmError | None = None

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Takes tokens; what comes after a stop token is not judged."""
        for token in tokens:
            if self.matcher.has_stopped():
                return True
            if self.failure is None:
                self._try(lambda token=token: self._take(token))  # type: ignore[misc]
            if self.failure is not None:
                _log.error("The grammar of request %s failed: %s", request_id, self.failure)
                return False
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """As many of these tokens as may come, one after the other."""
        if self.failure is not None or self.matcher.has_stopped():
            return []
        return tokens[: self._try(lambda: self.matcher.validate(tokens)) or 0]

    def rollback(self, num_tokens: int) -> None:
        """Gives back the last tokens, a stop token included."""
        self.matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Writes which tokens may come next."""
        self.fill(bitmask.numpy(), batch_index)

    def fill(self, mask: NDArray[np.int32], row: int) -> None:
        """Writes which tokens may come next; after a failure all, since the request ends."""
        if self.failure is None:
            self._try(lambda: self.matcher.fill_mask(mask, row))
        if self.failure is not None:
            mask[row] = _FREE

    def fill_draft(self, mask: NDArray[np.int32], row: int, draft: Sequence[int]) -> None:
        """Writes which tokens may come before each token of a draft, and after the last.

        A draft was validated before; -1 at its end is padding, and says nothing.
        """
        tokens = strip_speculative_padding(list(draft))
        end = row + len(draft) + 1
        if self.failure is not None or self.matcher.has_stopped():
            mask[row:end] = _FREE
            return
        taken = self._try(lambda: self.matcher.fill_draft_masks(tokens, mask, row))
        if taken is None:
            mask[row:end] = _FREE
            return
        # After a stop token everything is free, as after the end of a text without a draft.
        if taken and tokens[taken - 1] in self.matcher.compiled.vocabulary.stop_ids:
            mask[row + taken : end] = _FREE
        elif taken < len(tokens):
            # An empty row would make the sampler divide by nothing.
            mask[row + taken + 1 : end] = mask[row + taken]
        else:
            mask[row + len(tokens) + 1 : end] = _FREE

    def is_terminated(self) -> bool:
        """Whether a stop token came."""
        return self.matcher.has_stopped()

    def reset(self) -> None:
        """Back to the beginning."""
        self.matcher.reset()
        self.failure = None

    def _take(self, token: int) -> None:
        if not self.matcher.accept(token):
            raise InternalError(f"token {token} was sampled, which may not come")

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except StencilmError as error:
            self.failure = error
            return None


def _widen_config() -> None:
    config = vllm_config.StructuredOutputsConfig
    names = Literal[(*get_args(vllm_config.StructuredOutputsBackend), NAME)]  # type: ignore[valid-type]
    vllm_config.StructuredOutputsBackend = names
    config.__annotations__["backend"] = names
    config.__dataclass_fields__["backend"].type = names
    config.__pydantic_fields__["backend"].annotation = names
    # Pydantic found the check when it made the class, and does not look for it again.
    check = config.__pydantic_decorators__.model_validators["_validate_structured_output_config"]
    theirs = check.func
    check.func = lambda made: _check_config(theirs, made)
    rebuild_dataclass(config, force=True)


class _Kernels:
    """XGrammar, but for masks on CPUs: it refuses tokens one by one, 0.26 ms a row of 49,152."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs(), name)

    def apply_token_bitmask_inplace(
        self, logits: torch.Tensor, bitmask: torch.Tensor, *, indices: Any = None, **more: Any
    ) -> None:
        """As XGrammar's."""
        if not more and _is_chosen() and logits.is_cpu and bitmask.is_cpu:
            apply_mask(logits, bitmask, indices)
        else:
            theirs = self._theirs().apply_token_bitmask_inplace
            theirs(logits, bitmask, indices=indices, **more)

    def _theirs(self) -> Any:
        # Not by vLLM's lazy loader, which puts the library in this one's place.
        return importlib.import_module("xgrammar")


def _wrap(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    theirs = getattr(owner, name)

    @functools.wraps(theirs)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        return ours(theirs, *arguments, **named)

    setattr(owner, name, wrapper)


def _is_chosen() -> bool:
    """Whether our backend serves: neither vLLM's checks of tags nor its workers are told.

    Workers have the environment of the process that made the configuration.
    """
    return os.environ.get(_CHOSEN) == "1"


def _check_config(theirs: Callable[..., Any], config: Any) -> Any:
    if config.backend != NAME:
        return theirs(config)
    if config.disable_additional_properties:
        raise ValueError(
            f"disable_additional_properties is not supported by {NAME}: schemas mean what they say"
        )
    Settings.of_environment()
    os.environ[_CHOSEN] = "1"
    return config


@functools.lru_cache(maxsize=2)
def _front_model(tokenizer: Any, width: int) -> ServedModel:
    return ServedModel(tokenizer, width, Settings.of_environment(), is_caching=False)


def _validate(
    theirs: Callable[..., None],
    params: Any,
    model_config: Any,
    structured_outputs_config: Any,
    tokenizer: Any,
) -> None:
    """In the front end, where an error of the request is still an answer to it."""
    asked = params.structured_outputs
    if asked is None or structured_outputs_config is None:
        return
    if structured_outputs_config.backend != NAME:
        theirs(params, model_config, structured_outputs_config, tokenizer)
        return
    if model_config.is_diffusion:
        raise VLLMValidationError("structured outputs need a model that writes left to right")
    if tokenizer is None:
        raise VLLMValidationError("structured outputs need the model's tokenizer")
    if asked._backend not in (None, NAME):
        raise VLLMValidationError(
            f"the backend is {NAME}, for all requests: a request cannot choose {asked._backend!r}"
        )
    asked._backend = NAME
    asked.__post_init__()
    for name in ("disable_additional_properties", "whitespace_pattern"):
        if getattr(asked, name):
            raise VLLMValidationError(f"structured_outputs.{name} is not supported by {NAME}")
    if asked.json_object is False:
        raise VLLMValidationError("structured_outputs.json_object can only be true")
    try:
        kind, spec = _key(asked)
        model = _front_model(tokenizer, model_config.get_vocab_size())
        is_compact = asked.disable_any_whitespace or (
            structured_outputs_config.disable_any_whitespace
        )
        model.compile(_KINDS[kind.name], spec, is_compact=is_compact)
        if asked.json is not None:
            # A text has no depth: vLLM pickles requests on the way to its workers, which a deep
            # schema would end together with the engine.
            asked.json = spec
    except (StencilmError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, InternalError):
            raise
        raise VLLMValidationError(f"{NAME}: {refusal(error)}") from error


def _key(asked: StructuredOutputsParams) -> tuple[StructuredOutputOptions, str]:
    kind, spec = get_structured_output_key(asked)
    if not isinstance(spec, str):
        raise TypeError(f"a {kind.name.lower()} is a text, not {type(spec).__name__}")
    return kind, spec


def _validate_tag(theirs: Callable[..., None], payload: Any, *, parameter: str) -> None:
    """XGrammar is asked about structural tags even before vLLM looks at the backend."""
    if not _is_chosen():
        theirs(payload, parameter=parameter)
    elif not isinstance(payload, str) or not payload.strip():
        raise VLLMValidationError(f"{parameter}: a structural tag is a text", parameter=parameter)


def _grammar_init(theirs: Callable[..., None], manager: Any, request: Any) -> None:
    params = request.sampling_params
    if (
        manager.backend is None
        and request.structured_output_request is not None
        and params is not None
        and params.structured_outputs._backend == NAME
    ):
        width = manager.vllm_config.model_config.get_vocab_size()
        manager.backend = StencilmBackend(manager.vllm_config, manager.tokenizer, width)
    theirs(manager, request)


def _create_grammar(theirs: Callable[..., Any], manager: Any, request: Any) -> Any:
    if not isinstance(manager.backend, StencilmBackend):
        return theirs(manager, request)
    asked = request.structured_output_request
    kind, spec = asked.structured_output_key
    stop = request.sampling_params.all_stop_token_ids if request.sampling_params else ()
    return manager.backend.compile_grammar(
        kind, spec, stop, is_compact=asked.params.disable_any_whitespace
    )


def _grammar_bitmask(
    theirs: Callable[..., Any],
    manager: Any,
    requests: dict[str, Any],
    structured_output_request_ids: list[str],
    scheduled_spec_decode_tokens: dict[str, list[int]],
) -> NDArray[np.int32] | None:
    """The rows of a batch, in one call."""
    arguments = (requests, structured_output_request_ids, scheduled_spec_decode_tokens)
    if not structured_output_request_ids or not isinstance(manager.backend, StencilmBackend):
        return theirs(manager, *arguments)  # type: ignore[no-any-return]
    if manager._grammar_bitmask is None:
        most = manager.vllm_config.scheduler_config.max_num_seqs
        drafted = manager.vllm_config.num_speculative_tokens
        manager._grammar_bitmask = manager.backend.allocate_token_bitmask(most * (1 + drafted))
    mask: NDArray[np.int32] = manager._grammar_bitmask.numpy()
    grammars: list[StencilmGrammar] = []
    rows: list[int] = []
    row = 0
    for name in structured_output_request_ids:
        request = requests[name]
        grammar = request.structured_output_request.grammar
        draft = scheduled_spec_decode_tokens.get(name) or ()
        bounds = manager._get_constraint_bounds(request, strip_speculative_padding(list(draft)))
        is_bound = bounds.constraint_start == 0
        if draft and (bounds.grammar_start != 0 or not is_bound):
            # The reasoning may end inside of this draft: vLLM knows where.
            return theirs(manager, *arguments)  # type: ignore[no-any-return]
        if draft:
            grammar.fill_draft(mask, row, draft)
        elif is_bound and grammar.failure is None and not grammar.is_terminated():
            grammars.append(grammar)
            rows.append(row)
        else:
            mask[row] = _FREE
        row += 1 + len(draft)
    try:
        fill_masks([grammar.matcher for grammar in grammars], mask, rows)
    except StencilmError:
        for grammar, place in zip(grammars, rows, strict=True):
            grammar.fill(mask, place)
    return mask[:row]
