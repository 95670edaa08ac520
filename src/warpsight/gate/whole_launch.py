"""Hold a simulated time to the whole launch: the machine code runs in every block, and other blocks are timed.

The time model traces some blocks, of long blocks only the beginning, and takes them for the rest; which ones is no
secret. A kernel that does its work elsewhere would be given a time for no work. So before a kernel is called faster,
all blocks of the very machine code that was timed are run, and their outputs are what is verified; it is timed once
more with blocks that nobody could foresee; and what the blocks of either choice foretell is held against what the
launch did, in instructions, in memory sectors and in each pipe. Where it did more, or they took longer, the kernel is
charged with that, as one whose rows are honestly unequal is; where it is too much, the time is not the kernel's.
Not covered: passes through shared memory in the later part of a long block; how work that was not foretold is spread
over the blocks; where blocks wait for each other, they can be timed from the first only.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.device import CannotProfile, Value
from warpsight.devices.machine_code import machine_code, source_file, time_launch
from warpsight.devices.memory import lay_out
from warpsight.devices.virtual import VirtualGpu
from warpsight.nouns import Build, Fault
from warpsight.tasks import LaunchSize
from warpsight.vgpu import counters, machine, schedule
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.gpu import Gpu

MOST_BEYOND = 1.15
"""Real work over foretold work: blocks differ honestly, at the edges and by what they are given."""
MOST_CHARGED = 2.0
"""What a launch may be charged with, in claimed times; what would be charged with more has no time at all."""
LEAST_BUSY = 0.25
"""Other blocks may have more to do than most, and foretell more than there is; not more than four times that."""
LEAST_SHARE = 0.02
"""A kind of work that takes less of the launch than this may be missed."""
UNLIKE = "the blocks that were timed are not like the others"


@dataclass(frozen=True)
class WholeLaunch:
    """Every array after the machine code ran in all blocks, what went wrong, and how far the traces were off.

    `unlike` says in words where the blocks that were traced are not like the launch; `charge` is then what it is given,
    in claimed times, or None where no time can be given.
    """

    arrays: Mapping[str, np.ndarray]
    faults: tuple[Fault, ...]
    unlike: str = ""
    charge: float | None = 1.0


def run_whole(
    build: Build,
    entry: str,
    values: Sequence[Value],
    size: LaunchSize,
    device: VirtualGpu,
    *,
    claimed_us: float,
    seed: int,
) -> WholeLaunch:
    """Run all blocks of the machine code, and time others than those that were timed.

    `claimed_us` is the time that the blocks usually traced gave; `seed` is the secret that other blocks follow from.
    """
    code = machine_code(build.cubin, entry, source_file(build.ptx))
    if code.program is None or device.gpu is None:
        raise CannotProfile(f"there is no machine code to run: {code.reason}")
    program = code.program
    memory, params, arrays = lay_out(program, values)
    done = machine.launch(
        program,
        memory,
        grid=size.grid,
        block=size.block,
        params=params,
        dynamic_shared_bytes=size.shared_bytes,
        cores=device.cores,
        max_instructions=device.max_instructions,
        deadline_seconds=device.deadline_seconds,
    )
    if done.faults:
        return WholeLaunch(arrays, done.faults)
    shift = int(np.random.Generator(np.random.PCG64(seed)).integers(math.prod(size.grid)))
    timed = functools.partial(
        time_launch, program, build, device.gpu, values, size, deadline_seconds=device.deadline_seconds
    )
    other = timed(shift=shift)
    real = work_of(program, done.counts, device.gpu)
    kind, more = _unforetold(real, other.totals)
    longer, told = other.time_us * min(max(more, LEAST_BUSY), 1.0) / claimed_us, ""
    if more > MOST_BEYOND:  # these may be the ones with less to do
        usual = timed()
        kind, more = _unforetold(real, {kind: max(usual.totals[kind], other.totals[kind]) for kind in real})
    if longer > MOST_BEYOND:
        told += f"; {claimed_us:.2f} us, and {other.time_us:.2f} us from block {shift} on"
    if more > MOST_BEYOND:
        told += f"; {real[kind]:.0f} {kind} in all blocks, {real[kind] / more:.0f} foretold from those that were traced"
    charge = max(longer, 1.0) * max(more, 1.0) if told else 1.0
    return WholeLaunch(arrays, (), f"{UNLIKE}: {told[2:]}" if told else "", charge if charge <= MOST_CHARGED else None)


def work_of(program: Program, counts: NDArray[np.uint64], gpu: Gpu) -> dict[str, float]:
    """What a launch did, under the names that the time model foretells it by."""
    table = schedule.step_table(program, gpu)
    shown = np.array([bool(text) for text in program.texts])
    warps = counts[:, counters.INDEX["warps"]] * shown
    on_chip = {schedule.Kind.SHARED_LOAD, schedule.Kind.SHARED_STORE, schedule.Kind.SHARED_ATOMIC}
    outside = ~np.isin(table[:, 1], [int(kind) for kind in on_chip])
    found = {
        "instructions": float(warps.sum()),
        "sectors": float(counts[outside, counters.INDEX["sectors"]].sum()),
    }
    for pipe in schedule.Pipe:
        if pipe not in (schedule.Pipe.NONE, schedule.Pipe.MEMORY):
            there = table[:, 0] == int(pipe)
            found[pipe.name.lower()] = float(warps[there] @ table[there, 9].astype(np.float64))
    return found


def _unforetold(real: Mapping[str, float], foretold: Mapping[str, float]) -> tuple[str, float]:
    """The kind of work that there is most of beyond what was foretold, and how many times that."""
    least = LEAST_SHARE * max(real["instructions"], 1.0)
    beyond = {kind: real[kind] / max(foretold[kind], 1.0) for kind in real if real[kind] > least}
    return max(beyond.items(), key=lambda one: one[1], default=("instructions", 1.0))
