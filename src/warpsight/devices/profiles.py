"""From counts, and a simulated time where there is one, to a Profile: of the kernel, each line, each instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.machine_code import TIME_UNITS, stall_samples, time_counters
from warpsight.nouns import HOST_CODE_NOTE, Build, InstructionCounters, LineCounters, Profile
from warpsight.tasks import LaunchSize
from warpsight.vgpu import counters
from warpsight.vgpu.bytecode import Flag, Program
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US, PredictedTime

LAUNCH_UNITS = {
    "blocks": "blocks",
    "threads_per_block": "threads",
    "registers_per_thread": "registers",
    "static_shared_bytes": "bytes",
    "dynamic_shared_bytes": "bytes",
    "spilled_bytes": "bytes",
    "multiprocessors": "SMs",
    "launch_overhead_us": "us",
}
"""What is known of a launch before it runs; of the GPU only when it is of a known kind."""
NOT_TIMED = ("duration_us", "dram_bytes", "l1_hit_rate", "occupancy", "stall_samples")


@dataclass(frozen=True)
class CountedBlocks:
    """What ran: the counts of `run` of `total` blocks, and what is known of the launch (`launch_counters`)."""

    program: Program
    counts: NDArray[np.uint64]
    run: int
    total: int
    launch: Mapping[str, int] = field(default_factory=dict[str, int])


def launch_counters(build: Build, entry: str, size: LaunchSize, gpu: Gpu | None) -> dict[str, int]:
    """The size of a launch, what its kernel uses and what the GPU has, as counters."""
    use = next(use for use in build.entries if use.name == entry)
    there = {} if gpu is None else {"multiprocessors": gpu.sms}
    return there | {
        "blocks": size.grid[0] * size.grid[1] * size.grid[2],
        "threads_per_block": size.block[0] * size.block[1] * size.block[2],
        "registers_per_thread": use.registers,
        "static_shared_bytes": use.shared_bytes,
        "dynamic_shared_bytes": size.shared_bytes,
        "spilled_bytes": use.spill_store_bytes + use.spill_load_bytes,
    }


def make_profile(
    counted: CountedBlocks,
    source_text: str,
    device: str,
    time: PredictedTime | None = None,
    notes: tuple[str, ...] = (),
) -> Profile:
    """Counters are scaled when only some blocks ran; with a time there are its counters too."""
    program = counted.program
    selector = counters.Selector.of(program)
    partial = counted.run != counted.total
    scaled = np.rint(counted.counts * (counted.total / counted.run)).astype(np.uint64) if partial else counted.counts
    visible = (program.code["flags"] & Flag.HIDDEN) == 0
    stalls = None if time is None else stall_samples(time)
    raw = {info.name: info.unit for info in counters.RAW}
    whole = counters.derive(selector, scaled)
    whole |= counted.launch
    if time is not None:
        whole |= {"launch_overhead_us": LAUNCH_OVERHEAD_US} | time_counters(time)
    return Profile(
        kernel=program.entry,
        device=device,
        source="simulated",
        isa="sass" if program.isa == "sass" else "ptx",
        gpu="" if time is None else time.gpu,
        bound="" if time is None else time.bound,
        notes=notes + (() if time is None else time.notes),
        counters=whole,
        units=counters.UNITS | raw | LAUNCH_UNITS | TIME_UNITS,
        lines=_lines(program, selector, scaled, visible, stalls, source_text.splitlines()),
        instructions=_instructions(program, scaled, visible, stalls),
        sampled_blocks=counted.run,
        total_blocks=counted.total,
        not_measured=NOT_TIMED if time is None else (),
    )


def with_trust(profile: Profile, build: Build) -> Profile:
    """The profile, trusted as far as the program it is of; a lower trust is told in its notes too."""
    if build.trust == "kernel":
        return profile
    return profile.model_copy(update={"trust": build.trust, "notes": (*profile.notes, HOST_CODE_NOTE)})


def _lines(
    program: Program,
    selector: counters.Selector,
    scaled: NDArray[np.uint64],
    visible: NDArray[np.bool_],
    stalls: NDArray[np.uint64] | None,
    text: list[str],
) -> tuple[LineCounters, ...]:
    executed = scaled[:, counters.INDEX["warps"]] > 0
    lines: list[LineCounters] = []
    for line in sorted({int(n) for n in program.lines[executed & visible] if n > 0}):
        there = program.lines == line
        found = counters.derive(selector, scaled, there)
        if stalls is not None:
            found["stall_samples"] = int(stalls[there].sum())
        words = text[line - 1].strip() if line <= len(text) else ""
        lines.append(LineCounters(line=line, text=words, counters={k: v for k, v in found.items() if v}))
    return tuple(lines)


def _instructions(
    program: Program, scaled: NDArray[np.uint64], visible: NDArray[np.bool_], stalls: NDArray[np.uint64] | None
) -> tuple[InstructionCounters, ...]:
    rows: list[InstructionCounters] = []
    for i in np.flatnonzero(visible).tolist():
        found = {info.name: int(v) for info, v in zip(counters.RAW, scaled[i], strict=True) if v}
        if stalls is not None and stalls[i]:
            found["stall_samples"] = int(stalls[i])
        line = int(program.lines[i]) or None
        rows.append(InstructionCounters(index=i, text=program.texts[i], line=line, counters=found))
    return tuple(rows)
