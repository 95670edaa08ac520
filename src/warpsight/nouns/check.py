"""Whether a candidate is right, with the evidence."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from warpsight.nouns.base import Count, Dim3, Noun, Trust, require, trust_field
from warpsight.nouns.build import Diagnostic
from warpsight.nouns.task import Workload

# Why a workload came out wrong: every reason there is. Faults go by their own kinds.
VALUE_REASONS = (
    "wrong_values",  # an element is further from the oracle than is allowed
    "precision_too_low",  # what is computed is right, in fewer bits than the task declares
    "non_finite",  # an infinity or NaN where the oracle has a number
    "output_not_written",  # elements still hold what the outputs were filled with
    "input_changed",  # an input came back with other bytes
    "not_deterministic",  # two runs on the same inputs gave different bits, and no atomic operation explains it
    "missing_output",
    "wrong_shape",
    "wrong_dtype",
)
FAULT_KINDS = (
    "out_of_bounds",
    "misaligned",
    "uninitialised_read",
    "write_to_const",
    "shared_race",
    "global_race",
    "barrier_divergence",
    "warp_sync_divergence",
    "shuffle_outside_mask",
    "deadlock",
    "endless_loop",
    "launch_too_large",
    "deadline",
    "assert_failed",
    "trap",
    "stack_overflow",
    "bad_jump",
    "interrupted",
    "unsupported",
    "crash",
    "out_of_memory",
    "forbidden_call",
    "exited_early",
    "bad_answer",
    "bad_frame",
    "too_much_output",
)
OTHER_FAULT = "fault"  # a fault of a kind that only its device knows
REASONS = frozenset((*VALUE_REASONS, *FAULT_KINDS, OTHER_FAULT))


class Fault(Noun):
    """Something a kernel did that it must not, at its first place; `count` says how often.

    Kinds: out_of_bounds, misaligned, uninitialised_read, write_to_const, shared_race, global_race,
    barrier_divergence, warp_sync_divergence, shuffle_outside_mask, deadlock, endless_loop, launch_too_large,
    assert_failed, trap, stack_overflow, unsupported.
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
    reason: str = Field(default="", description="one of REASONS, empty when ok")
    detail: str = ""
    line: int | None = Field(default=None, description="the source line to look at, where it is known")
    wrong_elements: Count = 0
    total_elements: Count = 0
    worst: WorstElement | None = None

    @model_validator(mode="after")
    def _ok_means_nothing_wrong(self) -> Self:
        require(self.wrong_elements <= self.total_elements, "more wrong elements than elements")
        if self.ok:
            require(self.wrong_elements == 0 and self.reason == "", "an ok workload has no wrong element, no reason")
        else:
            require(self.reason in REASONS, f"a workload that is not ok names its reason, found {self.reason!r}")
        return self


class SkippedFamily(Noun):
    """A family of inputs that was not run on a workload, by rule, and why."""

    workload: str
    family: str
    why: str


class Check(Noun):
    """Is the candidate right: a verdict with a named reason, and what it rests on.

    `reason` is a sentence; `named` is its name, one of REASONS, for a kernel that ran. `generated` are the workloads
    that were drawn from the task's axes with `secret_seed`; `warnings` are about the task or the
    device, not the candidate.
    """

    verdict: Literal["right", "wrong", "fault", "does_not_compile", "refused"]
    reason: str
    workloads: tuple[WorkloadResult, ...] = ()
    faults: tuple[Fault, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    named: str = ""
    skipped: tuple[SkippedFamily, ...] = ()
    generated: tuple[Workload, ...] = ()
    secret_seed: int | None = None
    warnings: tuple[str, ...] = ()
    trust: Trust = trust_field()

    @model_validator(mode="after")
    def _verdict_has_its_evidence(self) -> Self:
        if self.verdict == "right":
            require(len(self.workloads) > 0, "right needs at least one workload that was run")
            require(all(w.ok for w in self.workloads) and not self.faults, "right has no failed workload, no fault")
        else:
            require(self.reason != "", f"verdict {self.verdict} names its reason")
        require(self.named == "" or self.named in REASONS, f"a reason that has no meaning: {self.named!r}")
        if self.verdict == "wrong":
            require(any(not w.ok for w in self.workloads), "wrong needs a workload that failed")
        if self.verdict == "fault":
            require(len(self.faults) > 0, "fault needs a fault")
        if self.verdict in ("does_not_compile", "refused"):
            require(not self.workloads and not self.faults, f"{self.verdict}: nothing was run")
        return self
