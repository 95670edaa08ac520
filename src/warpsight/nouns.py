"""The records that travel between the parts: frozen, typed, with the unit in the name.

Validation only, no behaviour: verbs are functions in the folders that own them. What must stay true: a combination
that makes no sense (PTX of a failed build, a time of a wrong kernel) cannot be built, and every record survives
`model_validate_json(record.model_dump_json())` unchanged, infinities and binary included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128)]
TaskName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
GpuArch = Annotated[str, StringConstraints(pattern=r"^(sm|compute)_[0-9]{2,3}[af]?$")]
Count = Annotated[int, Field(ge=0)]
Dim3 = tuple[int, int, int]
Number = int | float | str  # a str is an expression over the axes
Source = Literal["measured", "simulated", "replayed"]
DType = Literal[
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"
]
Fill = Literal["normal", "uniform", "integers", "index", "permutation", "csr_rows", "zeros", "ones"]


class Noun(BaseModel):
    """What all records share: they do not change and have no unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="strings"
    )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


# ---------------------------------------------------------------------------------------------- task and candidate


class Axis(Noun):
    """A named size. Every workload gives it one value inside these bounds."""

    name: Identifier
    min: int = Field(default=1, ge=0)
    max: int = Field(default=2**31 - 1, ge=0)
    multiple_of: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        _require(self.min <= self.max, f"axis {self.name}: min {self.min} is greater than max {self.max}")
        return self


class Argument(Noun):
    """One parameter of the kernel, in call order. `fill`, `low` and `high` say how inputs are generated.

    `high` is exclusive for integers and indices, and the last row pointer for csr_rows.
    """

    name: Identifier
    dtype: DType
    role: Literal["in", "out", "inout", "scalar"]
    shape: tuple[str, ...] = ()
    value: Number | None = None
    fill: Fill | None = None
    low: Number | None = None
    high: Number | None = None

    @model_validator(mode="after")
    def _shape_and_value_fit_the_role(self) -> Self:
        if self.role == "scalar":
            _require(self.shape == (), f"argument {self.name}: a scalar has no shape, found {list(self.shape)}")
            _require(self.value is not None, f"argument {self.name}: a scalar needs a value")
        else:
            _require(self.shape != (), f"argument {self.name}: role {self.role!r} needs a shape, a list of expressions")
            _require(self.value is None, f"argument {self.name}: only scalars have a value")
        if self.role in ("out", "scalar"):
            given = [key for key in ("fill", "low", "high") if getattr(self, key) is not None]
            _require(not given, f"argument {self.name}: role {self.role!r} takes no {', '.join(given)}")
        return self


class Tolerance(Noun):
    """An element is right when |got - expected| <= atol + rtol * |expected|. Integers are compared exactly."""

    rtol: float = Field(ge=0, allow_inf_nan=False)
    atol: float = Field(ge=0, allow_inf_nan=False)


class Workload(Noun):
    """One size of the problem. Hidden ones are never shown to a model; `profile` marks the one that is profiled."""

    name: TaskName
    axes: Mapping[str, int]
    hidden: bool = False
    profile: bool = False

    @model_validator(mode="after")
    def _profiled_is_visible(self) -> Self:
        _require(not (self.hidden and self.profile), f"workload {self.name}: a profiled workload cannot be hidden")
        return self


class Launch(Noun):
    """Grid, block and dynamic shared bytes as expressions over the axes."""

    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared: str = "0"


class Candidate(Noun):
    """One kernel text. Its launch and options were read from its own first lines."""

    source: str
    launch: Launch
    options: tuple[str, ...] = ()
    sha256: Sha256

    @model_validator(mode="after")
    def _hash_is_of_the_source(self) -> Self:
        found = hashlib.sha256(self.source.encode()).hexdigest()
        _require(self.sha256 == found, f"sha256 is not that of the source: given {self.sha256}, computed {found}")
        return self


class Task(Noun):
    """A kernel to make faster: what it computes, on what, how exactly. `kernel` and `reference` are texts."""

    name: TaskName
    description: str
    folder: Path
    kernel_file: str
    kernel: str
    entry: Identifier
    reference_file: str
    reference: str
    gpu: str
    gpu_arch: GpuArch
    axes: tuple[Axis, ...]
    arguments: tuple[Argument, ...]
    tolerance: Tolerance
    workloads: tuple[Workload, ...]


# ------------------------------------------------------------------------------------------------------------ build


class Diagnostic(Noun):
    """One message of the compiler, at a line of the kernel where known."""

    severity: Literal["error", "warning", "note"]
    file: str
    line: int | None
    column: int | None
    message: str


class EntryUsage(Noun):
    """What one entry of the program needs of the machine, as the assembler reports it."""

    name: str
    registers: Count
    spill_store_bytes: Count
    spill_load_bytes: Count
    shared_bytes: Count
    local_bytes: Count
    const_bytes: Count
    barriers: Count = 0


class Build(Noun):
    """A compile, good or bad. A failed one has diagnostics and a log, and no program."""

    ok: bool
    source_sha256: Sha256
    gpu_arch: GpuArch
    options: tuple[str, ...]
    compiler: str
    ptx: str
    cubin: bytes
    entries: tuple[EntryUsage, ...]
    diagnostics: tuple[Diagnostic, ...]
    log: str
    cached: bool = False

    @model_validator(mode="after")
    def _program_only_if_ok(self) -> Self:
        if self.ok:
            _require(self.ptx != "", "a good build has PTX")
            _require(all(d.severity != "error" for d in self.diagnostics), "a good build has no error diagnostics")
        else:
            _require(
                self.ptx == "" and self.cubin == b"" and self.entries == (),
                "a failed build has no PTX, no cubin and no entries",
            )
        return self


class SassInstruction(Noun):
    """One machine instruction: its words, its text, and the kernel line it came from."""

    function: str
    address: Count
    text: str
    word_lo: Count
    word_hi: Count
    line: int | None


# ------------------------------------------------------------------------------------------------------------ check


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
        _require(self.wrong_elements <= self.total_elements, "more wrong elements than elements")
        if self.ok:
            _require(self.wrong_elements == 0 and self.reason == "", "an ok workload has no wrong element, no reason")
        else:
            _require(self.reason != "", "a workload that is not ok names its reason")
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
            _require(len(self.workloads) > 0, "right needs at least one workload that was run")
            _require(all(w.ok for w in self.workloads) and not self.faults, "right has no failed workload, no fault")
        else:
            _require(self.reason != "", f"verdict {self.verdict} names its reason")
        if self.verdict == "wrong":
            _require(any(not w.ok for w in self.workloads), "wrong needs a workload that failed")
        if self.verdict == "fault":
            _require(len(self.faults) > 0, "fault needs a fault")
        if self.verdict in ("does_not_compile", "refused"):
            _require(not self.workloads and not self.faults, f"{self.verdict}: nothing was run")
        return self


# ------------------------------------------------------------------------------------------------ timing and profile


class Timing(Noun):
    """Times of a candidate and, where compared, of its baseline in interleaved pairs. ratio > 1 is faster."""

    source: Source
    device: str
    method: str
    samples_us: tuple[float, ...] = Field(min_length=1)
    baseline_us: tuple[float, ...] = ()
    ratio: float | None = Field(default=None, gt=0)
    interval: tuple[float, float] | None = None
    decision: Literal["FASTER", "SLOWER", "SAME", "AMBIGUOUS", "REJECTED"] | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _comparison_is_whole(self) -> Self:
        _require(all(t > 0 for t in (*self.samples_us, *self.baseline_us)), "times are greater than zero")
        compared = (self.ratio is not None, self.interval is not None, self.decision is not None)
        _require(all(compared) or not any(compared), "ratio, interval and decision come together")
        _require(not any(compared) or len(self.baseline_us) > 0, "a comparison needs baseline samples")
        if self.interval is not None and self.ratio is not None:
            low, high = self.interval
            _require(low <= self.ratio <= high, f"ratio {self.ratio} is outside its interval {low}..{high}")
        if self.decision == "REJECTED":
            _require(self.reason != "", "a rejected timing names its reason")
        return self


class LineCounters(Noun):
    """Counters of one line of the kernel source."""

    line: int
    text: str
    counters: Mapping[str, int | float]


class InstructionCounters(Noun):
    """Counters of one instruction of the program."""

    index: Count
    text: str
    line: int | None
    counters: Mapping[str, int | float]


class Profile(Noun):
    """Counters of one launch, in one vocabulary, and what was NOT measured.

    `gpu` and `bound` are set when there is a time: on which GPU, and the resource that limits it.
    """

    kernel: str
    device: str
    source: Source
    isa: Literal["ptx", "sass"] = "ptx"
    gpu: str = ""
    bound: str = ""
    notes: tuple[str, ...] = ()
    counters: Mapping[str, int | float]
    units: Mapping[str, str]
    lines: tuple[LineCounters, ...] = ()
    instructions: tuple[InstructionCounters, ...] = ()
    sampled_blocks: int = Field(ge=1)
    total_blocks: int = Field(ge=1)
    not_measured: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _every_number_has_a_unit(self) -> Self:
        _require(self.sampled_blocks <= self.total_blocks, "more sampled blocks than blocks")
        parts = (self.counters, *(p.counters for p in self.lines), *(p.counters for p in self.instructions))
        missing = sorted({name for part in parts for name in part} - set(self.units))
        _require(not missing, f"counters without a unit: {', '.join(missing)}")
        both = sorted(set(self.counters) & set(self.not_measured))
        _require(not both, f"counters that are given and not measured: {', '.join(both)}")
        return self


class Evidence(Noun):
    """One counter that a finding rests on."""

    counter: str
    value: float
    unit: str
    limit: float | None = None
    line: int | None = None


class Finding(Noun):
    """What is slow, why we say so, what to try, and which counters should move if it works."""

    name: str
    message: str
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    estimated_gain: float | None = Field(default=None, ge=1)
    suggestion: str
    should_move: Mapping[str, Literal["up", "down"]] = Field(default_factory=dict)


class Evaluation(Noun):
    """All that is known of a candidate. Rewards and reports are pure functions of it."""

    candidate_sha256: Sha256
    check: Check
    timing: Timing | None = None
    profile: Profile | None = None
    findings: tuple[Finding, ...] = ()

    @model_validator(mode="after")
    def _only_right_kernels_are_timed(self) -> Self:
        if self.check.verdict != "right":
            _require(self.timing is None, f"a kernel whose check says {self.check.verdict} has no timing")
        if self.findings:
            _require(self.profile is not None, "findings need the profile they were found in")
        return self


# -------------------------------------------------------------------------------------------------------------- run


class Step(Noun):
    """One entry of a transcript, as the model saw it. Large things are artefacts, by hash."""

    index: Count
    kind: Literal["system", "user", "assistant", "call", "result"]
    content: str
    tool: str | None = None
    call_id: str | None = None
    artefacts: tuple[Sha256, ...] = ()

    @model_validator(mode="after")
    def _calls_name_their_tool(self) -> Self:
        is_call = self.kind in ("call", "result")
        _require(
            is_call == (self.tool is not None) and is_call == (self.call_id is not None),
            "calls and results, and only they, have tool and call_id",
        )
        return self


class Run(Noun):
    """One attempt at a task. Steps are only appended; the outcome is set when it ends."""

    id: str
    task: TaskName
    model: str
    device: str
    started_at: str
    steps: tuple[Step, ...] = ()
    outcome: Literal["submitted", "budget_spent", "gave_up", "broken"] | None = None
    submitted: Evaluation | None = None

    @model_validator(mode="after")
    def _steps_in_order_and_outcome_fits(self) -> Self:
        _require([s.index for s in self.steps] == list(range(len(self.steps))), "steps are numbered 0, 1, 2, ...")
        if self.submitted is not None:
            _require(self.outcome == "submitted", f"an evaluation was submitted, but the outcome is {self.outcome}")
        return self
