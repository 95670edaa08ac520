"""Simulated time of a program's launches, from the machine code of its kernels; and profiles of them.

A launch is timed when its kernel comes with this grid and block for the first time, on a snapshot of device memory, so
that nothing of it is seen by the program. A later one of the same size takes as long, scaled where it ran another
number of instructions. What has no machine code that we read, or faults in parts, has no time, and the reason is told.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warpsight.devices.machine_code import faultless, machine_code, no_time_for, source_file
from warpsight.devices.profiles import CountedBlocks, launch_counters, make_profile
from warpsight.errors import WarpsightError
from warpsight.nouns import Build, Profile
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.idle_blocks import busy_blocks
from warpsight.programs.launches import LaunchAsked
from warpsight.programs.loaded import LoadedKernel, LoadedModule
from warpsight.tasks import LaunchSize
from warpsight.toolchain.packages import version
from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import GRID_WORKSPACE, OPS, Program, Space
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.machine import Dim3
from warpsight.vgpu.sample import Tracer
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US, PredictedTime, predict

DEADLINE_S = 20.0
PROFILE_BUDGET = 3_000_000  # warp instructions that a profile may run
PROBE_BLOCKS = 4
AFTER_CUT = "launches before this one were cut off: its data may not be that of a whole run"


OnProfile = Callable[[Profile, Build, LaunchSize, str], None]
"""Who gets the profile of each launch size, with the text of the kernel's file."""


@dataclass(frozen=True)
class SizeTime:
    """The time of one launch size of one kernel, or why there is none."""

    time_us: float | None
    reason: str = ""
    bound: str = ""


class LaunchTimes:
    """Times of launch sizes, each simulated once. `cost_s` is what that took."""

    def __init__(self, memory: DeviceMemory, gpu: Gpu, *, on_profile: OnProfile | None, cores: int) -> None:
        self._memory, self._gpu, self._on_profile, self._cores = memory, gpu, on_profile, cores
        self._known: dict[tuple[int, LaunchAsked | tuple[object, ...]], SizeTime] = {}
        self._instructions: dict[object, int] = {}
        self.cost_s = 0.0
        self.after_cut = False  # set where a launch was ended early: those that follow work on other data

    def time(
        self, number: int, module: LoadedModule, kernel: LoadedKernel, asked: LaunchAsked, constants: bytes
    ) -> SizeTime:
        """The time of this launch's size; before the launch runs."""
        key = (number, asked.size)
        if key not in self._known:
            began = time.perf_counter()
            self._known[key] = self._simulate(module, kernel, asked, constants)
            self.cost_s += time.perf_counter() - began
        return self._known[key]

    def scaled_us(self, number: int, asked: LaunchAsked, found: SizeTime, warp_instructions: int | None) -> float:
        """What one launch of this size took; None for a repeat of the last one."""
        key = (number, asked.size)
        first = self._instructions.setdefault(key, warp_instructions or 0)
        scale = warp_instructions / first if warp_instructions and first else 1.0
        return (found.time_us or 0.0) * scale

    def _simulate(self, module: LoadedModule, kernel: LoadedKernel, asked: LaunchAsked, constants: bytes) -> SizeTime:
        if asked.cooperative and kernel.core_meeting is not None:
            return SizeTime(None, "a launch whose grid meets is not timed")
        if OPS["CALLX"].number in kernel.program.code["op"]:
            return SizeTime(None, "it calls functions by addresses in memory, and machine code has other addresses")
        try:
            return self._of_machine_code(module, kernel, asked, constants)
        except (WarpsightError, ValueError, ArithmeticError) as problem:
            return SizeTime(None, getattr(problem, "message", str(problem)).splitlines()[0][:300])

    def _of_machine_code(
        self, module: LoadedModule, kernel: LoadedKernel, asked: LaunchAsked, constants: bytes
    ) -> SizeTime:
        build = _build(module, self._gpu.arch)
        code = machine_code(build.cubin, kernel.name, source_file(module.ptx))
        if code.program is None:
            return SizeTime(None, code.reason)
        if refused := no_time_for(code.program):
            return SizeTime(None, refused)
        program = _with_constants(code.program, kernel, constants)
        run = Traced(self, program, module, asked)
        use = next(one for one in build.entries if one.name == kernel.name)

        def timed(blocks: Dim3, run: Tracer) -> PredictedTime:
            return predict(
                program, self._gpu, run, blocks=blocks, threads=math.prod(asked.block),
                registers=use.registers, shared_bytes=use.shared_bytes + asked.shared_bytes,
                array_bytes=self._memory.bytes_under(asked.params),
            )  # fmt: skip

        found = _with_idle(timed, faultless(run), asked.grid)
        if self._on_profile is not None:
            size = LaunchSize(asked.grid, asked.block, asked.shared_bytes)
            text = kernel.source.read_text(errors="replace") if kernel.source and kernel.source.is_file() else ""
            self._on_profile(self._profile(program, kernel, build, asked, run, found, text), build, size, text)
        return SizeTime(found.time_us, "", found.bound)

    def _profile(
        self,
        program: Program,
        kernel: LoadedKernel,
        build: Build,
        asked: LaunchAsked,
        run: Traced,
        found: PredictedTime,
        text: str,
    ) -> Profile:
        total = math.prod(asked.grid)
        chosen: Sequence[int] = ()
        if total > PROBE_BLOCKS:
            probe = run(_spread(total, PROBE_BLOCKS), 0)
            each = max(1, probe.warp_instructions // PROBE_BLOCKS)
            if each * total > PROFILE_BUDGET:
                chosen = _spread(total, max(PROBE_BLOCKS, PROFILE_BUDGET // each))
        done = faultless(run)(chosen, 0)
        size = LaunchSize(asked.grid, asked.block, asked.shared_bytes)
        counted = CountedBlocks(
            program, done.counts, done.blocks_run, total, launch_counters(build, kernel.name, size, self._gpu)
        )
        return make_profile(counted, text, "virtual", found, (AFTER_CUT,) if self.after_cut else ())

    def launched(
        self, program: Program, module: LoadedModule, asked: LaunchAsked, blocks: Sequence[int], steps: int
    ) -> machine.Launched:
        """Some blocks of machine code on a snapshot of device memory."""
        memory = self._memory.snapshot()
        views = {region.address: region for region in memory.regions}
        named = [s.name for s in program.symbols if s.space is Space.GLOBAL]
        there = {name: views[at].data for name in named if (at := module.addresses.get(name, 0)) in views}
        memory.regions = [r for r in memory.regions if r.name != GRID_WORKSPACE]
        return machine.launch(
            program, memory, grid=asked.grid, block=asked.block,
            params=asked.params[: program.param_bytes].ljust(program.param_bytes, b"\0"),

            dynamic_shared_bytes=asked.shared_bytes, blocks=blocks, max_trace_steps=steps, cores=self._cores,
            deadline_seconds=DEADLINE_S, variables=there,
        )  # fmt: skip


@dataclass(frozen=True)
class Traced:
    """Runs blocks of one launch; what the time model asks for."""

    times: LaunchTimes
    program: Program
    module: LoadedModule
    asked: LaunchAsked

    def __call__(self, blocks: Sequence[int], max_steps: int) -> machine.Launched:
        return self.times.launched(self.program, self.module, self.asked, blocks, max_steps)


def _with_idle(timed: Callable[[Dim3, Tracer], PredictedTime], run: Tracer, grid: Dim3) -> PredictedTime:
    """The time of a launch; of its blocks with work, and then of those without, where these are many."""
    total, busy = math.prod(grid), busy_blocks(run, grid)
    if busy == total:
        return timed(grid, run)
    found, idle = timed((busy, 1, 1), run), total - busy
    rest = timed((idle, 1, 1), lambda blocks, steps: run([busy + block for block in blocks], steps))
    more = {
        name: getattr(found, name) + max(0.0, getattr(rest, name) - LAUNCH_OVERHEAD_US)
        for name in ("time_us", "time_us_base")
    }
    note = f"{idle:,} of {total:,} blocks end at once; the others are timed, then these"
    return dataclasses.replace(found, **more, cycles=found.cycles + rest.cycles, notes=(*found.notes, note))


def _spread(total: int, count: int) -> list[int]:
    count = min(count, total)
    return sorted({(2 * i + 1) * total // (2 * count) for i in range(count)})


def _with_constants(program: Program, kernel: LoadedKernel, constants: bytes) -> Program:
    """The machine code's own constant memory, with the bytes that the program's variables hold now."""
    data = bytearray(program.const_data)
    mine = {s.name: s.offset for s in kernel.program.symbols if s.space is Space.CONST}
    for symbol in program.symbols:
        if symbol.space is Space.CONST and symbol.name in mine:
            at = mine[symbol.name]
            data[symbol.offset : symbol.offset + symbol.size] = constants[at : at + symbol.size]
    return dataclasses.replace(program, const_data=bytes(data))


def _build(module: LoadedModule, arch: str) -> Build:
    from warpsight.cubin.usage import read_entries

    cubin = module.cubin(arch)
    ptx = module.ptx or f"// none: the program brought machine code alone, {hashlib.sha256(cubin).hexdigest()}"
    compiler = "the program's own" if module.given else f"ptxas {version('nvidia-cuda-nvcc')}"
    return Build(
        ok=True, source_sha256=hashlib.sha256(ptx.encode()).hexdigest(), gpu_arch=arch, options=(),
        compiler=compiler, ptx=ptx, cubin=cubin, entries=read_entries(cubin), diagnostics=(), log="",
    )  # fmt: skip
