"""The virtual GPU as a device: PTX from the build, run by the C++ core in this process.

Profiles of large launches come from chosen blocks and are scaled; the profile says how many ran. Time is not measured.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.device import CannotProfile, Execution, Value
from warpsight.errors import DeviceError
from warpsight.nouns import Build, InstructionCounters, LineCounters, Profile, Source
from warpsight.tasks import LaunchSize
from warpsight.vgpu import counters, machine
from warpsight.vgpu.bytecode import Flag, Program
from warpsight.vgpu.gpus import block_limits
from warpsight.vgpu.occupancy import occupancy
from warpsight.vgpu.ptx import load_ptx

PROBE_BLOCKS = 4
CHECK_FIRST = "`warpsight check` on it first: it names every fault with its line"
NOT_MEASURED = ("duration", "dram_bytes", "l2_hit_rate", "occupancy", "stall_reasons")


@functools.lru_cache(maxsize=64)
def program_of(ptx: str, entry: str) -> Program:
    """The bytecode of one kernel; kept, since the same kernel is run on many workloads."""
    return load_ptx(ptx, entry)


class VirtualGpu:
    """One virtual GPU. `profile_budget` is the warp instructions a profile may execute before it samples blocks."""

    name = "virtual"
    source: Source = "simulated"

    def __init__(
        self,
        *,
        cores: int | None = None,
        deadline_seconds: float = 600.0,
        max_instructions: int = machine.DEFAULT_INSTRUCTIONS,
        profile_budget: int = 40_000_000,
    ) -> None:
        self.cores = cores
        self.deadline_seconds = deadline_seconds
        self.max_instructions = max_instructions
        self.profile_budget = profile_budget

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        if refused := refusal(build, entry, size):
            return Execution(refused=refused)
        program = program_of(build.ptx, entry)
        memory, params, arrays = lay_out(program, values)
        done = machine.launch(
            program,
            memory,
            grid=size.grid,
            block=size.block,
            params=params,
            dynamic_shared_bytes=size.shared_bytes,
            check=check,
            count=False,
            cores=self.cores,
            max_instructions=self.max_instructions,
            deadline_seconds=self.deadline_seconds,
            source=source_text,
        )
        return Execution(arrays, done.faults, done.output, warp_instructions=done.warp_instructions)

    def profile(
        self,
        build: Build,
        entry: str,
        values: Sequence[Value],
        size: LaunchSize,
        *,
        source_text: str,
        blocks: Sequence[int] | None = None,
    ) -> Profile:
        if refused := refusal(build, entry, size):
            raise CannotProfile(f"the launch is not possible: {refused}")
        program = program_of(build.ptx, entry)
        total = size.grid[0] * size.grid[1] * size.grid[2]
        chosen = blocks if blocks is not None else self._choose_blocks(program, values, size, total)
        done = self._count(program, values, size, chosen)
        if done.faults:
            first = done.faults[0]
            what = f"{first.kind} at line {first.line}: {first.message}"
            raise CannotProfile(f"the kernel faulted while it was profiled: {what}", hint=CHECK_FIRST)
        return make_profile(program, done.counts, done.blocks_run, total, source_text, self.name)

    def _count(
        self, program: Program, values: Sequence[Value], size: LaunchSize, blocks: Sequence[int]
    ) -> machine.Launched:
        memory, params, _ = lay_out(program, values)
        return machine.launch(
            program,
            memory,
            grid=size.grid,
            block=size.block,
            params=params,
            dynamic_shared_bytes=size.shared_bytes,
            blocks=blocks,
            cores=self.cores,
            max_instructions=self.max_instructions,
            deadline_seconds=self.deadline_seconds,
        )

    def _choose_blocks(self, program: Program, values: Sequence[Value], size: LaunchSize, total: int) -> Sequence[int]:
        """All blocks (an empty choice) when they fit the budget, else a sample that does.

        The sample is spread over the grid, except where blocks wait for earlier ones: those are only sure to go on from
        the first.
        """
        choose = first_blocks if program.order_sensitive else spread_blocks
        if total <= PROBE_BLOCKS:
            return ()
        probe = self._count(program, values, size, choose(total, PROBE_BLOCKS))
        if probe.faults:
            return choose(total, PROBE_BLOCKS)
        per_block = max(1, probe.warp_instructions // PROBE_BLOCKS)
        if per_block * total <= self.profile_budget:
            return ()
        return choose(total, max(PROBE_BLOCKS, self.profile_budget // per_block))


def first_blocks(total: int, count: int) -> list[int]:
    return list(range(min(count, total)))


def spread_blocks(total: int, count: int) -> list[int]:
    """One block from each of `count` equal stretches of the grid, at a place that is random but always the same."""
    count = min(count, total)
    edges = np.linspace(0, total, count + 1)
    inside = np.random.Generator(np.random.PCG64(total)).random(count)
    picked = (edges[:-1] + inside * np.diff(edges)).astype(np.int64)
    return sorted({int(b) for b in np.clip(picked, 0, total - 1)})


def refusal(build: Build, entry: str, size: LaunchSize) -> str:
    """Why this GPU would not start such a launch, or nothing."""
    limits = block_limits(build.gpu_arch)
    usage = next((e for e in build.entries if e.name == entry), None)
    threads = size.block[0] * size.block[1] * size.block[2]
    if usage is None:
        return f"the program has no entry {entry!r}"
    shared = usage.shared_bytes + size.shared_bytes
    most = limits.shared_per_block_optin_bytes
    if shared > most:
        return f"a block needs {shared} bytes of shared memory, {build.gpu_arch} has {most}"
    fits = occupancy(limits, threads, usage.registers, shared)
    if fits.limit_registers == 0:
        needs = f"a block of {threads} threads with {usage.registers} registers each"
        return f"{needs} does not fit the {limits.registers_per_block} of {build.gpu_arch}"
    if fits.blocks_per_sm == 0:
        return f"a block of {threads} threads does not fit on {build.gpu_arch}: {', '.join(fits.limited_by)}"
    return ""


def lay_out(program: Program, values: Sequence[Value]) -> tuple[machine.GlobalMemory, bytes, dict[str, np.ndarray]]:
    """Copies of the arrays in device memory and the bytes of the parameters, held to what the kernel declares."""
    if len(values) != len(program.params):
        raise DeviceError(
            f"kernel {program.entry!r} takes {len(program.params)} parameters, the task gives {len(values)}",
            hint="the task's arguments must be the kernel's parameters, in order",
        )
    memory, params, arrays = machine.GlobalMemory(), bytearray(program.param_bytes), dict[str, np.ndarray]()
    for value, param in zip(values, program.params, strict=True):
        if value.is_scalar:
            raw = value.array.tobytes()
        else:
            arrays[value.name] = np.array(value.array, order="C")
            address = memory.add(value.name, arrays[value.name], writable=value.writable, initialised=value.initialised)
            raw = address.to_bytes(8, "little")
        if len(raw) != param.size:
            wanted = f"parameter {param.name} of {program.entry!r} has {param.size} bytes"
            raise DeviceError(
                f"{wanted}, argument {value.name!r} has {len(raw)}",
                hint="make the argument's dtype in task.toml that of the kernel's parameter",
            )
        params[param.offset : param.offset + param.size] = raw
    return memory, bytes(params), arrays


def make_profile(
    program: Program, counts: NDArray[np.uint64], run: int, total: int, source_text: str, device: str
) -> Profile:
    """Counters of the kernel, of each source line and of each instruction; scaled when only some blocks ran."""
    selector = counters.Selector.of(program)
    scaled = counts if run == total else np.rint(counts * (total / run)).astype(np.uint64)
    text = source_text.splitlines()
    executed = scaled[:, counters.INDEX["warps"]] > 0
    visible = (program.code["flags"] & Flag.HIDDEN) == 0
    lines: list[LineCounters] = []
    for line in sorted({int(n) for n in program.lines[executed & visible] if n > 0}):
        there = program.lines == line
        words = text[line - 1].strip() if line <= len(text) else ""
        lines.append(LineCounters(line=line, text=words, counters=_nonzero(counters.derive(selector, scaled, there))))
    instructions = tuple(
        InstructionCounters(
            index=int(i), text=program.texts[i], line=int(program.lines[i]) or None,
            counters={info.name: int(v) for info, v in zip(counters.RAW, scaled[i], strict=True) if v},
        )
        for i in np.flatnonzero(visible)
    )  # fmt: skip
    units = counters.UNITS | {info.name: info.unit for info in counters.RAW}
    return Profile(
        kernel=program.entry,
        device=device,
        source="simulated",
        isa="ptx",
        counters=counters.derive(selector, scaled),
        units=units,
        lines=tuple(lines),
        instructions=instructions,
        sampled_blocks=run,
        total_blocks=total,
        not_measured=NOT_MEASURED,
    )


def _nonzero(values: dict[str, int | float]) -> dict[str, int | float]:
    return {name: value for name, value in values.items() if value}
