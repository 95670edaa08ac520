"""`time`: how fast is a kernel, against the one that was given and the best so far?"""

from __future__ import annotations

import statistics
from typing import Annotated

from pydantic import Field

from warpsight.gate.likely import chance_words, interval_words
from warpsight.nouns import Evaluation, Noun, Timing, kernel_id
from warpsight.session.feedback import NO_TIME, shows_time
from warpsight.session.session import Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.answer import against as said_against
from warpsight.tools.check import said_of
from warpsight.tools.edits import BEST


class Timed(Noun):
    """A time in ratios; above 1 is faster. Empty where the kernel is not right, or times are off."""

    kernel: KernelId
    timed: bool
    decision: str = ""
    source: str = ""
    device: str = ""
    workload: str = ""
    ratio_to_given: float | None = None
    interval: tuple[float, float] | None = None
    probability_faster: float | None = None
    ratio_to_against: float | None = None
    against: str = ""
    time_us: float | None = None
    given_us: float | None = None
    reason: str = ""


Against = Annotated[str, Field(description=said_against("a second kernel to compare with"))]


def time(session: Session, kernel: Kernel, against: Against = BEST) -> Answer[Timed]:
    """How fast is the kernel? Its speed as a ratio to the baseline (the task's first kernel) and to the best so far
    (above 1 is faster), and a decision: FASTER, LIKELY_FASTER (not sure), SLOWER, SAME, AMBIGUOUS, or REJECTED (not
    believed, and why). A kernel that is not right is not timed."""
    candidate, other = session.candidate(kernel), session.candidate(against)
    found = session.evaluation(candidate)
    name = kernel_id(kernel)
    if found.timing is None:
        said, lines = said_of(session, candidate, found.check)
        data = Timed(kernel=name, timed=False, reason=said.reason)
        return Answer("\n".join(("not timed, since it is not right", *lines)), data, evaluation=found)
    if not shows_time(session.feedback):
        return Answer(f"{name}: right; {NO_TIME}", Timed(kernel=name, timed=False, reason=NO_TIME), evaluation=found)
    data, lines = _timed(name, found.timing), [f"{name}: {decision_line(found.timing)}"]
    if other.sha256 not in (candidate.sha256, session.given.sha256):
        data, told = _with_other(data, found.timing, session.evaluation(other).timing, kernel_id(against))
        lines.append(told)
    return Answer("\n".join((*lines, *_notes(found))), data, evaluation=found)


def decision_line(timing: Timing) -> str:
    """The decision with its ratio, interval and source."""
    decision = timing.decision or "AMBIGUOUS"
    why = "".join(f"; {part}" for part in (timing.reason, timing.detail) if part)
    if timing.ratio is None or timing.interval is None or not timing.samples_us:
        return f"{decision}{why} ({timing.source} on {timing.device})"
    chance = f"; {said}" if (said := chance_words(timing)) else ""
    told = f"{decision}: {timing.ratio:.3f}x the speed of the baseline ({timing.source} on {timing.device}, "
    told += f"{interval_words(timing)}{chance}){why}"
    return f"{told}\n{_us(timing.samples_us, timing):.4g} us, baseline {_us(timing.baseline_us, timing):.4g} us"


def _us(samples: tuple[float, ...], timing: Timing) -> float:
    """One number for a side: at the boost clock, or the median of what was measured."""
    return samples[0] if timing.source == "simulated" else statistics.median(samples)


def _timed(name: str, timing: Timing) -> Timed:
    known = bool(timing.samples_us and timing.baseline_us)
    return Timed(
        kernel=name,
        timed=True,
        decision=timing.decision or "",
        source=timing.source,
        device=timing.device,
        workload=timing.workload,
        ratio_to_given=timing.ratio,
        interval=timing.interval,
        probability_faster=None if timing.likelihood is None else timing.likelihood.probability_faster,
        time_us=_us(timing.samples_us, timing) if known else None,
        given_us=_us(timing.baseline_us, timing) if known else None,
        reason=timing.reason,
    )


def _with_other(data: Timed, mine: Timing, theirs: Timing | None, name: str) -> tuple[Timed, str]:
    """With the ratio to another kernel, by way of the given one."""
    if mine.ratio is None or theirs is None or theirs.ratio is None or mine.source != theirs.source:
        return data.model_copy(update={"against": name}), f"against {name}: no ratio, since one of the two has no time"
    ratio = mine.ratio / theirs.ratio
    how = "" if mine.source == "simulated" else " (by way of the baseline)"
    found = data.model_copy(update={"against": name, "ratio_to_against": ratio})
    return found, f"against {name}: {ratio:.3f}x its speed{how}"


def _notes(found: Evaluation) -> list[str]:
    notes = list(found.timing.notes) if found.timing is not None else []
    return [f"note: {note}" for note in notes] + (["unsafe: protections are missing"] if found.unsafe else [])
