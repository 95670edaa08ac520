"""Known rewrites for a named cause, tried; the best that is right and faster, or none.

The texts come from `rewrite/`; verdicts and times are the gate's, as everywhere. On the virtual GPU a rewrite is
profiled before it is checked, so that only those that would win are checked. What must stay true: nothing is handed out
that the gate did not find right, and where times are off none has a part in the choice. A draft is for those who put
several rewrites on top of one another: checked at the small sizes alone, so the caller owes the whole gate to the last
of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from warpsight.errors import TaskError
from warpsight.gate.check import check_candidate
from warpsight.nouns import Candidate, Evaluation, Noun, kernel_id
from warpsight.rewrite import MOST, Rewrite, facts_of, rewrites
from warpsight.session.feedback import shows_time
from warpsight.session.session import Session

LEAST_GAIN = 1.01
KernelId = Annotated[str, Field(description="the id of the kernel, which later calls take as `base` or `against`")]


class Try(Noun):
    """One rewrite and what came of it; `kernel` is its id."""

    rewrite: str
    kernel: KernelId
    outcome: str


@dataclass(frozen=True)
class Winner:
    """A rewrite that is right, and its speed over the kernel it was made from; a draft has no evaluation."""

    rewrite: Rewrite
    candidate: Candidate
    evaluation: Evaluation | None
    ratio: float | None


@dataclass(frozen=True)
class Search:
    """What came of all rewrites for one cause."""

    winner: Winner | None
    tried: tuple[Try, ...]


def search(session: Session, kernel: str, cause: str, most: int = MOST, *, drafts: bool = False) -> Search:
    """Try the rewrites for a cause. The winner is right, and where times count, faster than the kernel."""
    base = session.candidate(kernel)
    texts = rewrites(kernel, cause, facts_of(session.task), most) if base.language == "cuda" else ()
    ready: list[tuple[Rewrite, Candidate]] = []
    tried: dict[str, Try] = {}
    for one in texts:
        try:
            ready.append((one, session.candidate(one.text)))
        except TaskError:
            tried[one.name] = _try(one, "no valid kernel")
    if not shows_time(session.feedback):
        winner = _first_right(session, ready, tried)
    else:
        winner = _fastest(session, base, ready, tried, drafts=drafts)
    order = [tried.get(one.name) or _try(one, "not needed") for one in texts]
    return Search(winner, tuple(order))


def _first_right(session: Session, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]) -> Winner | None:
    """In the order of promise, without a look at any time."""
    for one, candidate in ready:
        verdict = _quick_verdict(session, candidate)
        verdict = session.check(candidate).verdict if verdict == "right" else verdict
        tried[one.name] = _try(one, verdict.replace("_", " "))
        if verdict == "right":
            return Winner(one, candidate, session.evaluation(candidate), None)
    return None


def _fastest(
    session: Session, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try], *, drafts: bool
) -> Winner | None:
    """The fastest right one. Simulated times first where there are such: what would not win is not checked."""
    start = speed_over_given(session, base)
    best: Winner | None = None
    for one, candidate in _in_order(session, base, ready, tried):
        verdict = _quick_verdict(session, candidate)
        if verdict != "right":
            tried[one.name] = _try(one, verdict.replace("_", " "))
            continue
        if drafts:
            ratio = speed_over_given(session, candidate) / start
            tried[one.name] = _try(one, f"right at the small sizes, {ratio:.3f}x")
            return Winner(one, candidate, None, ratio)
        evaluation = session.evaluation(candidate)
        timing = evaluation.timing
        if timing is None or timing.ratio is None:
            tried[one.name] = _try(one, evaluation.check.verdict.replace("_", " ") if timing is None else timing.reason)
            continue
        ratio = timing.ratio / start
        better = ratio >= LEAST_GAIN and timing.decision != "REJECTED"
        tried[one.name] = _try(one, f"right, {ratio:.3f}x" if better else "right, not faster")
        if better and (best is None or ratio > (best.ratio or 0.0)):
            best = Winner(one, candidate, evaluation, ratio)
            if session.simulator is not None:
                break  # they came by their time: the rest is slower
    return best


def speed_over_given(session: Session, base: Candidate) -> float:
    """How fast the kernel is that rewrites start from, over the given one; simulated times need no check for that."""
    if base.sha256 == session.given.sha256:
        return 1.0
    if session.simulator is not None:
        given, own = session.foretold_us(session.given), session.foretold_us(base)
        return given / own if given and own else 1.0
    timing = session.evaluation(base).timing
    return 1.0 if timing is None or timing.ratio is None else timing.ratio


def _quick_verdict(session: Session, candidate: Candidate) -> str:
    """The verdict over the small workloads alone: most wrong rewrites end here, before the long check."""
    small = [workload for workload in session.task.workloads if not workload.profile]
    if not small:
        return "right"
    build = session.build(candidate)
    return check_candidate(
        session.task, candidate, session.device, build=build, workloads=small, families=(), secret_seed=session.secret
    ).verdict


def _in_order(
    session: Session, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]
) -> Iterator[tuple[Rewrite, Candidate]]:
    """On the virtual GPU those that would be faster, the fastest first; elsewhere all, as they come."""
    before = session.foretold_us(base)
    if before is None:
        yield from ready
        return
    found: list[tuple[float, int]] = []
    for number, (one, candidate) in enumerate(ready):
        after = session.foretold_us(candidate)
        if after is None:
            tried[one.name] = _try(one, "does not compile" if not session.build(candidate).ok else "does not run")
        elif before / after < LEAST_GAIN:
            tried[one.name] = _try(one, "not faster, not checked")
        else:
            found.append((after, number))
    yield from (ready[number] for _, number in sorted(found))


def _try(one: Rewrite, outcome: str) -> Try:
    return Try(rewrite=one.name, kernel=kernel_id(one.text), outcome=outcome)
