"""From what a profiler of Nsight Compute's family reported of one launch to a Profile in our vocabulary.

Shared by the readers of reports and of CSV, which know the files. What must stay true: every counter of the
vocabulary is either given or listed as not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warpsight.errors import UsageError
from warpsight.lens.ncu_instructions import totals
from warpsight.lens.vocabulary import Metric, from_metrics, tidy, vocabulary
from warpsight.nouns import InstructionCounters, LineCounters, Profile
from warpsight.vgpu.gpus import find_gpu

BUSY_ENOUGH = 60.0
"""A resource taken for this share of the time binds the kernel; the same as in the time model."""
SAMPLES = "smsp__pcsamp_sample_count"
STALLED = "smsp__pcsamp_warps_issue_stalled_"


@dataclass(frozen=True)
class MeasuredLaunch:
    """One launch as a report tells it.

    `measured` says what is known of each instruction; `source` is the kernel's file, where the report carries it.
    """

    kernel: str
    device: str
    metrics: Mapping[str, Metric]
    blocks: int | None = None
    instructions: tuple[InstructionCounters, ...] = ()
    measured: frozenset[str] = frozenset()
    source: Sequence[str] = ()
    notes: tuple[str, ...] = field(default=())


def choose(kernels: Sequence[str], wanted: str | int | None, file: str) -> tuple[int, tuple[str, ...]]:
    """Which launch is meant, and what to note about that. A name means the first launch of it, and so does a part of
    one that no other kernel has."""
    listed = "; ".join(f"{index}: {name}" for index, name in enumerate(kernels[:20]))
    if wanted is None:
        if len(kernels) == 1:
            return 0, ()
        raise UsageError(f"{file} has {len(kernels)} kernels, expected which one", f"--kernel-name, of {listed}")
    named = [index for index, name in enumerate(kernels) if wanted in (name, plain_name(name))]
    if not named and not str(wanted).isdecimal():
        parts = [index for index, name in enumerate(kernels) if str(wanted) in plain_name(name)]
        named = parts if len({kernels[index] for index in parts}) == 1 else []
    if named:
        more = f"{file} has {len(named)} launches of {kernels[named[0]]}; this is the first, index {named[0]}"
        return named[0], (more,) if len(named) > 1 else ()
    index = int(wanted) if str(wanted).isdecimal() else -1
    if not 0 <= index < len(kernels):
        raise UsageError(f"{file} has no kernel `{wanted}`", f"one of {listed}")
    return index, ()


def plain_name(kernel: str) -> str:
    """`ns::axpy<float>` of `void ns::axpy<float>(float *, int)`: without type and arguments."""
    depth = 0
    for at in range(len(kernel) - 1, 0, -1) if kernel.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(kernel[at], 0)
        if depth == 0:
            return kernel[:at].removeprefix("void ")
    return kernel.removeprefix("void ")


def make_profile(launch: MeasuredLaunch) -> Profile:
    """The launch in our vocabulary, with what was not measured."""
    entries = vocabulary()
    kernel_wide = [entry for entry in entries.values() if entry.scope == "kernel"]
    counters = {
        entry.name: value for entry in kernel_wide if (value := from_metrics(entry, launch.metrics)) is not None
    }
    if launch.instructions:
        exact = totals(launch.instructions, launch.measured)
        counters |= {entry.name: exact[entry.name] for entry in kernel_wide if entry.name in exact}
    counters |= _branch_efficiency(counters)
    ordered = {entry.name: counters[entry.name] for entry in kernel_wide if entry.name in counters}
    unknown = ("the report does not say how many blocks the launch has",) if launch.blocks is None else ()
    return Profile(
        kernel=launch.kernel,
        device=launch.device,
        source="measured",
        isa="sass",
        gpu=_known_gpu(launch.device),
        bound=_bound(ordered),
        notes=(*launch.notes, *unknown, *_other_stalls(launch.metrics)),
        counters=ordered,
        units={entry.name: entry.unit for entry in entries.values()},
        lines=_lines(launch),
        instructions=launch.instructions,
        sampled_blocks=launch.blocks or 1,
        total_blocks=launch.blocks or 1,
        not_measured=tuple(entry.name for entry in kernel_wide if entry.name not in ordered),
    )


def _branch_efficiency(counters: Mapping[str, int | float]) -> dict[str, int | float]:
    if "branches" not in counters:
        return {}
    branches = counters["branches"]
    if not branches:
        return {"branches_divergent": 0, "branch_efficiency": 100.0}
    if "branches_divergent" not in counters:
        return {}
    return {"branch_efficiency": tidy(100 * (branches - counters["branches_divergent"]) / branches)}


def _bound(counters: Mapping[str, int | float]) -> str:
    """The busiest resource, or latency when none is busy enough; nothing when the report has too few to tell."""
    labels = {entry.name: entry.label for entry in vocabulary().values() if entry.label is not None}
    busy = {name: counters[name] for name in labels if name in counters}
    if not busy:
        return ""
    most = max(busy, key=lambda name: busy[name])
    if busy[most] >= BUSY_ENOUGH:
        return labels[most]
    return "latency" if {"busy_issue", "busy_dram", "busy_l2"} <= busy.keys() else ""


def _other_stalls(metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """Stall reasons that our vocabulary has no word for are not lost."""
    whole = metrics[SAMPLES].value if SAMPLES in metrics else 0
    named = {name: metric.value for name, metric in metrics.items() if name.startswith(STALLED)}
    ours = {f"{STALLED}{name.removeprefix('stall_')}" for name in vocabulary()}
    other = {
        name.removeprefix(STALLED): 100 * value / whole
        for name, value in named.items()
        if whole and name not in ours and not name.endswith("_not_issued") and value / whole >= 0.01
    }
    ordered = sorted(other.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{name} {share:.1f} %" for name, share in ordered)
    return (f"stall samples for reasons that the vocabulary does not have: {listed}",) if listed else ()


def _known_gpu(device: str) -> str:
    try:
        return find_gpu(device).key
    except UsageError:
        return ""  # a GPU without a data sheet: its name stands in `device`


def _lines(launch: MeasuredLaunch) -> tuple[LineCounters, ...]:
    by_line: dict[int, list[InstructionCounters]] = {}
    for instruction in launch.instructions:
        if instruction.line is not None and instruction.counters.get("warps"):
            by_line.setdefault(instruction.line, []).append(instruction)
    return tuple(
        LineCounters(
            line=line,
            text=launch.source[line - 1].strip() if line <= len(launch.source) else "",
            counters={name: value for name, value in totals(by_line[line], launch.measured).items() if value},
        )
        for line in sorted(by_line)
    )
