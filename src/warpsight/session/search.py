"""Known rewrites for a named cause, tried; the best that is right and faster, or none.

The texts come from `rewrite/`; verdicts and times are the gate's, as everywhere. On the virtual GPU all rewrites are
compiled and read at once and come in the order of their time by the model, from a few blocks, so that only those that
would win are checked. What must stay true: nothing is handed out that the gate did not find right, and where times are
off none has a part in the choice. A draft is for those who put several rewrites on top of one another, or look at
several causes: checked at the small sizes alone, so the caller owes the whole gate to the one that is used.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from warpsight.errors import TaskError
from warpsight.nouns import Candidate, Evaluation, Noun, kernel_id
from warpsight.rewrite import CAUSES, MOST, Rewrite, facts_of, rewrites
from warpsight.session.feedback import shows_time
from warpsight.session.session import Session

LEAST_GAIN = 1.01
REFUSED = "refused by the gate: "  # what comes of a rewrite begins so, then why
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
class RewriteSearch:
    """What came of all rewrites for one cause."""

    winner: Winner | None
    tried: tuple[Try, ...]


def search(session: Session, kernel: str, cause: str, most: int = MOST, *, drafts: bool = False) -> RewriteSearch:
    """Try the rewrites for a cause. The winner is right, and where times count, faster than the kernel."""
    base, texts, ready, tried = _texts(session, kernel, cause, most)
    if drafts and ready:
        _expect_more(session, kernel, base)
    if not shows_time(session.feedback):
        winner = _first_right(session, ready, tried)
    else:
        winner = _fastest(session, base, ready, tried, drafts=drafts)
    order = [tried.get(one.name) or as_try(one, "not needed") for one in texts]
    return RewriteSearch(winner, tuple(order))


def search_all(session: Session, kernel: str, causes: Sequence[str]) -> dict[str, RewriteSearch]:
    """The same for several causes, where the whole gate judges only the best of all.

    Winners of the other causes are drafts. Where the gate refuses the best, or finds it no faster, the next draft is
    judged: of the same cause, or of another, whichever is faster. On devices that measure each cause is searched alone.
    """
    if session.simulator is None or not shows_time(session.feedback):
        return {cause: search(session, kernel, cause) for cause in causes}
    base = session.candidate(kernel)
    known = {cause: _texts(session, kernel, cause, MOST) for cause in causes}
    session.make_ready([base, *{c.sha256: c for _, _, ready, _ in known.values() for _, c in ready}.values()])
    drafts: dict[str, Iterator[Winner]] = {}
    winners: dict[str, Winner | None] = {}
    for cause, (_, _, ready, tried) in known.items():
        session.tell(f"trying {cause}")
        drafts[cause] = _drafts(session, base, ready, tried)
        winners[cause] = next(drafts[cause], None)
    start = speed_over_given(session, base)
    while best := _best(winners):
        winner, tried = winners[best], known[best][3]
        if winner is None or winner.evaluation is not None:
            break
        session.tell(f"judging {best}: {winner.rewrite.name}")
        judged = judge_rewrite(session, winner.rewrite, winner.candidate, start, tried)
        winners[best] = judged if judged is not None else next(drafts[best], None)
    return {
        cause: RewriteSearch(winners[cause], tuple(tried.get(one.name) or as_try(one, "not needed") for one in texts))
        for cause, (_, texts, _, tried) in known.items()
    }


def _expect_more(session: Session, kernel: str, base: Candidate) -> None:
    """Who asks for a second cause of a kernel goes through many: all its rewrites are compiled and read at once."""
    session.drafted[base.sha256] += 1
    if session.drafted[base.sha256] == 2:
        known = (_texts(session, kernel, cause, MOST)[2] for cause in CAUSES)
        session.make_ready([base, *{c.sha256: c for ready in known for _, c in ready}.values()])


def _best(winners: Mapping[str, Winner | None]) -> str | None:
    """The cause whose winner is fastest so far."""
    ratios = {cause: winner.ratio or 0.0 for cause, winner in winners.items() if winner is not None}
    return min(ratios, key=lambda cause: (-ratios[cause], cause), default=None)


def _texts(
    session: Session, kernel: str, cause: str, most: int
) -> tuple[Candidate, Sequence[Rewrite], list[tuple[Rewrite, Candidate]], dict[str, Try]]:
    """The kernel, its rewrites for a cause, those that are valid, and what is known of the others."""
    base = session.candidate(kernel)
    texts = rewrites(kernel, cause, facts_of(session.task), most) if base.language == "cuda" else ()
    ready: list[tuple[Rewrite, Candidate]] = []
    tried: dict[str, Try] = {}
    for one in texts:
        try:
            ready.append((one, session.candidate(one.text)))
        except TaskError:
            tried[one.name] = as_try(one, "no valid kernel")
    return base, texts, ready, tried


def _drafts(
    session: Session, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]
) -> Iterator[Winner]:
    """Those that are right at the small sizes and faster by the model, the fastest first."""
    start = speed_over_given(session, base)
    for one, candidate in in_order(session, base, ready, tried):
        verdict = quick_verdict(session, candidate)
        if verdict != "right":
            tried[one.name] = as_try(one, verdict.replace("_", " "))
            continue
        ratio = speed_over_given(session, candidate) / start
        tried[one.name] = as_try(one, f"right at the small sizes, {ratio:.3f}x")
        yield Winner(one, candidate, None, ratio)


def _first_right(session: Session, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]) -> Winner | None:
    """In the order of promise, without a look at any time."""
    for one, candidate in ready:
        verdict = quick_verdict(session, candidate)
        verdict = session.check(candidate).verdict if verdict == "right" else verdict
        tried[one.name] = as_try(one, verdict.replace("_", " "))
        if verdict == "right":
            return Winner(one, candidate, session.evaluation(candidate), None)
    return None


def _fastest(
    session: Session, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try], *, drafts: bool
) -> Winner | None:
    """The fastest right one. Simulated times first where there are such: what would not win is not checked."""
    if drafts:
        return next(_drafts(session, base, ready, tried), None)
    start = speed_over_given(session, base)
    best: Winner | None = None
    for one, candidate in in_order(session, base, ready, tried):
        verdict = quick_verdict(session, candidate)
        if verdict != "right":
            tried[one.name] = as_try(one, verdict.replace("_", " "))
            continue
        found = judge_rewrite(session, one, candidate, start, tried)
        if found is not None and (best is None or (found.ratio or 0.0) > (best.ratio or 0.0)):
            best = found
            if session.simulator is not None:
                break  # they came by their time: the rest is slower
    return best


def judge_rewrite(
    session: Session, one: Rewrite, candidate: Candidate, start: float, tried: dict[str, Try]
) -> Winner | None:
    """The whole gate's word on a rewrite; `start` is the speed of what it was made from, over the given kernel."""
    evaluation = session.evaluation(candidate)
    timing = evaluation.timing
    if timing is None or timing.ratio is None:
        tried[one.name] = as_try(one, evaluation.check.verdict.replace("_", " ") if timing is None else timing.reason)
        return None
    ratio = timing.ratio / start
    better = ratio >= LEAST_GAIN and timing.decision != "REJECTED"
    tried[one.name] = as_try(one, f"right, {ratio:.3f}x" if better else "right, not faster")
    if timing.decision == "REJECTED":
        tried[one.name] = as_try(one, f"{REFUSED}{timing.reason.replace('_', ' ')}")
        session.tell(f"{one.name}: {tried[one.name].outcome}")
    return Winner(one, candidate, evaluation, ratio) if better else None


def speed_over_given(session: Session, base: Candidate) -> float:
    """How fast the kernel is that rewrites start from, over the given one; simulated times need no check for that."""
    if base.sha256 == session.given.sha256:
        return 1.0
    if session.simulator is not None:
        given, own = session.foretold_us(session.given), session.foretold_us(base)
        return given / own if given and own else 1.0
    timing = session.evaluation(base).timing
    return 1.0 if timing is None or timing.ratio is None else timing.ratio


def quick_verdict(session: Session, candidate: Candidate) -> str:
    """The verdict over the small workloads alone: most wrong rewrites end here, before the long check."""
    small = [workload for workload in session.task.workloads if not workload.profile]
    if not small:
        return "right"
    return session.check_small(candidate, small).verdict


def in_order(
    session: Session, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]
) -> Iterator[tuple[Rewrite, Candidate]]:
    """On the virtual GPU those that would be faster, the fastest first; elsewhere all, as they come.

    The order is that of drafts; a draft that comes first is looked at whole, and comes again where it then belongs: a
    few blocks of a grid that is too large may have nothing to do.
    """
    if ready:
        session.make_ready([base, *(candidate for _, candidate in ready)])
    before = session.draft_us(base) if ready else None
    if before is None:
        yield from ready
        return
    line: list[tuple[float, int, bool]] = []
    for number, (one, candidate) in enumerate(ready):
        after = session.draft_us(candidate)
        if after is None:
            tried[one.name] = as_try(one, "does not compile" if not session.build(candidate).ok else "does not run")
        elif before / after < LEAST_GAIN:
            tried[one.name] = as_try(one, "not faster, not checked")
        else:
            line.append((after, number, False))
    heapq.heapify(line)
    while line:
        _, number, whole = heapq.heappop(line)
        one, candidate = ready[number]
        if whole:
            yield one, candidate
            continue
        before, after = session.foretold_us(base), session.foretold_us(candidate)
        if before is None or after is None:
            tried[one.name] = as_try(one, "does not run")
        elif before / after < LEAST_GAIN:
            tried[one.name] = as_try(one, "not faster, not checked")
        else:
            heapq.heappush(line, (after, number, True))


def as_try(one: Rewrite, outcome: str) -> Try:
    return Try(rewrite=one.name, kernel=kernel_id(one.text), outcome=outcome)
