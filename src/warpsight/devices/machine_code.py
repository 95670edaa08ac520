"""The machine-code side of the virtual GPU: a build's SASS as a program, and the simulated time of a launch of it.

A form of machine code that we do not read is no error: the caller falls back to PTX counts, has no time, and says why.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.device import CHECK_FIRST, CannotProfile, Value
from warpsight.devices.memory import lay_out
from warpsight.errors import ToolchainError, UnsupportedInstruction
from warpsight.nouns import Build, Fault
from warpsight.tasks import LaunchSize
from warpsight.toolchain.sass import disassemble
from warpsight.vgpu import machine, schedule
from warpsight.vgpu.bytecode import OPS, Program
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.model_error import time_interval
from warpsight.vgpu.occupancy import occupancy
from warpsight.vgpu.sample import Tracer
from warpsight.vgpu.sass import load_sass
from warpsight.vgpu.timemodel import STEP_BUDGET, WHOLE_STEP_BUDGET, Prediction, predict

MOST_WATCHED_BLOCKS = 1 << 24
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
    try:
        program = load_sass(disassemble(cubin, name=file), cubin, entry)
        machine.load(program)
    except (UnsupportedInstruction, ToolchainError) as refused:
        return MachineCode(None, refused.message)
    return MachineCode(program)


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
) -> Prediction:
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
        _faultless(run),
        step_budget=step_budget,
        without=without,
        constants=constants,
        **_sizes(program, build, values, size),
    )


def no_time_for(program: Program) -> str:
    """What the program does that nobody published the cost of, in words; nothing where all of it can be timed."""
    if OPS["MALLOC"].number in program.code["op"]:
        return "there is no time: the kernel calls malloc, and nobody published what that takes on a GPU"
    return ""


@dataclass(frozen=True)
class WholeLaunch:
    """The complete run of a launch: its arrays afterwards, what each instruction did, and its simulated time."""

    arrays: Mapping[str, np.ndarray]
    launched: machine.Launched
    time: Prediction


def time_whole_launch(
    program: Program,
    build: Build,
    gpu: Gpu,
    values: Sequence[Value],
    size: LaunchSize,
    *,
    seed: int,
    cores: int | None = None,
    max_instructions: int = machine.DEFAULT_INSTRUCTIONS,
    deadline_seconds: float = 600.0,
    without: Sequence[str] = (),
    constants: Constants = PUBLISHED,
) -> WholeLaunch:
    """The simulated time from the complete run of all blocks; `seed` says which of them are traced.

    A kernel that faults raises CannotProfile.
    """
    if math.prod(size.grid) > MOST_WATCHED_BLOCKS:
        raise CannotProfile(f"a launch of {math.prod(size.grid)} blocks; at most {MOST_WATCHED_BLOCKS} are timed whole")
    sizes = _sizes(program, build, values, size)
    fits = occupancy(gpu, sizes["threads"], sizes["registers"], sizes["shared_bytes"])
    clocks = np.ascontiguousarray(schedule.step_table(program, gpu, constants)[:, schedule.INTERVAL])
    last: list[tuple[Mapping[str, np.ndarray], machine.Launched]] = []

    def run(traced: Sequence[int], max_steps: int) -> machine.Launched:
        memory, params, arrays = lay_out(program, values, read_in_place=True)
        done = machine.launch(
            program,
            memory,
            grid=size.grid,
            block=size.block,
            params=params,
            dynamic_shared_bytes=size.shared_bytes,
            cores=cores,
            max_instructions=max_instructions,
            max_trace_steps=max_steps,
            traced=traced,
            pipe_clocks=clocks,
            concurrent=gpu.sms * max(1, fits.blocks_per_sm),
            # Who exchanges on condition must first see what the last one left: a way to L2 and back.
            swap_passes=max(1, round(gpu.latency_l2 / schedule.atomic_clocks(program, constants))),
            deadline_seconds=deadline_seconds,
        )
        last[:] = [(arrays, done)]
        return done

    time = predict(
        program,
        gpu,
        _faultless(run),
        whole_seed=seed,
        step_budget=WHOLE_STEP_BUDGET,
        without=without,
        constants=constants,
        **sizes,
    )
    arrays, done = last[0]
    return WholeLaunch(arrays, done, time)


def _faultless(run: Tracer) -> Tracer:
    def traced(blocks: Sequence[int], max_steps: int) -> machine.Launched:
        done = run(blocks, max_steps)
        if done.faults:
            raise FaultInLaunch(done.faults[0])
        return done

    return traced


class FaultInLaunch(CannotProfile):
    """The kernel faulted while it was run for its time."""

    def __init__(self, fault: Fault) -> None:
        what = f"{fault.kind} at line {fault.line}: {fault.message}"
        super().__init__(f"the kernel faulted while it was traced: {what}", hint=CHECK_FIRST)
        self.fault = fault


class _Sizes(TypedDict):
    blocks: machine.Dim3
    threads: int
    registers: int
    shared_bytes: int
    array_bytes: int


def _sizes(program: Program, build: Build, values: Sequence[Value], size: LaunchSize) -> _Sizes:
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


def time_counters(p: Prediction) -> dict[str, int | float]:
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


def stall_samples(p: Prediction) -> NDArray[np.uint64]:
    """Samples in which a warp stood at each instruction without issuing it."""
    issued = schedule.STALLS.index("selected")
    return p.stalls.sum(axis=1) - p.stalls[:, issued]
