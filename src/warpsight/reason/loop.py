"""The closed loop: ask the model, run the calls it makes, append the results, until it submits or something runs out.

Reads top to bottom. `run_loop` starts a run, goes on with one that was broken off, or returns one that has ended: all
three are the same, since what is recorded is taken from the record (journal.py). What must stay true: all steps are
stored before the outside is asked again; calls come only from what the model wrote and go only to tools in the job;
verdicts come only from evaluations; every way to end passes through `_end`.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, SchemaError

from warpsight.errors import UsageError, WarpsightError
from warpsight.models.errors import ModelError
from warpsight.models.model import Model, Reply, Request
from warpsight.models.text_calls import CLOSE
from warpsight.nouns import Evaluation
from warpsight.nouns.run import Run, Spent
from warpsight.reason.budget import add_spent, calls_spent, exhausted, left_line, seconds_left
from warpsight.reason.calls import ReadCall, read_reply, text_calls_of
from warpsight.reason.fence import neutral
from warpsight.reason.job import Job, run_of
from warpsight.reason.journal import Clock, ModelAnswer, RunJournal
from warpsight.reason.pending import Pending
from warpsight.reason.predictions import submission_of
from warpsight.reason.progress import Progress, roofline_left, sha256_of, speed_of
from warpsight.reason.schema import require_known
from warpsight.reason.transcript import Transcript
from warpsight.runs.store import RESUMABLE, Ending, Store, StoreConflict
from warpsight.session.until import time_limit
from warpsight.tools.box import SUBMIT, ToolBox, ToolResult, was_cut
from warpsight.tools.edits import KERNEL, EditFailed, whole_kernel

TIME = "time"  # the tool that checks and times one kernel
LEAST_SECONDS = 0.01
# What the run is doing, for whoever watches: a short text and what is known so far. Nothing is decided by it.
Watch = Callable[[str, Progress], None]


def run_loop(
    job: Job,
    model: Model,
    tools: ToolBox,
    store: Store,
    *,
    clock: Clock = time.monotonic,
    watch: Watch = lambda _text, _progress: None,
) -> Run:
    """Do a job and return its run. Ctrl-C, a model that cannot be had and a broken machine leave it `stopped`: the
    same call goes on with it later."""
    _require_tools(job, tools)
    with store.hold(job.id):
        store.create_run(run_of(job))
        if store.read(job.id).outcome not in RESUMABLE:
            return store.read(job.id)
        loop = _Loop(job, model, tools, store, clock, watch)
        try:
            ending = loop.converse()
        except StoreConflict as problem:
            ending = Ending(outcome="broken", reason=problem.message)
        except (ModelError, WarpsightError) as problem:
            ending = Ending(outcome="stopped", reason=f"{type(problem).__name__}: {problem.message}")
        except BaseException as problem:
            if not _is_interrupt(problem):
                _end(loop, store, Ending(outcome="stopped", reason=f"{type(problem).__name__}: {problem}"))
                raise
            ending = Ending(outcome="stopped", reason="interrupted")
        return _end(loop, store, ending)


def _is_interrupt(problem: BaseException) -> bool:
    """Ctrl-C, also where it came while pydantic wrote JSON or built a schema, which makes an error of its own of it."""
    if isinstance(problem, (PydanticSerializationError, SchemaError)):
        return KeyboardInterrupt.__name__ in str(problem)
    return isinstance(problem, KeyboardInterrupt)


def _end(loop: _Loop, store: Store, ending: Ending) -> Run:
    known = loop.progress
    loop.pending.flush()
    # What was recorded was paid for, also where an interrupt came before the loop could count it.
    known.spent = functools.reduce(add_spent, (record.spent for record in store.records(loop.job.id)), Spent())
    filled = {"spent": known.spent, "best": known.best, "submission": known.submission}
    if ending.outcome == "submitted":
        filled["submitted"] = known.submitted
    store.finish(loop.job.id, Ending.model_validate({**dict(ending), **filled}))
    loop.watch(f"ended: {ending.outcome}", known)
    return store.read(loop.job.id)


@dataclass
class _Loop:
    """One run in progress."""

    job: Job
    model: Model
    tools: ToolBox
    store: Store
    clock: Clock
    watch: Watch

    def __post_init__(self) -> None:
        self.pending = Pending(self.job.id, self.store)
        self.talk = Transcript(self.job.id, self.pending, self.job.calling)
        self.journal = RunJournal(self.job.id, self.store, self.pending, self.clock)
        self.progress = Progress(original=self.job.opening.kernel)
        self.gate_seconds = 0.0  # what one kernel took to be checked and timed
        self.at_roof = ""  # why there is too little left to gain, once that is known

    def converse(self) -> Ending:
        """The conversation from its first word to how it ends."""
        self.store.put(self.job.opening.kernel.encode())
        self.talk.system(self.job.opening.system)
        self.talk.user(self.job.opening.user)
        last_chance = False
        while True:
            if why := exhausted(self.job.budget, self.progress.spent):
                return Ending(outcome="budget_spent", reason=why)
            answer = self._ask()
            if answer.reply is not None and answer.reply.stop_reason == "time":
                return self._late(answer.reply)
            if why := self._cannot_hold_the_budget(answer):
                return Ending(outcome="broken", reason=why)
            ending = self._problem(answer.problem) if answer.reply is None else self._turn(answer.reply)
            if ending is not None:
                return ending
            if last_chance and self.at_roof:
                return Ending(outcome="at_roofline", reason=self.at_roof)
            if last_chance:
                return Ending(outcome="budget_spent", reason=f"{self.progress.spent.tool_calls} tool calls are spent")
            last_chance = calls_spent(self.job.budget, self.progress.spent) or bool(self.at_roof)
            if self.at_roof:
                self.talk.user(f"{self.at_roof}: {SUBMIT} your best kernel now; nothing else is run")

    def _ask(self) -> ModelAnswer:
        """The next reply, from the record or from the model."""
        job = self.job
        native = job.calling == "native"

        def ask() -> Reply:
            self.watch("thinking", self.progress)
            request = Request(
                messages=self.talk.messages,
                tools=job.tools if native else (),
                max_tokens=job.max_tokens,
                stop=() if native else (CLOSE,),
                temperature=job.temperature,
                seed=job.seed,
                seconds=self._seconds_left(),
            )
            reply = self.model.reply(request)
            return reply if native else text_calls_of(reply, f"call_{len(self.talk)}_")

        answer = self.journal.reply(self.talk.key("reply"), len(self.talk), ask)
        self.progress.spent = add_spent(self.progress.spent, answer.spent)
        return answer

    def _seconds_left(self) -> float | None:
        """For the model or a tool, from now on. A faster kernel that is not handed in yet goes through the whole gate
        at the end: as long as that took once is kept for it."""
        left = seconds_left(self.job.budget, self.progress.spent)
        if left is None or self.progress.best is None or speed_of(self.progress.best) is None:
            return left
        return max(LEAST_SECONDS, left - min(self.gate_seconds, (self.job.budget.seconds or 0.0) / 2))

    def _late(self, reply: Reply) -> Ending:
        """A reply that the end of the seconds has cut: what came is kept, and nothing in it is run."""
        if reply.text:
            self.talk.assistant(reply)
        spent, budget = self.progress.spent.seconds, self.job.budget.seconds or 0.0
        return Ending(
            outcome="budget_spent", reason=f"{spent:.1f} of {budget:.1f} seconds are spent: a reply was cut off"
        )

    def _turn(self, reply: Reply) -> Ending | None:
        """One turn of the model: all its calls are answered, in order."""
        self.talk.assistant(reply)
        reading = read_reply(reply, self.job.tools)
        for call in reading.calls:
            if ending := self._call(call):
                return ending
        if reading.problem:
            return self._problem(reading.problem)
        if all(call.problem for call in reading.calls):
            return self._too_many_problems(reading.calls[0].problem)
        self.progress.problems = 0
        return None

    def _call(self, call: ReadCall) -> Ending | None:
        """One call: refused with a reason, or run once and its result appended."""
        self.talk.call(call)
        if call.tool != SUBMIT and calls_spent(self.job.budget, self.progress.spent):
            return self._refuse(call, f"not run: no tool calls are left; only {SUBMIT} is")
        if call.tool != SUBMIT and self.at_roof:
            return self._refuse(call, f"not run: {self.at_roof}; only {SUBMIT} is left")
        if call.arguments is None:
            return self._refuse(call, call.problem)
        try:
            arguments = self._with_whole_kernel(call)
        except EditFailed as problem:
            return self._refuse(call, str(problem))
        kernel = arguments.get(KERNEL)
        if isinstance(kernel, str):
            self.store.put(kernel.encode())

        def run() -> ToolResult:
            self.watch(f"{call.tool}", self.progress)
            with time_limit(None if call.tool == SUBMIT else self._seconds_left()):
                return self.tools.call(call.tool, arguments)

        done = self.journal.result(self.talk.key("result"), len(self.talk), charged=call.tool != SUBMIT, run=run)
        self.progress.spent = add_spent(self.progress.spent, done.spent)
        if call.tool == TIME and done.result.evaluation is not None and done.result.evaluation.timing is not None:
            self.gate_seconds = max(self.gate_seconds, done.spent.seconds)
        self._say(call, done.result.text, is_error=done.result.is_error, artefacts=done.artefacts)
        return self._after(done.result, arguments)

    def _after(self, result: ToolResult, arguments: dict[str, JsonValue]) -> Ending | None:
        """What a result means for the run."""
        if was_cut(result):
            why = f"{self.progress.spent.seconds:.1f} of {self.job.budget.seconds or 0.0:.1f} seconds are spent"
            return Ending(outcome="budget_spent", reason=f"{why}: a tool was {result.text.removeprefix('error: ')}")
        known = self.progress
        kernel = result.made or arguments.get(KERNEL)
        text = kernel if isinstance(kernel, str) else None
        if result.made is not None:
            self.store.put(result.made.encode())
        if text is not None and not result.is_error:
            known.current = text
        known.saw(result, text)
        if result.submitted and text is not None:
            after = result.evaluation.profile if result.evaluation else None
            known.submitted = result.evaluation
            known.submission = submission_of(arguments, sha256_of(text), known.profile_before(), after)
            return Ending(outcome="submitted", reason="the model submitted")
        return self._enough(result.evaluation)

    def _enough(self, found: Evaluation | None) -> Ending | None:
        """The end, or one last turn to submit, when a roof leaves too little to gain.

        A kernel slower than the one given is no reason to stop.
        """
        left, enough = roofline_left(found), self.job.enough_gain
        if found is None or left is None or enough is None or left >= enough or found.check.verdict != "right":
            return None
        if speed_of(found) is None and found.candidate_sha256 != sha256_of(self.progress.original):
            return None
        why = f"the roofline leaves {left:.3f}x, less than {enough:.3f}x"
        if speed_of(found) is None:  # the kernel that was given: nothing to submit
            return Ending(outcome="at_roofline", reason=why)
        self.at_roof = why
        return None

    def _with_whole_kernel(self, call: ReadCall) -> dict[str, JsonValue]:
        spec = next(spec for spec in self.job.tools if spec.name == call.tool)
        properties = spec.parameters.get("properties")
        arguments = call.arguments or {}
        if not isinstance(properties, dict) or KERNEL not in properties:
            return arguments
        return whole_kernel(arguments, self.progress.kernels(), spec)

    def _refuse(self, call: ReadCall, why: str) -> None:
        self._say(call, f"error: {why}", is_error=True)

    def _say(self, call: ReadCall, text: str, *, is_error: bool, artefacts: tuple[str, ...] = ()) -> None:
        """A result with what is left of the budget under it."""
        lines = filter(None, (text, left_line(self.job.budget, self.progress.spent)))
        self.talk.result(call, "\n".join(lines), is_error=is_error, artefacts=artefacts)

    def _problem(self, problem: str) -> Ending | None:
        """A reply that could not be used: the model is told, but not for ever."""
        if ending := self._too_many_problems(problem):
            return ending
        line = left_line(self.job.budget, self.progress.spent)
        self.talk.user("\n".join(filter(None, (neutral(problem), line))))
        return None

    def _too_many_problems(self, problem: str) -> Ending | None:
        self.progress.problems += 1
        if self.progress.problems <= self.job.max_problems:
            return None
        return Ending(outcome="gave_up", reason=f"{self.progress.problems} unusable replies in a row; last: {problem}")

    def _cannot_hold_the_budget(self, answer: ModelAnswer) -> str | None:
        budget = self.job.budget
        if budget.tokens is not None and not answer.known:
            return "a budget of tokens was given, but the model does not say how many it used"
        if budget.cost_usd is not None and answer.spent.cost_usd is None:
            return "a budget of cost was given, but the price of the model is not known"
        return None


def _require_tools(job: Job, tools: ToolBox) -> None:
    """The box has every tool that the model is shown, and every rule of their schemas will be held."""
    missing = sorted({spec.name for spec in job.tools} - {spec.name for spec in tools.specs()})
    if missing:
        raise UsageError(f"run {job.id}: the tool box lacks {', '.join(missing)}")
    for spec in job.tools:
        require_known(spec.parameters, f"tool {spec.name}")
