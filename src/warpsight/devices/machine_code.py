"""The machine-code side of the virtual GPU: a build's SASS as a program, and the simulated time of a launch of it.

A form of machine code that we do not read is no error: the caller falls back to PTX counts, has no time, and says why.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.device import CHECK_FIRST, CannotProfile, Value
from warpsight.devices.memory import lay_out
from warpsight.errors import ToolchainError, UnsupportedInstruction
from warpsight.nouns import Build, Fault
from warpsight.tasks import LaunchSize
from warpsight.toolchain.sass import disassemble, disassemble_ahead
from warpsight.vgpu import machine, schedule
from warpsight.vgpu.bytecode import OPS, Program
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.model_error import time_interval
from warpsight.vgpu.sample import Tracer
from warpsight.vgpu.timemodel import STEP_BUDGET, PredictedTime, predict

LIKELY = 0.9
"""The share of measured times that lie in the likely range of a simulated one."""
RANGE = ("duration_us_low", "duration_us_high")


@dataclass(frozen=True)
class MachineCode:
    """The SASS program of a kernel, or why there is none."""

    program: Program | None
    reason: str = ""


@functools.lru_cache(maxsize=64)
def machine_code(cubin: bytes, entry: str, file: str = "kernel.cu") -> MachineCode:
    """The machine code of one kernel; `file` is the source whose lines count. Kept, since it is asked for often."""
    from warpsight.vgpu.sass import load_sass  # here: a check runs PTX alone

    try:
        program = load_sass(disassemble(cubin, name=file), cubin, entry)
        machine.load(program)
    except (UnsupportedInstruction, ToolchainError) as refused:
        return MachineCode(None, refused.message)
    return MachineCode(program)


def decode_ahead(builds: Iterable[Build]) -> None:
    """Have the machine code of many builds read by one process; `machine_code` then finds it."""
    cubins: dict[str, list[bytes]] = {}
    for build in builds:
        if build.ok and build.cubin:
            cubins.setdefault(source_file(build.ptx), []).append(build.cubin)
    for name, some in cubins.items():
        disassemble_ahead(some, name=name)


def source_file(ptx: str) -> str:
    """The name under which a build's own source was compiled."""
    found = re.search(r'^\s*\.file\s+1\s+"(?:[^"]*/)?([^"/]+)"', ptx, re.MULTILINE)
    return found[1] if found else "kernel.cu"


def time_launch(
    program: Program,
    build: Build,
    gpu: Gpu,
    values: Sequence[Value],
    size: LaunchSize,
    *,
    deadline_seconds: float = 600.0,
    step_budget: int = STEP_BUDGET,
    without: Sequence[str] = (),
    constants: Constants = PUBLISHED,
) -> PredictedTime:
    """A draft of the simulated time on `gpu`, from a few blocks run by themselves; `without` leaves terms out."""

    def run(blocks: Sequence[int], max_steps: int) -> machine.Launched:
        memory, params, _ = lay_out(program, values, read_in_place=True)
        return machine.launch(
            program,
            memory,
            grid=size.grid,
            block=size.block,
            params=params,
            dynamic_shared_bytes=size.shared_bytes,
            blocks=blocks,
            max_trace_steps=max_steps,
            deadline_seconds=deadline_seconds,
        )

    return predict(
        program,
        gpu,
        faultless(run),
        step_budget=step_budget,
        without=without,
        constants=constants,
        **launch_sizes(program, build, values, size),
    )


def no_time_for(program: Program) -> str:
    """What the program does that nobody published the cost of, in words; nothing where all of it can be timed."""
    if OPS["MALLOC"].number in program.code["op"]:
        return "there is no time: the kernel calls malloc, and nobody published what that takes on a GPU"
    return ""


def faultless(run: Tracer) -> Tracer:
    def traced(blocks: Sequence[int], max_steps: int) -> machine.Launched:
        done = run(blocks, max_steps)
        if done.faults:
            raise FaultInLaunch(done.faults[0])
        return done

    return traced


class FaultInLaunch(CannotProfile):
    """The kernel faulted while it was run for its time."""

    def __init__(self, fault: Fault, launch: int = 1) -> None:
        where = f" in launch {launch} of a loaded module" if launch > 1 else ""
        what = f"{fault.kind} at line {fault.line}{where}: {fault.message}"
        super().__init__(f"the kernel faulted while it was traced: {what}", hint=CHECK_FIRST)
        self.fault = fault


class Sizes(TypedDict):
    blocks: machine.Dim3
    threads: int
    registers: int
    shared_bytes: int
    array_bytes: int


def launch_sizes(program: Program, build: Build, values: Sequence[Value], size: LaunchSize) -> Sizes:
    usage = next(e for e in build.entries if e.name == program.entry)
    return {
        "blocks": size.grid,
        "threads": math.prod(size.block),
        "registers": usage.registers,
        "shared_bytes": usage.shared_bytes + size.shared_bytes,
        "array_bytes": sum(v.array.nbytes for v in values if not v.is_scalar),
    }


TIME_UNITS = {
    "duration_us": "us",
    "duration_us_low": "us",
    "duration_us_high": "us",
    "duration_us_at_base_clock": "us",
    "cycles": "cycles",
    "occupancy": "%",
    "waves": "waves",
    "issued_per_cycle": "instructions/cycle",
    "l1_hit_rate": "%",
    "l2_bytes": "bytes",
    "dram_bytes": "bytes",
    "stall_samples": "samples",
    **{
        f"busy_{name}": "%" for name in ("issue", "fma", "alu", "sfu", "fp64", "tensor", "lsu", "l2", "dram", "atomics")
    },
    **{f"stall_{name}": "%" for name in schedule.STALLS},
}
_SHARES = {
    "issue slots": "issue",
    "FP32/IMAD pipe": "fma",
    "integer pipe": "alu",
    "special-function pipe": "sfu",
    "FP64 pipe": "fp64",
    "tensor pipe": "tensor",
    "load/store unit": "lsu",
    "L2 bandwidth": "l2",
    "DRAM bandwidth": "dram",
    "atomics on one address": "atomics",
}


def time_counters(p: PredictedTime) -> dict[str, int | float]:
    """A prediction as counters of a profile."""
    low, high = time_interval(p.time_us, p.bound, LIKELY)
    found: dict[str, int | float] = {
        "duration_us": round(p.time_us, 3),
        "duration_us_low": round(low, 3),
        "duration_us_high": round(high, 3),
        "duration_us_at_base_clock": round(p.time_us_base, 3),
        "cycles": round(p.cycles),
        "occupancy": round(100.0 * p.occupancy.fraction, 1),
        "waves": round(p.waves, 2),
        "issued_per_cycle": round(p.issued_per_cycle, 3),
        "l1_hit_rate": round(100.0 * p.l1_hit_rate, 1),
        "l2_bytes": round(p.l2_bytes),
        "dram_bytes": round(p.dram_bytes),
    }
    found |= {f"busy_{short}": round(100.0 * p.shares[name], 1) for name, short in _SHARES.items()}
    found |= {f"stall_{name}": round(100.0 * share, 1) for name, share in p.stall_share.items()}
    return found


def stall_samples(p: PredictedTime) -> NDArray[np.uint64]:
    """Samples in which a warp stood at each instruction without issuing it."""
    issued = schedule.STALLS.index("selected")
    return p.stalls.sum(axis=1) - p.stalls[:, issued]
