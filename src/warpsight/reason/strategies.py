"""Several attempts put together: single, refine, best-of-n, beam.

Each attempt is a run of its own (`PARENT.1`, `PARENT.2`, ...) with its part of the budget; the parent has no steps, and
its ending is the best of them. Going on with a parent goes on with its attempts: those that have ended are read, not
made again. All ratios are to the task's own baseline, so they can be compared. Ends early when the roofline leaves less
than the job asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from warpsight.errors import UsageError
from warpsight.nouns import Evaluation
from warpsight.nouns.run import Run, Spent
from warpsight.reason.budget import Budget, add_spent, remaining, share
from warpsight.reason.job import Job, Opening, Strategy, job_of, run_of
from warpsight.reason.progress import best_of, roofline_left, speed_of
from warpsight.runs.store import RESUMABLE, Ending, NoSuchRun, Store

Attempt = Callable[[Job], Run]
AtOnce = Callable[[Sequence[Job]], Generator[Run]]  # attempts that need nothing of one another, in their order
OpenWith = Callable[[str, str], Opening]  # a kernel to begin with, and a note on what is known


def run_strategy(job: Job, attempt: Attempt, open_with: OpenWith, store: Store, at_once: AtOnce | None = None) -> Run:
    """Do a job by its strategy. `attempt` is `run_loop` with model, tools and store filled in; `at_once` does several
    elsewhere, and gives what they would have given one after the other."""
    if job.strategy.name == "single":
        return attempt(job)
    with store.hold(job.id):
        store.create_run(run_of(job))
        before = store.read(job.id)
        if before.outcome not in RESUMABLE:
            return before
        group = _Group(job, attempt, open_with, store, at_once)
        {"refine": _refine, "best-of-n": _best_of_n, "beam": _beam}[job.strategy.name](group)
        store.finish(job.id, ending_of(group.runs))
        return store.read(job.id)


class _Group:
    """The attempts of one job so far."""

    def __init__(
        self, job: Job, attempt: Attempt, open_with: OpenWith, store: Store, at_once: AtOnce | None = None
    ) -> None:
        self.job = job
        self.runs: list[Run] = []
        self._attempt = attempt
        self._open_with = open_with
        self._store = store
        self._at_once = at_once or self._in_turn

    def add(self, budget: Budget, start: Run | None = None, note: str = "") -> Run:
        """One more attempt: from the best kernel of another, or from the job's own. The same again on resume."""
        run = self._attempt(self._child(len(self.runs) + 1, budget, start, note))
        self.runs.append(run)
        return run

    def add_all(self, budget: Budget, starts: Sequence[Run | None]) -> list[Run]:
        """An attempt from each start, which need nothing of one another; none is taken after one that halts all."""
        first = len(self.runs) + 1
        children = [
            self._child(number, budget, start, moved_note([start] if start else []))
            for number, start in enumerate(starts, first)
        ]
        with closing(self._at_once(children)) as made:
            for run in made:
                self.runs.append(run)
                if self.halted:
                    break
        return self.runs[first - 1 :]

    def _in_turn(self, children: Sequence[Job]) -> Generator[Run]:
        for child in children:
            yield self._attempt(child)

    def _child(self, number: int, budget: Budget, start: Run | None, note: str) -> Job:
        child_id = f"{self.job.id}.{number}"
        try:
            return job_of(self._store.read(child_id))
        except NoSuchRun:
            return self._new_child(child_id, number, budget, start, note)

    def _new_child(self, child_id: str, number: int, budget: Budget, start: Run | None, note: str) -> Job:
        opening = self.job.opening
        if start is not None and start.best is not None:
            opening = self._open_with(self._store.get(start.best.candidate_sha256).decode(), note)
        changes = {
            "id": child_id,
            "parent": self.job.id,
            "opening": opening,
            "budget": budget,
            "strategy": Strategy(),
            "seed": None if self.job.seed is None else self.job.seed + number - 1,
        }
        return self.job.model_copy(update=changes)

    @property
    def halted(self) -> bool:
        """Whether the last attempt was stopped, or nothing is left to gain."""
        if not self.runs:
            return False
        last, enough = self.runs[-1], self.job.enough_gain
        left = roofline_left(last.best)
        near = left is not None and enough is not None and left < enough
        return near or last.outcome in (None, "stopped", "broken", "at_roofline")

    def spent(self) -> Spent:
        total = Spent()
        for run in self.runs:
            total = add_spent(total, run.spent)
        return total


def ending_of(runs: Sequence[Run]) -> Ending:
    """How a group of attempts ended: as its best one did, unless the last was broken off."""
    spent = Spent()
    for run in runs:
        spent = add_spent(spent, run.spent)
    last, found = runs[-1], best_of([run.best for run in runs])
    if last.outcome in (None, "stopped", "broken"):
        outcome = "broken" if last.outcome == "broken" else "stopped"
        return Ending(outcome=outcome, reason=f"{last.id}: {last.reason}", spent=spent, best=found)
    best = next((run for run in runs if found is not None and run.best == found), None)
    chosen = best or last
    return Ending(
        outcome=chosen.outcome or "gave_up",
        reason=f"the best of {len(runs)} attempts is {best.id}" if best else "no attempt was faster",
        spent=spent,
        submission=chosen.submission,
        submitted=chosen.submitted,
        best=found,
    )


def _best_of_n(group: _Group) -> None:
    """Independent attempts; the seeds differ, so give the job a seed and a temperature."""
    attempts = group.job.strategy.attempts
    group.add_all(share(group.job.budget, attempts), [None] * attempts)


def _refine(group: _Group) -> None:
    """Round after round from the best kernel, until one gains too little or the budget is spent."""
    best: Run | None = None
    for _ in range(group.job.strategy.attempts):
        left = remaining(group.job.budget, group.spent())
        if left is None:
            return
        run = group.add(left, best, moved_note(group.runs))
        if group.halted or not _gains(run.best, best.best if best else None, group.job.strategy.min_gain):
            return
        best = run


def largest_step(rounds: Sequence[Run]) -> Run:
    """Of rounds that each began where the one before ended: the one whose submission gained most; the first where none
    did."""
    speeds = [1.0, *(speed_of(run.submitted) or 1.0 for run in rounds)]
    gains = [after / max(speeds[: number + 1]) for number, after in enumerate(speeds[1:])]
    return rounds[gains.index(max(gains))] if max(gains) > 1 else rounds[0]


def _beam(group: _Group) -> None:
    """Level by level: each kept kernel is taken further `width` times, and the `width` fastest are kept."""
    width, depth = group.job.strategy.width, group.job.strategy.attempts
    part = share(group.job.budget, width + (depth - 1) * width * width)
    kept: list[Run] = []
    for level in range(depth):
        starts: Sequence[Run | None] = kept or [None]
        made = group.add_all(part, [start for start in starts for _ in range(width)])
        if group.halted:
            return
        before = kept[0].best if kept else None
        kept = _fastest([*kept, *made], width)
        if not kept or (level > 0 and not _gains(kept[0].best, before, group.job.strategy.min_gain)):
            return


def _fastest(runs: Sequence[Run], count: int) -> list[Run]:
    """The fastest with different kernels, the fastest first."""
    left, kept = list(runs), list[Run]()
    while len(kept) < count and (found := best_of([run.best for run in left])) is not None:
        kept.append(next(run for run in left if run.best == found))
        left = [r for r in left if r.best is None or r.best.candidate_sha256 != found.candidate_sha256]
    return kept


def _gains(new: Evaluation | None, old: Evaluation | None, least: float) -> bool:
    found = speed_of(new)
    return found is not None and found >= least * (speed_of(old) or 1.0)


def moved_note(runs: Sequence[Run]) -> str:
    """What the next attempt should know: how fast the kernel is by now, and whether the bottleneck moved."""
    found = best_of([run.best for run in runs])
    if found is None or found.timing is None:
        return ""
    note = f"The kernel below is {found.timing.ratio:.2f}x as fast as the first one ({found.timing.source})."
    return f"{note} {_bottleneck(runs, found)}"


def _bottleneck(runs: Sequence[Run], found: Evaluation) -> str:
    earlier = [run.best for run in runs if run.best is not None and run.best != found]
    now = limit_of(found)
    before = limit_of(earlier[-1]) if earlier else ""
    if not now:
        return "Profile it before you change anything."
    if now != before:
        return f"It is limited by {now} now: profile it again, an earlier diagnosis no longer holds."
    return f"It is still limited by {now}: what was tried did not remove that; profile it and look closer."


def limit_of(evaluation: Evaluation) -> str:
    """What limits a kernel: the first finding of its profile, else the resource that binds; empty if not known."""
    if evaluation.findings:
        return evaluation.findings[0].name
    return evaluation.profile.bound if evaluation.profile is not None else ""


def require_strategy(job: Job) -> None:
    """Refuse a strategy that cannot do what it says: attempts that would all be the same."""
    if job.strategy.name in ("best-of-n", "beam") and (job.seed is None and job.temperature is None):
        raise UsageError(
            f"{job.strategy.name} needs attempts that differ: neither a seed nor a temperature is given",
            hint="--seed 1 --temperature 0.8",
        )
