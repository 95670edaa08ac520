"""A tuning from what a person asks for to what they get: plan, search through the gate, and the winner's evidence.

Every configuration is checked and timed as any candidate is, but for those on the virtual GPU whose simulated time says
that they would not beat the best so far. The best is then evaluated once more by the whole gate, with a seed that
nothing before has used, and gets a certificate. What must stay true: nothing is called faster that the gate did not
accept, and every try is on disk before the next begins.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from warpsight import __version__
from warpsight.errors import UsageError, WarpsightError
from warpsight.gate.identity import task_sha256
from warpsight.nouns import Candidate, Evaluation, Language, Task
from warpsight.processes.executor import Executor
from warpsight.session.opening import given_kernel
from warpsight.session.session import SEED_BITS, Session
from warpsight.tasks import read_task
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox
from warpsight.tuning.ahead import AheadUnit, TriedAhead, foretold_share, is_too_slow, judged, order_ahead, try_ahead
from warpsight.tuning.journal import TuningJournal
from warpsight.tuning.records import SearchSpace, TuneRequest, TuningTrial
from warpsight.tuning.search import BudgetUsed, chosen_strategy, search_of
from warpsight.tuning.shortlist import Shortlisted, Tried, shortlist
from warpsight.tuning.space import Configurations, Key
from warpsight.vgpu.gpus import find_gpu

ENDINGS: dict[Language, str] = {"cuda": ".cu", "opencl": ".cl", "triton": ".py"}
LEDGER = "ledger"  # the folder beside the runs that certificates of all kinds are in
MOST_FINALISTS = 3  # on a measured device the best of many was lucky too: the next ones get their turn
TOO_SLOW = "its simulated time does not beat the best so far"
Stopped = Literal["all_tried", "search_ended", "tries_spent", "time_spent", "interrupted"]
Watch = Callable[[TuningTrial, "TuningTrial | None"], None]


def plan(
    task: Task,
    given: Candidate,
    space: SearchSpace,
    *,
    device: str = "virtual",
    gpu: str | None = None,
    strategy: str = "auto",
    tries: int = 60,
    seconds: float | None = None,
    search_seed: int = 0,
    secret_seed: int | None = None,
    unsafe: bool = False,
    at_once: bool = False,
) -> TuneRequest:
    """What is asked for, as a record; a strategy that cannot be had is told here, before anything runs. `at_once`:
    several will be tried at a time."""
    count = len(Configurations(task, given, space).allowed)
    if not count:
        raise UsageError(
            f"nothing to search: {'no combination keeps the rules' if space.parameters else 'nothing varies'}",
            hint="name a constant with --set NAME=1,2,4, or write a tune.toml (`warpsight docs tune`)",
        )
    chosen, note = chosen_strategy(strategy, device, count, tries, at_once=at_once)
    search_of(chosen)
    if note:
        space = space.model_copy(update={"notes": (*space.notes, note)})
    virtual = device == "virtual"
    return TuneRequest(
        id=f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{task.name}-{secrets.token_hex(3)}",
        task=task.name,
        task_sha256=task_sha256(task),
        folder=str(task.folder.resolve()),
        device=device,
        gpu=find_gpu(gpu).key if virtual and gpu is not None else gpu,
        kernel=given.source,
        space=space,
        strategy=chosen,
        configurations=count,
        tries=tries,
        seconds=seconds,
        search_seed=search_seed,
        secret_seed=secrets.randbits(SEED_BITS) if secret_seed is None else secret_seed,
        unsafe=unsafe,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
    )


@dataclass(frozen=True)
class Tuned:
    """What came of a tuning. `final` is the whole gate's word on `kernel`; None where nothing faster was accepted."""

    asked: TuneRequest
    language: Language
    folder: Path
    trials: tuple[TuningTrial, ...]
    stopped: Stopped
    configurations: int
    best: TuningTrial | None = None
    final: Evaluation | None = None
    kernel: str | None = None
    certificate_file: Path | None = None
    top: tuple[Shortlisted, ...] = ()


def tune(
    journal: TuningJournal,
    ledger: Path,
    *,
    watch: Watch | None = None,
    say: Callable[[str], None] | None = None,
    top: int = 0,
    executor: Executor | None = None,
) -> Tuned:
    """Start a tuning or go on with it. Ctrl-C ends it as `interrupted`, with everything so far on disk.

    With an `executor` several are tried at once, and the trials are those of one after the other. `top` is how many of
    the fastest right kernels to list, for measuring them on a real card.
    """
    asked = journal.asked()
    task = read_task(Path(asked.folder))
    if task_sha256(task) != asked.task_sha256:
        raise UsageError(
            f"tuning {asked.id}: the task in {asked.folder} is not the one that it began with", hint="start a new one"
        )
    given = given_kernel(task, asked.device, asked.kernel)
    space = Configurations(task, given, asked.space)
    search = search_of(asked.strategy)
    order = None if executor is None else order_ahead(asked, space)
    with journal.hold():
        box = open_box(
            task, device=asked.device, gpu=asked.gpu, kernel=asked.kernel, secret=asked.secret_seed, ledger=ledger,
            unsafe=asked.unsafe,
        )  # fmt: skip
        box.session.say = say or box.session.say
        trials = _Trials(asked, space, box.session, journal, watch)
        try:
            _require_right(box)
            if executor is None:
                trials.make_ready()
            with contextlib.suppress(BudgetUsed):
                if executor is not None and order is not None:
                    trials.ahead(order, executor)
                search(space, trials.of, seed=asked.search_seed, tries=asked.tries)
            whole = len(trials.done) >= len(space.allowed)
            found = _handed_over(trials, ledger, trials.spent or ("all_tried" if whole else "search_ended"))
            return replace(found, top=trials.shortlisted(top)) if top else found
        except KeyboardInterrupt:
            return _so_far(trials, "interrupted")
        finally:
            box.close()


@dataclass
class _Trials:
    """The gate as a cost: what was tried, from this process or an earlier one, is answered at once."""

    asked: TuneRequest
    space: Configurations
    session: Session
    journal: TuningJournal
    watch: Watch | None
    done: dict[Key, TuningTrial] = field(default_factory=dict[Key, TuningTrial])
    best: TuningTrial | None = None
    spent: Stopped | None = None
    _tried: TriedAhead | None = None

    def __post_init__(self) -> None:
        for trial in self.journal.trials():
            self._take(trial)
        self.ends_at = math.inf if self.asked.seconds is None else time.monotonic() + self.asked.seconds

    def make_ready(self) -> None:
        """Where all configurations will be tried, all are compiled and read at once."""
        left = [key for key in self.space.allowed if key not in self.done]
        if len(self.space.allowed) > self.asked.tries or self.asked.seconds is not None:
            return
        ready = list[Candidate]()
        for key in left:
            with contextlib.suppress(WarpsightError):
                ready.append(self.session.candidate(self.space.kernel(key)))
        self.session.make_ready(ready)

    def of(self, key: Key) -> float | None:
        """The time as a share of the given kernel's, foretold for one that was not checked; None for one that is not
        right or has no time."""
        if key not in self.done:
            if len(self.done) >= self.asked.tries:
                self.spent = "tries_spent"
                raise BudgetUsed
            if time.monotonic() >= self.ends_at:
                self.spent = "time_spent"
                raise BudgetUsed
            self._try(key)
        trial = self.done[key]
        if trial.foretold is not None:
            return trial.foretold
        return 1 / trial.ratio if trial.counts and trial.ratio is not None else None

    def ahead(self, order: Sequence[Key], executor: Executor) -> None:
        """Try in this order, several at once. What was too slow for the best when it was handed out is too slow for
        every best after it, so that is judged elsewhere; this process decides all in their order."""
        todo = [key for key in order if key not in self.done][: max(0, self.asked.tries - len(self.done))]
        units = (AheadUnit(self.asked, self.space.kernel(key), self._least_share()) for key in todo)
        with closing(executor.run(try_ahead, units)) as found:
            for key, self._tried in zip(todo, found, strict=True):
                self.of(key)
        self._tried = None

    def _try(self, key: Key) -> None:
        started = time.monotonic()
        text, ahead = self.space.kernel(key), self._tried
        candidate = self.session.candidate(text)
        number, config = len(self.done), self.space.config(key)
        share = foretold_share(self.session, candidate) if ahead is None else ahead.share
        if share is not None and self._too_slow(share):
            trial = TuningTrial(
                number=number, config=config, kernel_sha256=candidate.sha256, verdict="not_checked", reason=TOO_SLOW,
                foretold=share, seconds=_since(started) if ahead is None else ahead.seconds,
            )  # fmt: skip
        elif ahead is not None and ahead.found is not None:
            trial = trial_of(number, config, candidate.sha256, ahead.found, ahead.seconds)
        else:
            found = judged(self.session, candidate)
            trial = trial_of(number, config, candidate.sha256, found, _since(started))
        self.journal.add(trial)
        before = self.best
        self._take(trial)
        if self.best is not None and self.best != before:
            self.journal.keep_best(text, ENDINGS[candidate.language])
        if self.watch is not None:
            self.watch(trial, self.best)

    def shortlisted(self, count: int) -> tuple[Shortlisted, ...]:
        """The fastest right kernels of all that was tried."""
        texts = ((trial, self.space.kernel(key)) for key, trial in self.done.items() if trial.speed)
        judge = partial(judged, self.session)
        return shortlist([Tried(trial, self.session.candidate(text)) for trial, text in texts], judge, count)

    def _least_share(self) -> float:
        return 1.0 if self.best is None or self.best.ratio is None else 1 / self.best.ratio

    def _too_slow(self, share: float) -> bool:
        return is_too_slow(share, self._least_share())

    def _take(self, trial: TuningTrial) -> None:
        self.done[self.space.key(trial.config)] = trial
        if is_better(trial, self.best):
            self.best = trial


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def trial_of(
    number: int, config: dict[str, int], sha256: str, found: Evaluation | WarpsightError, seconds: float
) -> TuningTrial:
    """A trial from the gate's answer, or from its refusal to run such a kernel."""
    if isinstance(found, WarpsightError):
        return TuningTrial(
            number=number, config=config, kernel_sha256=sha256, verdict="refused", reason=found.message[:500],
            seconds=seconds,
        )  # fmt: skip
    timing = found.timing
    return TuningTrial(
        number=number,
        config=config,
        kernel_sha256=sha256,
        verdict=found.check.verdict,
        reason=(found.check.reason if timing is None else timing.reason)[:500],
        decision=None if timing is None else timing.decision,
        ratio=None if timing is None else timing.ratio,
        time_us=None if timing is None else timing.time_us,
        source=None if timing is None else timing.source,
        device="" if timing is None else timing.device,
        unsafe=found.unsafe,
        seconds=seconds,
    )


def is_better(one: TuningTrial, other: TuningTrial | None) -> bool:
    """Whether one was found faster than the given kernel, if only likely so, and by more than the other."""
    if not one.improves or one.ratio is None:
        return False
    return other is None or other.ratio is None or one.ratio > other.ratio


def finalists(trials: Iterable[TuningTrial]) -> list[TuningTrial]:
    """Those that the whole gate is asked about, the fastest first; what was not checked may come after the best."""
    may_win = (trial for trial in trials if trial.improves or trial.verdict == "not_checked")
    ranked = sorted((trial for trial in may_win if trial.speed > 1), key=lambda trial: -trial.speed)
    return ranked[:MOST_FINALISTS]


def _handed_over(trials: _Trials, ledger: Path, stopped: Stopped) -> Tuned:
    """The best kernel that the whole gate accepts; the next best where it does not."""
    so_far, session = _so_far(trials, stopped), trials.session
    for trial in finalists(trials.done.values()):
        text = trials.space.kernel(trials.space.key(trial.config))
        final = session.submit(session.candidate(text))
        if final.timing is not None and final.timing.improves:
            file = None if final.certificate is None else ledger / "certificates" / f"{final.certificate}.json"
            return replace(so_far, best=trial, final=final, kernel=text, certificate_file=file)
    return so_far


def _so_far(trials: _Trials, stopped: Stopped) -> Tuned:
    done = tuple(sorted(trials.done.values(), key=lambda trial: trial.number))
    language, count = trials.space.given.language, len(trials.space.allowed)
    return Tuned(trials.asked, language, trials.journal.folder, done, stopped, count, trials.best)


def _require_right(box: TaskBox) -> None:
    """Beating a wrong kernel means nothing."""
    found = box.call("check", {"base": "given"})
    if found.data.get("verdict") != "right":
        raise UsageError(f"expected a right kernel to begin with: {found.text}", hint="warpsight check on it")
