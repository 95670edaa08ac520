"""`profile`: what does a kernel do on the GPU, and why is it slow? In the words of the run's feedback."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from warpsight.lens import detect_findings, render
from warpsight.lens.bound_side import side_words
from warpsight.lens.facts import plain_facts
from warpsight.nouns import Candidate, Finding, Noun, Profile, kernel_id
from warpsight.session.feedback import NO_PROFILE
from warpsight.session.session import IMPOSSIBLE, Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.compile import diagnostic_lines
from warpsight.tools.wrong_profile import wrong_profile

UNLIMITED = 10**9


class Found(Noun):
    """One reason why the kernel is slow."""

    name: str
    message: str
    estimated_gain: float | None
    line: int | None
    suggestion: str
    should_move: dict[str, str]


class Profiled(Noun):
    """A profile: findings in a curated run, counters in a raw one, neither where profiles are off."""

    kernel: KernelId
    profiled: bool
    source: str = ""
    gpu: str = ""
    workload: str = ""
    duration_us: float | None = None
    bound: str = ""
    findings: tuple[Found, ...] = ()
    smaller: tuple[Found, ...] = ()  # what is estimated to gain too little to be said, where all can be tried
    counters: dict[str, float] = Field(default_factory=dict[str, float])
    balance: str = ""  # operations a DRAM byte beside the balance of the GPU, in words
    facts: tuple[str, ...] = ()  # plain facts in few words, for small models
    reason: str = ""


def profile(session: Session, kernel: Kernel) -> Answer[Profiled]:
    """Why is the kernel slow? Its time, what limits it, and findings: counters, source line, estimated gain, what to
    try, which counters should then move. Look before you edit, and again after: the limit may have moved. Does not say
    whether the kernel is right."""
    candidate = session.candidate(kernel)
    name = kernel_id(kernel)
    build = session.build(candidate)
    if not build.ok:
        lines = [f"{name}: not profiled, it does not compile", *diagnostic_lines(build, kernel)]
        return Answer("\n".join(lines), Profiled(kernel=name, profiled=False, reason="does not compile"))
    if session.feedback in ("none", "time"):
        return Answer(f"{name}: {NO_PROFILE}", _none(name, NO_PROFILE))
    try:
        true = session.counters(candidate)
    except IMPOSSIBLE as impossible:
        return Answer(f"{name}: not profiled: {impossible}", _none(name, impossible.message))
    made = {candidate.sha256: true.model_copy(update={"instructions": ()})}
    shown, findings = _shown(session, candidate, true)
    mode = "raw" if session.feedback == "raw" else "curated"
    notes = [f"note: {note}" for note in shown.notes]
    if set(shown.counters) <= {"duration_us"}:
        notes.append("note: this device has no counters, so nothing can be said of why it is slow")
    text = "\n".join((f"{name}: {render(shown, findings, mode, UNLIMITED)}", *notes))
    known = None if session.feedback == "wrong" else build
    smaller = [one for one in detect_findings(shown, known) if one.name not in {said.name for said in findings}]
    own = candidate.source if known is not None else ""
    facts = () if session.feedback == "raw" else plain_facts(shown, known, session.gpu, own)
    data = _profiled(session, name, shown, findings, smaller).model_copy(
        update={"facts": facts, "balance": "" if session.gpu is None else side_words(shown, session.gpu)}
    )
    return Answer(text, data, profiled=made, artefacts=(shown.model_dump_json().encode(),))


def _shown(session: Session, candidate: Candidate, true: Profile) -> tuple[Profile, tuple[Finding, ...]]:
    if session.feedback == "wrong":
        return wrong_profile(session, candidate)
    return true, session.diagnose(candidate)


def _none(name: str, reason: str) -> Profiled:
    return Profiled(kernel=name, profiled=False, reason=reason)


def _profiled(
    session: Session, name: str, shown: Profile, findings: Sequence[Finding], smaller: Sequence[Finding]
) -> Profiled:
    raw = session.feedback == "raw"
    duration = shown.counters.get("duration_us")
    return Profiled(
        kernel=name,
        profiled=True,
        source=shown.source,
        gpu=shown.gpu,
        workload=session.workload.name,
        duration_us=None if duration is None else float(duration),
        bound=shown.bound,
        findings=() if raw else _told(findings),
        smaller=() if raw else _told(smaller),
        counters={key: float(value) for key, value in shown.counters.items() if value} if raw else {},
    )


def _told(findings: Sequence[Finding]) -> tuple[Found, ...]:
    return tuple(
        Found(
            name=finding.name,
            message=finding.message,
            estimated_gain=finding.estimated_gain,
            line=next((e.line for e in finding.evidence if e.line is not None), None),
            suggestion=finding.suggestion,
            should_move=dict(finding.should_move),
        )
        for finding in findings
    )
