"""The records that travel between the parts: frozen, typed, with the unit in the name.

Validation only, no behaviour: verbs are functions in the folders that own them. What must stay true: a combination
that makes no sense (PTX of a failed build, a time of a wrong kernel) cannot be built, and every record survives
`model_validate_json(record.model_dump_json())` unchanged, infinities and binary included.
"""

from __future__ import annotations

from warpsight.nouns.base import (
    HOST_CODE_NOTE,
    Count,
    Dim3,
    Fill,
    GpuArch,
    Identifier,
    Language,
    Noun,
    Number,
    Sha256,
    Source,
    TaskName,
    Trust,
)
from warpsight.nouns.build import (
    Build,
    Diagnostic,
    EntryUsage,
    SassInstruction,
)
from warpsight.nouns.check import (
    REASONS,
    Check,
    Fault,
    SkippedFamily,
    WorkloadResult,
    WorstElement,
)
from warpsight.nouns.dtypes import DType
from warpsight.nouns.evaluation import (
    Evaluation,
)
from warpsight.nouns.finding import (
    Evidence,
    Finding,
    WhatIfTime,
)
from warpsight.nouns.profile import (
    InstructionCounters,
    LineCounters,
    Profile,
)
from warpsight.nouns.program import (
    KernelLaunches,
    LibraryCalls,
    ProgramCopies,
    ProgramEnd,
    ProgramFault,
    ProgramSpeedup,
    TimelineEvent,
    WholeRun,
)
from warpsight.nouns.run import (
    Run,
    Step,
)
from warpsight.nouns.task import (
    Argument,
    Axis,
    Candidate,
    Captured,
    Launch,
    Task,
    Tolerance,
    Workload,
    kernel_id,
)
from warpsight.nouns.timing import (
    Timing,
)

__all__ = [
    "HOST_CODE_NOTE",
    "REASONS",
    "Argument",
    "Axis",
    "Build",
    "Candidate",
    "Captured",
    "Check",
    "Count",
    "DType",
    "Diagnostic",
    "Dim3",
    "EntryUsage",
    "Evaluation",
    "Evidence",
    "Fault",
    "Fill",
    "Finding",
    "GpuArch",
    "Identifier",
    "InstructionCounters",
    "KernelLaunches",
    "Language",
    "Launch",
    "LibraryCalls",
    "LineCounters",
    "Noun",
    "Number",
    "Profile",
    "ProgramCopies",
    "ProgramEnd",
    "ProgramFault",
    "ProgramSpeedup",
    "Run",
    "SassInstruction",
    "Sha256",
    "SkippedFamily",
    "Source",
    "Step",
    "Task",
    "TaskName",
    "TimelineEvent",
    "Timing",
    "Tolerance",
    "Trust",
    "WhatIfTime",
    "WholeRun",
    "Workload",
    "WorkloadResult",
    "WorstElement",
    "kernel_id",
]
