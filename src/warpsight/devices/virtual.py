"""The virtual GPU as a device, in this process: PTX for results and faults, machine code for counts and time.

A profile comes from the complete run of a launch that fits the budget; of a larger one it comes from chosen blocks, is
scaled, and says so. `observe` always runs the whole launch, whatever it costs: verdicts are made of it. Where the
machine code has a form we do not read, counts are of the PTX, there is no time, and the profile says so.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from warpsight.devices.device import CHECK_FIRST, CannotProfile, Execution, Observed, Value
from warpsight.devices.machine_code import (
    FaultInLaunch,
    MachineCode,
    machine_code,
    no_time_for,
    source_file,
    time_launch,
)
from warpsight.devices.memory import lay_out
from warpsight.devices.profiles import CountedBlocks, launch_counters, make_profile, with_trust
from warpsight.devices.whole_launch import time_whole_launch
from warpsight.nouns import Build, Language, Profile, Source
from warpsight.tasks import LaunchSize
from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import block_limits, find_gpu, known_gpus
from warpsight.vgpu.occupancy import occupancy
from warpsight.vgpu.what_if import WhatIf

PROBE_BLOCKS = 4
MOST_REORDERED_BLOCKS = 1 << 20
MOST_WAITING_BLOCKS = 256
Isa = Literal["ptx", "sass"]
Modules = dict[tuple[str, Isa], machine.Variables]
"""Variables of loaded modules, by the hash of their source and what runs."""


@functools.lru_cache(maxsize=64)
def program_of(ptx: str, entry: str) -> Program:
    """The bytecode of one kernel; kept, since the same kernel is run on many workloads."""
    from warpsight.vgpu.ptx import load_ptx  # here: what is known by its machine code never needs the front end

    return load_ptx(ptx, entry)


class VirtualGpu:
    """One virtual GPU: of the kind `gpu`, or of no kind in particular, and then it counts but tells no time.

    `profile_budget` is the warp instructions a profile may execute before it samples blocks. With `block_order`, blocks
    are executed in an order drawn from that seed, which no right kernel depends on. `execute` runs PTX, or the machine
    code with `isa` "sass". With `modules`, `__device__` variables keep their values from one `execute` to the next.
    """

    name = "virtual"
    source: Source = "simulated"
    languages: ClassVar[tuple[Language, ...]] = ("cuda", "triton")

    def __init__(
        self,
        *,
        cores: int | None = None,
        deadline_seconds: float = 120.0,
        max_instructions: int = machine.DEFAULT_INSTRUCTIONS,
        profile_budget: int = 10_000_000,
        gpu: Gpu | None = None,
        block_order: int | None = None,
        isa: Isa = "ptx",
        modules: Modules | None = None,
    ) -> None:
        self.modules = modules
        self.block_order = block_order
        self.isa: Isa = isa
        self.gpu = gpu
        self.cores = cores
        self.deadline_seconds = deadline_seconds
        self.max_instructions = max_instructions
        self.profile_budget = profile_budget

    @property
    def gpu_arch(self) -> str:
        """What to compile for; nothing in particular where it is of no kind."""
        return "" if self.gpu is None else self.gpu.arch

    @classmethod
    def open(
        cls,
        *,
        gpu: str | None = None,
        default_gpu: str | None = None,
        cores: int | None = None,
        deadline_seconds: float = 120.0,
        unsafe: bool = False,
    ) -> Self:
        """Of the kind that is asked for, else of the default one; without either it tells no time."""
        del unsafe  # nothing native runs here
        known_gpus()  # first, so that what is wrong in the user's own file of GPUs is not blamed on the name
        kind = gpu or default_gpu
        return cls(gpu=None if kind is None else find_gpu(kind), cores=cores, deadline_seconds=deadline_seconds)

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        if refused := refusal(build, entry, size):
            return Execution(refused=refused)
        program = program_of(build.ptx, entry)
        if self.isa == "sass":
            code = machine_code(build.cubin, entry, source_file(build.ptx))
            if code.program is None:
                return Execution(refused=f"there is no machine code to run: {code.reason}")
            program = code.program
        memory, params, arrays = lay_out(program, values)
        module = (build.source_sha256, self.isa)
        done = machine.launch(
            program,
            memory,
            grid=size.grid,
            block=size.block,
            params=params,
            dynamic_shared_bytes=size.shared_bytes,
            check=check,
            count=False,
            blocks=self._block_order(program, size),
            cores=self.cores,
            max_instructions=self.max_instructions,
            deadline_seconds=self.deadline_seconds,
            source=source_text,
            variables=None if self.modules is None else self.modules.setdefault(module, {}),
        )
        if done.faults and self.modules is not None:
            del self.modules[module]  # a fault ends the program on a GPU: who goes on has loaded the module anew
        return Execution(
            arrays, done.faults, done.output, warp_instructions=done.warp_instructions, unwritten=done.unwritten
        )

    def reordered(self, seed: int) -> Self:
        """The same GPU with its blocks in another order."""
        return self._like(block_order=seed)

    def of_machine_code(self) -> Self:
        """The same GPU, which executes machine code instead of PTX."""
        return self._like(isa="sass")

    def remembering(self) -> Self:
        """The same GPU, on which a module stays loaded: a launch finds the variables as the one before left them."""
        return self._like(modules=Modules())

    def forgetting(self) -> Self:
        """The same GPU, which loads the module anew for every launch."""
        return self._like(modules=None)

    def limited(self, warp_instructions: int) -> Self:
        """The same GPU, which ends a launch that takes more."""
        return self._like(max_instructions=min(self.max_instructions, warp_instructions))

    def _like(self, **changed: object) -> Self:
        like = copy.copy(self)
        for name, value in changed.items():
            setattr(like, name, value)
        return like

    def _block_order(self, program: Program, size: LaunchSize) -> Sequence[int]:
        """All blocks in the order to run them; empty for the natural one.

        Blocks that wait for others take turns, so any order ends, as long as all of them can wait at once.
        """
        total = size.grid[0] * size.grid[1] * size.grid[2]
        most = MOST_WAITING_BLOCKS if program.order_sensitive else MOST_REORDERED_BLOCKS
        if self.block_order is None or not 1 < total <= most:
            return ()
        return np.random.Generator(np.random.PCG64(self.block_order)).permutation(total).tolist()

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
        code = self._possible(build, entry, size)
        program = code.program or program_of(build.ptx, entry)
        total = size.grid[0] * size.grid[1] * size.grid[2]
        chosen = blocks if blocks is not None else self._choose_blocks(program, values, size, total)
        timed = self.gpu is not None and code.program is not None and not no_time_for(code.program)
        if blocks is None and not chosen and timed:
            try:
                return self.observe(build, entry, values, size, source_text=source_text).profile
            except FaultInLaunch as faulted:
                raise CannotProfile(faulted.message, hint=CHECK_FIRST) from None
        done = self._count(program, values, size, chosen)
        if done.faults:
            first = done.faults[0]
            what = f"{first.kind} at line {first.line}: {first.message}"
            raise CannotProfile(f"the kernel faulted while it was profiled: {what}", hint=CHECK_FIRST)
        launched = launch_counters(build, entry, size, self.gpu)
        counted = CountedBlocks(program, done.counts, done.blocks_run, total, launched)
        untimed = "" if code.program is None else no_time_for(code.program)
        if self.gpu is None or code.program is None or untimed:
            notes = (f"counted on PTX, without a time: {code.reason}",) if code.reason else ()
            notes = (*notes, untimed) if untimed else notes
            return with_trust(make_profile(counted, source_text, self.name, notes=notes), build)
        time = time_launch(program, build, self.gpu, values, size, deadline_seconds=self.deadline_seconds)
        return with_trust(make_profile(counted, source_text, self.name, time, self._told), build)

    def draft_us(self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize) -> float | None:
        """The time from a few blocks alone, without counters: for what is tried first, never told as a result.

        None where there is no time. Raises CannotProfile like `profile`.
        """
        code = self._possible(build, entry, size)
        if self.gpu is None or code.program is None or no_time_for(code.program):
            return None
        found = time_launch(code.program, build, self.gpu, values, size, deadline_seconds=self.deadline_seconds)
        return round(found.time_us, 3) or None

    def what_if_us(self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, change: WhatIf) -> float:
        """The time of a kernel that does not exist: this one, with a cause removed. Raises CannotProfile and
        FaultInLaunch like `observe`."""
        code = self._possible(build, entry, size)
        if self.gpu is None or code.program is None:
            raise CannotProfile(f"there is no time: {code.reason or 'the virtual GPU is of no kind in particular'}")
        if untimed := no_time_for(code.program):
            raise CannotProfile(untimed)
        found = time_whole_launch(
            code.program, build, self.gpu, values, size, seed=0, cores=self.cores,
            max_instructions=self.max_instructions, deadline_seconds=self.deadline_seconds, what_if=change,
        )  # fmt: skip
        return round(found.time.time_us, 3)

    def observe(
        self,
        build: Build,
        entry: str,
        values: Sequence[Value],
        size: LaunchSize,
        *,
        source_text: str,
        seed: int = 0,
        other_turns: bool = False,
    ) -> Observed:
        """The complete run of the machine code: its outputs, exact counters, and the time of that very run.

        `seed` decides which of its blocks are simulated; a kernel must not be able to know it. With `other_turns`, it
        is seen as well whether threads do another number of accesses when blocks have their turns otherwise. Raises
        CannotProfile where there is no machine code to run, and FaultInLaunch where it faults.
        """
        code = self._possible(build, entry, size)
        if self.gpu is None or code.program is None:
            raise CannotProfile(f"there is no time: {code.reason or 'the virtual GPU is of no kind in particular'}")
        if untimed := no_time_for(code.program):
            raise CannotProfile(untimed)
        found = time_whole_launch(
            code.program,
            build,
            self.gpu,
            values,
            size,
            seed=seed,
            cores=self.cores,
            max_instructions=self.max_instructions,
            deadline_seconds=self.deadline_seconds,
            other_turns=other_turns,
        )
        total = size.grid[0] * size.grid[1] * size.grid[2]
        launched = launch_counters(build, entry, size, self.gpu)
        counted = CountedBlocks(code.program, found.launched.counts, total, total, launched)
        profile = with_trust(make_profile(counted, source_text, self.name, found.time, self._told), build)
        return Observed(profile, found.arrays, found.time, found.order_matters)

    @property
    def _told(self) -> tuple[str, ...]:
        """What to know of the GPU whenever its time is told."""
        return (f"{self.gpu.name}: {self.gpu.note}",) if self.gpu is not None and self.gpu.note else ()

    def _possible(self, build: Build, entry: str, size: LaunchSize) -> MachineCode:
        if refused := refusal(build, entry, size):
            raise CannotProfile(f"the launch is not possible: {refused}")
        return machine_code(build.cubin, entry, source_file(build.ptx)) if self.gpu is not None else MachineCode(None)

    def _count(
        self, program: Program, values: Sequence[Value], size: LaunchSize, blocks: Sequence[int]
    ) -> machine.Launched:
        memory, params, _ = lay_out(program, values, read_in_place=True)
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
    if usage.max_threads and threads > usage.max_threads:
        return f"a block has {threads} threads, the launch bounds of {entry} allow {usage.max_threads}"
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
