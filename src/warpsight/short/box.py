"""The tools of one task for a small model: the real box behind few words.

Every call goes to the task's own tools, so verdicts, times and profiles are the gate's and the lens's; only the wording
is shorter. In the suite `recommend` a submission is an answer and is not run. Profiles are kept on disk by content,
while the parts that make them are the same files: the same question is asked of many models. `plain` is the text that
the task's own kernel was restyled from: the compiler sees no difference, so all ways of writing share one profile. With
`by_plain`, for training alone, they share rewrites and submissions too: the tools then work on the plain text.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pydantic import JsonValue, TypeAdapter

from warpsight.causes import NOTHING, advice_for
from warpsight.errors import TaskError
from warpsight.nouns import Evaluation, Task, kernel_id
from warpsight.rewrite import CAUSES as CAN_REWRITE
from warpsight.session.feedback import Feedback, shows_time
from warpsight.session.parts import parts_digest
from warpsight.session.session import IMPOSSIBLE
from warpsight.short.climb import climb, rewritten
from warpsight.short.prompting import ANSWERS_ALONE, CAUSE, CAUSES, REWRITE, Suite, causes_of, small_specs
from warpsight.short.words import (
    NO_REWRITE,
    profile_words,
    rewrite_words,
    submit_words,
    time_words,
    tries_words,
)
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.packages import compiler_identity
from warpsight.tools.answer import result_of
from warpsight.tools.box import SUBMIT, ToolResult, ToolSpec
from warpsight.tools.edits import KERNEL
from warpsight.tools.open import open_box
from warpsight.tools.profile import Found, Profiled
from warpsight.tools.rewrite import Rewritten, draft
from warpsight.tools.submit import Submitted
from warpsight.tools.task_box import TaskBox
from warpsight.tools.time import Timed

PROFILE_PARTS = ("vgpu", "devices", "causes", "lens", "session", "tools")
GATE_PARTS = (*PROFILE_PARTS, "gate", "jail", "rewrite", "tasks")
_LOCKS = tuple(threading.Lock() for _ in range(64))  # two keys that share one only wait
PROFILE_SEED = 1  # contents that are profiled: fixed, so that a profile is the same for every model


class SmallBox:
    """A ToolBox over the tools of one task. The real box is opened when the first call needs it. Conversations on the
    same task may share one: it remembers nothing of them, and takes one call at a time."""

    tries = 0  # how many changes may be tried: the suite `budget` alone

    @property
    def can_try(self) -> tuple[str, ...]:
        return ()

    def __init__(
        self,
        task: Task,
        suite: Suite,
        feedback: Feedback = "curated",
        *,
        decoys: tuple[Task, ...] = (),
        cores: int = 1,
        listed: bool = True,
        plain: tuple[str, int] | None = None,
        by_plain: bool = False,
        first_words: bool = False,
    ) -> None:
        self.task = task
        self._given = plain[0] if plain is not None and by_plain else task.kernel
        self.suite: Suite = suite
        self.feedback: Feedback = feedback
        self.listed = listed
        self._first_words = first_words  # of a model that was trained before there was one dictionary
        self._plain = plain
        self._decoys = decoys
        self._cores = cores
        self._turn = threading.Lock()

    def specs(self) -> tuple[ToolSpec, ...]:
        return small_specs(self.suite, listed=self.listed)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """One call, by the real tools."""
        with self._turn:
            return self._call(name, arguments)

    def _call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        if name == "profile":
            return self._profile(arguments)
        if name == SUBMIT and self.suite in ANSWERS_ALONE:
            said = str(arguments[CAUSE])
            return ToolResult(
                text=advice_for(said) if self.suite == "recommend" else "submitted", data={CAUSE: said}, submitted=True
            )
        if name == SUBMIT and self.suite == "apply":
            return self._apply(arguments)
        if name == SUBMIT:
            return self._submit(arguments)
        if name == REWRITE:
            return self._rewrite(arguments)
        result = self.box.call(name, self._kernel_of(arguments))
        if result.is_error:
            return result
        return result.model_copy(update={"text": time_words(Timed.model_validate_json(json.dumps(result.data)))})

    @functools.cached_property
    def box(self) -> TaskBox:
        """The task's own tools."""
        task = self.task.model_copy(update={"kernel": self._given})
        return open_box(task, feedback=self.feedback, seed=PROFILE_SEED, decoys=self._decoys, cores=self._cores)

    def _profile(self, arguments: Mapping[str, JsonValue]) -> ToolResult:
        shown = str(arguments.get(KERNEL, self.task.kernel))
        kernel, lower = shown, 0
        if self._plain is not None and shown == self.task.kernel and self.feedback != "wrong":
            kernel, lower = self._plain
        key = self._key(kernel)
        with _one_at_a_time(key):
            kept = None if key is None else store().get(key)
            if kept is None:
                asked = {KERNEL: kernel}
                result = self._duration(kernel) if self.feedback == "time" else self.box.call("profile", asked)
                if result.is_error:
                    return result
                kept = json.dumps(result.data).encode()
                if key is not None:
                    store().put(key, kept)
        found = _lowered(Profiled.model_validate_json(kept), lower)
        smaller = self.suite in ("optimize", "budget")
        text = profile_words(found, shown, smaller=smaller, first_words=self._first_words, facts=self.suite == "budget")
        text = f"{found.balance}\n{text}" if self.suite == "classify" and found.balance else text
        return ToolResult(text=text, data=json.loads(found.model_dump_json()))

    def _duration(self, kernel: str) -> ToolResult:
        """In a run that shows times alone, a profile is the time and nothing else."""
        session = self.box.session
        try:
            found = session.counters(session.candidate(kernel))
        except IMPOSSIBLE as impossible:
            return ToolResult(text=f"error: {impossible.message}", is_error=True)
        shown = Profiled(
            kernel=kernel_id(kernel), profiled=True, source=found.source, gpu=found.gpu, workload=session.workload.name,
            counters={"duration_us": float(found.counters.get("duration_us", 0.0))},
        )  # fmt: skip
        return ToolResult(text="", data=json.loads(shown.model_dump_json()))

    def _key(self, kernel: str) -> str | None:
        if self.feedback == "wrong":
            return None  # depends on all decoys; the true profiles it is taken from are cheap beside a model's reply
        size = json.dumps([dict(w.axes) for w in self.task.workloads if w.profile])
        parts = parts_digest(*PROFILE_PARTS)
        return content_key(self.feedback, kernel, self.task.name, self.task.gpu, size, compiler_identity(), parts)

    def _rewrite(self, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """Each cause by itself; where one helps, all that is known on top of the best, as far as it helps.

        What gains too little to tell leaves the kernel as it is. Where times are off, the first that can be typed."""
        said = arguments[CAUSES]
        named = causes_of([str(name) for name in said]) if isinstance(said, list) else []
        kernel = str(self._kernel_of(arguments)[KERNEL])
        if not shows_time(self.feedback):
            return self._first_typed(kernel, named)
        alone: dict[str, ToolResult] = {}
        for cause in named:
            alone[cause] = found = self._draft(kernel, cause)
            if found.is_error:
                return found
        up = climb(alone, self._draft, self._judge)
        tried = [_without(rewritten(one)) if cause in up.refused else rewritten(one) for cause, one in alone.items()]
        data: dict[str, JsonValue] = {"alone": _as_data(tried), "steps": _as_data(up.steps)}
        return ToolResult(text=tries_words(tried, up.steps), data=data, evaluation=up.evaluation, made=up.made)

    def _first_typed(self, kernel: str, causes: Sequence[str]) -> ToolResult:
        """The first cause that a rule can type, without a look at any time."""
        alone: list[Rewritten] = []
        for cause in causes:
            found = self.typed(kernel, cause)
            if found.is_error:
                return found
            alone.append(rewritten(found))
            if found.made is not None:
                data: dict[str, JsonValue] = {"alone": _as_data(alone), "steps": _as_data(alone[-1:])}
                return found.model_copy(update={"text": tries_words(alone, alone[-1:]), "data": data})
        return ToolResult(text=tries_words(alone, ()), data={"alone": _as_data(alone), "steps": []})

    def _draft(self, kernel: str, cause: str) -> ToolResult:
        """A kernel rewritten for one cause, perhaps not yet judged by the gate; see `tools.rewrite.draft`."""
        if cause not in CAN_REWRITE:
            return _none_known(kernel, cause)
        asked: dict[str, JsonValue] = {KERNEL: kernel, CAUSE: cause}
        return self._kept("draft", asked, lambda: self._drafted(kernel, cause))

    def _drafted(self, kernel: str, cause: str) -> ToolResult:
        try:
            answer = draft(self.box.session, kernel, cause)
        except (*IMPOSSIBLE, TaskError) as impossible:
            return ToolResult(text=f"error: {impossible.message}", is_error=True)
        return result_of(answer, answer.text)

    def _judge(self, kernel: str) -> Evaluation | None:
        asked: dict[str, JsonValue] = {KERNEL: kernel}
        return self._kept("time", asked, lambda: self.box.call("time", asked)).evaluation

    def typed(self, kernel: str, cause: str) -> ToolResult:
        """A kernel rewritten for one cause by the real tool; its record says that none is known where that is so."""
        if cause not in CAN_REWRITE:
            return _none_known(kernel, cause)
        result = self._judged(REWRITE, {KERNEL: kernel, CAUSE: cause})
        return result if result.is_error else result.model_copy(update={"text": rewrite_words(rewritten(result))})

    def _apply(self, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """The answer typed by rule and handed in. An answer that no rule can type is no end: another may be given."""
        if arguments[CAUSE] == NOTHING:
            return self._submit({KERNEL: self.task.kernel, **arguments})
        typed = self.typed(str(self._kernel_of(arguments)[KERNEL]), str(arguments[CAUSE]))
        if typed.made is None:
            return typed.model_copy(update={"text": f"{typed.text}: name another cause", "submitted": False})
        return self._submit({**arguments, KERNEL: typed.made}).model_copy(update={"made": typed.made})

    def _submit(self, arguments: Mapping[str, JsonValue]) -> ToolResult:
        given: dict[str, Any] = {**self._kernel_of(arguments), CAUSE: str(arguments[CAUSE])}
        if "predicts" in arguments:
            given["predicts"] = arguments["predicts"]
        result = self._judged(SUBMIT, given)
        if result.is_error:
            return result
        return result.model_copy(update={"text": submit_words(Submitted.model_validate_json(json.dumps(result.data)))})

    def _judged(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """A call that goes through the gate, or what came of the same call before."""
        return self._kept(name, arguments, lambda: self.box.call(name, arguments))

    def _kept(self, name: str, arguments: Mapping[str, JsonValue], make: Callable[[], ToolResult]) -> ToolResult:
        key = self._gate_key(name, arguments)
        with _one_at_a_time(key):
            kept = None if key is None else store().get(key)
            if kept is not None:
                return ToolResult.model_validate_json(kept)
            result = make()
            if key is not None and not result.is_error:
                bare = result.model_copy(update={"artefacts": (), "profiled": {}})
                store().put(key, bare.model_dump_json().encode())
        return result

    def _gate_key(self, name: str, arguments: Mapping[str, JsonValue]) -> str | None:
        """None where the result must be this run's own: what was predicted is compared with profiles, which are not
        kept."""
        if "predicts" in arguments:
            return None
        shown = "none" if self.feedback == "none" else "time"
        sizes = json.dumps([dict(w.axes) for w in self.task.workloads])
        parts = parts_digest(*GATE_PARTS)
        asked = json.dumps({KERNEL: self._given, **arguments}, sort_keys=True)
        return content_key(
            name, asked, self._given, shown, self.task.name, self.task.gpu, sizes, compiler_identity(), parts
        )

    def _kernel_of(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        text = arguments.get(KERNEL, self.task.kernel)
        return {KERNEL: self._given if text == self.task.kernel else text}


def steps_of(result: ToolResult) -> list[Rewritten]:
    """The rewrites that a call of `rewrite` put on top of one another."""
    return TypeAdapter(list[Rewritten]).validate_json(json.dumps(result.data["steps"]))


def _none_known(kernel: str, cause: str) -> ToolResult:
    none = Rewritten(cause=cause, base=kernel_id(kernel), found=False)
    return ToolResult(text=NO_REWRITE, data=json.loads(none.model_dump_json()))


def _without(one: Rewritten) -> Rewritten:
    """What was tried and did not hold."""
    return Rewritten(cause=one.cause, base=one.base, found=False, tried=one.tried)


def _as_data(found: Iterable[Rewritten]) -> list[JsonValue]:
    return [json.loads(one.model_dump_json()) for one in found]


def _lowered(found: Profiled, lines: int) -> Profiled:
    """The same findings for a text whose lines stand lower."""

    def moved(findings: Sequence[Found]) -> tuple[Found, ...]:
        return tuple(f if f.line is None else f.model_copy(update={"line": f.line + lines}) for f in findings)

    return found.model_copy(update={"findings": moved(found.findings), "smaller": moved(found.smaller)})


def _one_at_a_time(key: str | None) -> AbstractContextManager[object]:
    """For conversations that ask the same at the same time: one works, the others wait and take what it kept."""
    return nullcontext() if key is None else _LOCKS[int(key[:8], 16) % len(_LOCKS)]


@functools.cache
def store() -> Cache:
    folder = cache_folder()
    return Cache(folder / "profiles" if folder else None)
