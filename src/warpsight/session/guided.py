"""Rewrites on top of one another, guided by what the profile says after each: look, try, keep the fastest, look again.

No model has a part in it. A step tries the rewrites for what the findings name and those that restructure, which go by
the source alone; where none helps, all others. Steps are drafts (right at the small sizes, simulated times); the whole
gate judges the last, and where it refuses that, the one before. Where it refuses all of them the search begins again
without the first, which all the others were made of. What must stay true: the winner passed the whole gate,
and the same kernel gives the same steps. The budget is a number of kernels, not of seconds, for that reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from warpsight.errors import TaskError, UsageError
from warpsight.nouns import Candidate, Finding
from warpsight.rewrite import Rewrite, facts_of, rewritable, rewrites, rewritten_for
from warpsight.session.search import (
    LEAST_GAIN,
    Try,
    Winner,
    as_try,
    in_order,
    judge_rewrite,
    quick_verdict,
    speed_over_given,
)
from warpsight.session.session import Session

MOST_KERNELS = 240  # that are compiled and drafted in one search
MOST_STEPS = 10
MOST_STARTS = 4  # where the gate refuses every step
AT_ROOF = "at_roofline"
MOST_OF_A_CAUSE = 14
STRUCTURAL = (
    "thread_per_row", "serial_loop", "contended_atomics", "missing_tile", "uncoalesced", "overlapping_reads",
    "scalar_access",
)  # fmt: skip
ENOUGH = 1.05  # a roof that leaves less ends the search
WORTH = 1.02  # a step must gain so much


@dataclass(frozen=True)
class GuidedStep:
    """One rewrite that was kept: for which cause, what the finding said, and its speed over the step before."""

    cause: str
    rewrite: Rewrite
    candidate: Candidate
    ratio: float


@dataclass(frozen=True)
class GuidedSearch:
    """The steps that led to the winner, what was seen at the end, and every kernel that was tried."""

    steps: tuple[GuidedStep, ...]
    winner: Winner | None
    tried: tuple[Try, ...]
    left: tuple[Finding, ...]  # what is still found in the winner
    stopped: str


@dataclass
class _State:
    """What a search knows so far."""

    seen: set[str] = field(default_factory=set[str])
    tried: list[Try] = field(default_factory=list[Try])
    steps: list[GuidedStep] = field(default_factory=list[GuidedStep])


def search_guided(session: Session, kernel: str, most: int = MOST_KERNELS) -> GuidedSearch:
    """The best that rewrites on top of one another make of a kernel; only where times are simulated."""
    tried: list[Try] = []
    refused: set[str] = set()
    while True:
        state = _State(seen=set(refused))
        stopped = _climb(session, session.candidate(kernel), state, most)
        winner, count = _judge_from_the_last(session, session.candidate(kernel), state)
        tried += state.tried
        if winner is not None or not state.steps or len(refused) == MOST_STARTS - 1:
            break
        refused.add(state.steps[0].rewrite.text)
    left = session.diagnose(winner.candidate if winner is not None else kernel)
    return GuidedSearch(tuple(state.steps[:count]), winner, _last_words(tried), left, stopped)


def _climb(session: Session, current: Candidate, state: _State, most: int) -> str:
    """Step after step, into the state; why it ended."""
    while len(state.steps) < MOST_STEPS:
        findings = session.diagnose(current)
        if _at_roof(findings):
            return "the roofline is near"
        session.tell(f"sees: {_seen(findings)}")
        step = _next_step(session, current, findings, state, most)
        if step is None:
            tried_all = len(state.seen) >= most
            return f"{most} kernels were tried" if tried_all else "no rewrite that is known helps further"
        state.steps.append(step)
        current = step.candidate
        session.tell(f"kept: {step.rewrite.name} for {step.cause}, {step.ratio:.2f}x")
    return f"{MOST_STEPS} steps were taken"


def _last_words(tried: Sequence[Try]) -> tuple[Try, ...]:
    """What came of each kernel, once: what was said last of it."""
    return tuple({one.kernel: one for one in tried}.values())


def _seen(findings: Sequence[Finding]) -> str:
    """The first findings in a line, for who watches."""
    told = [one.name + (f" ({one.estimated_gain:.1f}x)" if one.estimated_gain else "") for one in findings[:3]]
    return ", ".join(told) or "nothing that a finding names"


def _at_roof(findings: Sequence[Finding]) -> bool:
    near = bool(findings) and findings[0].name == AT_ROOF
    return near and all((one.estimated_gain or 1.0) < ENOUGH for one in findings)


def _next_step(
    session: Session, current: Candidate, findings: Sequence[Finding], state: _State, most: int
) -> GuidedStep | None:
    """The rewrite that gains most: for what was found or seen in the source, else for anything."""
    first = _named(findings)
    for causes in (first, [cause for cause in rewritable() if cause not in first]):
        if len(state.seen) >= most:
            return None
        found = _fastest(session, current, causes, state, most)
        if found is not None:
            return found
    return None


def _named(findings: Iterable[Finding]) -> list[str]:
    known: list[str] = []
    for finding in findings:
        try:
            known += rewritten_for(finding.name)
        except UsageError:
            continue  # a finding of another package, with a name of its own
    return list(dict.fromkeys((*STRUCTURAL, *known)))


def _fastest(
    session: Session, current: Candidate, causes: Sequence[str], state: _State, most: int
) -> GuidedStep | None:
    pool: dict[str, tuple[str, Rewrite, Candidate]] = {}
    for cause, one in _made(session, current, causes):
        if len(state.seen) >= most:
            break
        if one.text in state.seen:
            continue
        state.seen.add(one.text)
        try:
            pool[one.text] = (cause, one, session.candidate(one.text))
        except TaskError:
            state.tried.append(as_try(one, "no valid kernel"))
    session.tell(f"trying {len(pool)} kernels for {', '.join(dict.fromkeys(cause for cause, _, _ in pool.values()))}")
    told: dict[str, Try] = {}
    ready = [(one._replace(name=f"{cause}: {one.name}"), candidate) for cause, one, candidate in pool.values()]
    before = speed_over_given(session, current)
    for one, candidate in in_order(session, current, ready, told):
        verdict = quick_verdict(session, candidate)
        ratio = speed_over_given(session, candidate) / before
        if verdict == "right" and ratio < WORTH:
            break
        told[one.name] = as_try(one, f"right at the small sizes, {ratio:.3f}x" if verdict == "right" else verdict)
        if verdict == "right":
            state.tried += told.values()
            cause, plain, _ = pool[one.text]
            return GuidedStep(cause, plain, candidate, ratio)
    state.tried += told.values()
    return None


def _made(session: Session, current: Candidate, causes: Sequence[str]) -> Iterator[tuple[str, Rewrite]]:
    if current.language != "cuda":
        return
    facts = facts_of(session.task)
    for cause in causes:
        if cause == "too_few_blocks" and "gridDim" not in current.source:
            continue  # more blocks would only be empty ones
        for one in rewrites(current.source, cause, facts, MOST_OF_A_CAUSE):
            yield cause, one


def _judge_from_the_last(session: Session, base: Candidate, state: _State) -> tuple[Winner | None, int]:
    """The whole gate's word: on the last step, then on those before it that were foretold to be faster than what the
    gate found. The winner, and how many steps it takes."""
    start, told = speed_over_given(session, base), dict[str, Try]()
    best: Winner | None = None
    steps = 0
    for count in range(len(state.steps), 0, -1):
        step = state.steps[count - 1]
        foretold = speed_over_given(session, step.candidate) / start
        if best is not None and (best.ratio or 0.0) * LEAST_GAIN >= foretold:
            break
        session.tell(f"judging step {count}: {step.rewrite.name}")
        winner = judge_rewrite(session, step.rewrite, step.candidate, start, told)
        if winner is not None and (best is None or (winner.ratio or 0.0) > (best.ratio or 0.0)):
            best, steps = winner, count
    state.tried += told.values()
    return best, steps
