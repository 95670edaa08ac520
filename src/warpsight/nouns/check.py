"""Whether a candidate is right, with the evidence."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from warpsight.nouns.base import Count, Dim3, Noun, require
from warpsight.nouns.build import Diagnostic


class Fault(Noun):
    """Something a kernel did that it must not, at its first place; `count` says how often.

    Kinds: out_of_bounds, misaligned, uninitialised_read, write_to_const, shared_race, global_race,
    barrier_divergence, warp_sync_divergence, deadlock, endless_loop, assert_failed, trap, stack_overflow, unsupported.
    """

    kind: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
    message: str
    line: int | None = None
    line_text: str | None = None
    thread: Dim3 | None = None
    block: Dim3 | None = None
    address: int | None = None
    array: str | None = None
    instruction: str | None = None
    count: int = Field(default=1, ge=1)


class WorstElement(Noun):
    """The element that is furthest from right, in units of what the tolerance allows."""

    output: str
    index: tuple[int, ...]
    got: int | float
    expected: int | float
    error: float = Field(ge=0, description="absolute difference; inf where it has none")


class WorkloadResult(Noun):
    """How one workload, with one family of inputs and one seed, came out."""

    workload: str
    hidden: bool
    family: str = "declared"
    seed: int
    ok: bool
    reason: str = ""
    wrong_elements: Count = 0
    total_elements: Count = 0
    worst: WorstElement | None = None

    @model_validator(mode="after")
    def _ok_means_nothing_wrong(self) -> Self:
        require(self.wrong_elements <= self.total_elements, "more wrong elements than elements")
        if self.ok:
            require(self.wrong_elements == 0 and self.reason == "", "an ok workload has no wrong element, no reason")
        else:
            require(self.reason != "", "a workload that is not ok names its reason")
        return self


class Check(Noun):
    """Is the candidate right: a verdict with a named reason, and what it rests on."""

    verdict: Literal["right", "wrong", "fault", "does_not_compile", "refused"]
    reason: str
    workloads: tuple[WorkloadResult, ...] = ()
    faults: tuple[Fault, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @model_validator(mode="after")
    def _verdict_has_its_evidence(self) -> Self:
        if self.verdict == "right":
            require(len(self.workloads) > 0, "right needs at least one workload that was run")
            require(all(w.ok for w in self.workloads) and not self.faults, "right has no failed workload, no fault")
        else:
            require(self.reason != "", f"verdict {self.verdict} names its reason")
        if self.verdict == "wrong":
            require(any(not w.ok for w in self.workloads), "wrong needs a workload that failed")
        if self.verdict == "fault":
            require(len(self.faults) > 0, "fault needs a fault")
        if self.verdict in ("does_not_compile", "refused"):
            require(not self.workloads and not self.faults, f"{self.verdict}: nothing was run")
        return self
