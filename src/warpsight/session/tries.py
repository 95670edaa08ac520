"""Every known rewrite of a kernel, one by one: is it right, and how fast is it. The material of tables of outcomes.

A try is one rewrite, named by its cause and its number in the order of promise. Nothing is searched here. Each is
compiled and timed on a few blocks; what is not slower there is checked at the small sizes and simulated whole, and the
whole gate judges what is still faster. What must stay true: a try that counts as a gain was found right and faster by
the gate; times of the others are told as what they are, the model's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pydantic import Field

from warpsight.errors import TaskError
from warpsight.nouns import Candidate, Noun, kernel_id
from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.rewrite import CAUSES, Rewrite, facts_of, rewrites
from warpsight.session.search import LEAST_GAIN, quick_verdict, speed_over_given
from warpsight.session.session import Session

By = Literal["gate", "model", "few blocks", ""]
NOT_VALID, NOT_BUILT, NOT_RUN, NOT_CHECKED = "no valid kernel", "does not compile", "does not run", "not checked"


class TriedRewrite(Noun):
    """One rewrite and what came of it. `ratio` is its speed over the kernel that the task gives. `by` says who gave it:
    the gate, the model by the whole launch, or the model by a few blocks; those two are of kernels that are no gain."""

    cause: str
    number: int = Field(ge=0)
    rewrite: str
    kernel: str
    verdict: str
    decision: str = ""
    ratio: float | None = None
    by: By = ""
    reason: str = ""

    @property
    def name(self) -> str:
        """How a way through rewrites names it."""
        return f"{self.cause}#{self.number}"

    @property
    def speed(self) -> float:
        """What it is worth: its ratio where the gate accepted it, else 1: the given kernel stays."""
        accepted = self.verdict == "right" and self.decision in IMPROVEMENTS
        return self.ratio if accepted and self.ratio is not None else 1.0


def try_all(session: Session, kernel: str, causes: Sequence[str] = tuple(CAUSES)) -> list[TriedRewrite]:
    """Every rewrite for every cause, in their order; a text that several causes share is measured once."""
    known = {cause: rewrites(kernel, cause, facts_of(session.task)) for cause in causes}
    base = session.candidate(kernel)
    session.make_ready([base, *dict.fromkeys(_valid(session, known.values()))])
    return [
        try_one(session, kernel, cause, number, one) for cause, some in known.items() for number, one in enumerate(some)
    ]


def try_one(session: Session, base: str, cause: str, number: int, one: Rewrite) -> TriedRewrite:
    """One rewrite of a kernel."""
    try:
        candidate = session.candidate(one.text)
    except TaskError as problem:
        found = {"verdict": NOT_VALID, "reason": problem.message}
    else:
        found = judged(session, session.candidate(base), candidate)
    told = {"cause": cause, "number": number, "rewrite": one.name, "kernel": kernel_id(one.text)}
    return TriedRewrite.model_validate(told | found)


def judged(session: Session, base: Candidate, candidate: Candidate) -> dict[str, object]:
    """The fields of a try that are about the kernel itself. A kernel that is slower than the one it was made from is
    not checked."""
    if not session.build(candidate).ok:
        return {"verdict": NOT_BUILT}
    start = speed_over_given(session, base)
    before, after = session.draft_us(base), session.draft_us(candidate)
    if before is None or after is None:
        return {"verdict": NOT_RUN}
    if before / after < 1 / LEAST_GAIN:  # a few blocks are enough to see that it is slower
        return {"verdict": NOT_CHECKED, "decision": "SLOWER", "ratio": start * before / after, "by": "few blocks"}
    verdict = quick_verdict(session, candidate)
    if verdict != "right":
        return {"verdict": verdict}
    if session.foretold_us(candidate) is None:
        return {"verdict": NOT_RUN}
    ratio = speed_over_given(session, candidate)
    if ratio / start < LEAST_GAIN:
        decision = "SLOWER" if ratio / start < 1 / LEAST_GAIN else "SAME"
        return {"verdict": "right", "decision": decision, "ratio": ratio, "by": "model"}
    evaluation = session.evaluation(candidate)
    timing = evaluation.timing
    if timing is None:
        return {"verdict": evaluation.check.verdict, "reason": evaluation.check.reason or ""}
    told = {"decision": timing.decision or "", "ratio": timing.ratio, "by": "gate", "reason": timing.reason}
    return {"verdict": "right", **told}


def _valid(session: Session, known: Iterable[Sequence[Rewrite]]) -> Iterator[Candidate]:
    for some in known:
        for one in some:
            try:
                yield session.candidate(one.text)
            except TaskError:
                continue
