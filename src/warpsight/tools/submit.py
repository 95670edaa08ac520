"""`submit`: the final kernel, the cause it removes, and what was predicted, through the whole gate."""

from __future__ import annotations

import difflib
from contextlib import suppress
from typing import Annotated, Literal

from pydantic import Field

from warpsight.errors import UsageError
from warpsight.gate.likely import chance_words
from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import Candidate, Evaluation, Noun, Profile, Timing, kernel_id
from warpsight.nouns.run import Prediction
from warpsight.session.feedback import shows_counters
from warpsight.session.session import IMPOSSIBLE, Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.answer import against as said_against
from warpsight.tools.check import said_of
from warpsight.tools.edits import GIVEN
from warpsight.tools.scoring import score
from warpsight.tools.time import decision_line

Way = Literal["up", "down"]
Cause = Annotated[str, Field(max_length=4000, description="why the given kernel was slow: counter and line")]
Predicts = Annotated[dict[str, Way] | None, Field(description="counters by name")]
Against = Annotated[str, Field(description=said_against("the kernel that it is predicted from"))]


class Submitted(Noun):
    """How the gate decided, and what came of each prediction."""

    kernel: KernelId
    verdict: str
    decision: str = ""
    ratio_to_given: float | None = None
    interval: tuple[float, float] | None = None
    probability_faster: float | None = None
    source: str = ""
    certificate: str | None = None
    certificate_file: str | None = None
    predictions: tuple[Prediction, ...] = ()
    reason: str = ""


def submit(
    session: Session, kernel: Kernel, cause: Cause, predicts: Predicts = None, against: Against = GIVEN
) -> Answer[Submitted]:
    """Hand in your final kernel; this ends the work. It is checked and timed once more on new inputs; if it is right
    and FASTER it gets a certificate. Name the cause that you removed and the counters that it moved, such as
    {"global_store_sectors": "down"}: they are scored."""
    _require_counters(predicts or {})
    candidate, start = session.candidate(kernel), session.candidate(against)
    found, name = session.submit(candidate), kernel_id(kernel)
    before, after = _profiles(session, against, found)
    scored = tuple(score(counter, way, before, after) for counter, way in (predicts or {}).items())
    scored = scored if shows_counters(session.feedback) else ()  # the loop scores them in any case
    full = _full_profiles(session, start, before, candidate, found)
    profiled = {sha256: one.model_copy(update={"instructions": ()}) for sha256, one in full.items()}
    data = Submitted(kernel=name, verdict=found.check.verdict, predictions=scored)
    if found.timing is None:
        said, lines = said_of(session, candidate, found.check)
        data = data.model_copy(update={"reason": said.reason})
        lines = ["submitted, and not accepted", *lines]
    else:
        data, lines = _timed(session, found, data)
    lines += [_prediction_line(one) for one in scored]
    kept = tuple(one.model_dump_json().encode() for one in full.values() if one.instructions)
    return Answer("\n".join(lines), data, evaluation=found, profiled=profiled, artefacts=kept, submitted=True)


def _timed(session: Session, found: Evaluation, data: Submitted) -> tuple[Submitted, list[str]]:
    assert found.timing is not None
    file = None
    if session.ledger is not None and found.certificate is not None:
        file = str(session.ledger.certificates / f"{found.certificate}.json")
    data = data.model_copy(
        update={
            "decision": found.timing.decision or "",
            "ratio_to_given": found.timing.ratio,
            "interval": found.timing.interval,
            "probability_faster": found.timing.likelihood and found.timing.likelihood.probability_faster,
            "source": found.timing.source,
            "certificate": found.certificate,
            "certificate_file": file,
            "reason": found.timing.reason,
        }
    )
    lines = [_accepted(found.timing), f"{data.kernel}: right, {decision_line(found.timing)}"]
    return data, [*lines, f"certificate {found.certificate}"] if found.certificate else lines


def _accepted(timing: Timing) -> str:
    if not timing.improves:
        return "submitted, and not accepted"
    if timing.decision == "FASTER":
        return "submitted and accepted"
    told = f"submitted and accepted as likely faster: {timing.ratio or 1.0:.2f}x {timing.source}"
    return f"{told}; {chance_words(timing)}; measure it on the card"


def _profiles(session: Session, against: str, found: Evaluation) -> tuple[Profile | None, Profile | None]:
    """The profiles that predictions are held to; None where there is none."""
    try:
        before = session.counters(session.candidate(against))
    except IMPOSSIBLE:
        before = None
    return before, found.profile


def _full_profiles(
    session: Session, start: Candidate, before: Profile | None, candidate: Candidate, found: Evaluation
) -> dict[str, Profile]:
    """Both kernels instruction by instruction, for the report; of the new one where a simulation has it already."""
    full = {} if before is None else {start.sha256: before}
    if session.simulator is not None and found.timing is not None and found.timing.improves:
        with suppress(IMPOSSIBLE):
            full[candidate.sha256] = session.counters(candidate)
    return full


def _prediction_line(one: Prediction) -> str:
    if one.before is None or one.after is None:
        return f"predicted {one.counter} {one.way}: unknown, it was not measured"
    return f"predicted {one.counter} {one.way}: {one.verdict}, {one.before:g} to {one.after:g}"


def _require_counters(predicts: dict[str, Way]) -> None:
    """A name that means no counter cannot be scored: better told than counted as unknown."""
    known = vocabulary()
    for name in predicts:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
            raise UsageError(
                f"predicts: no counter is called {name[:60]!r}",
                hint=f"near names: {', '.join(near)}" if near else "use the names that `profile` shows",
            )
