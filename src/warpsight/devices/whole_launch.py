"""The complete run of a launch of machine code: its outputs, its counters, and its simulated time.

A kernel that leaves variables of its module changed is timed a second time, after a secret number of launches, and the
slower time counts: what is saved in the first launch only (memory that is still zero, work that is left to the next
launch) is no gain where a kernel is used. Each launch is given the same arrays. A kernel that leaves its variables as
it found them is timed once. Not covered: work that is due only after more launches than `BEFORE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.device import CannotProfile, Value
from warpsight.devices.machine_code import FaultInLaunch, Sizes, faultless, launch_sizes
from warpsight.devices.memory import lay_out
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize
from warpsight.vgpu import machine, schedule, turns
from warpsight.vgpu.bytecode import Program, Space
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import occupancy
from warpsight.vgpu.reach import watched_waves
from warpsight.vgpu.timemodel import WHOLE_STEP_BUDGET, PredictedTime, predict
from warpsight.vgpu.what_if import WhatIf

MOST_WATCHED_BLOCKS = 1 << 24
BEFORE = 8, 24  # launches before the one that is timed on a module that is in use
MOST_INSTRUCTIONS_BEFORE = 500_000_000  # of warps, in those launches but the first
LATER_IS_SLOWER = (
    "the kernel keeps state in variables of its module, and a later launch is slower than the first: its time counts"
)


@dataclass(frozen=True)
class WholeLaunch:
    """The complete run of a launch: its arrays afterwards, what each instruction did, and its simulated time.

    `order_matters` counts the accesses that were more or fewer when blocks had other turns, if that was asked.
    """

    arrays: Mapping[str, np.ndarray]
    launched: machine.Launched
    time: PredictedTime
    order_matters: int = 0


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
    other_turns: bool = False,
    what_if: WhatIf | None = None,
) -> WholeLaunch:
    """The simulated time from the complete run of all blocks; `seed` says which of them are traced.

    With `other_turns`, a launch whose blocks may wait for one another is run once more in another order. A kernel that
    faults raises CannotProfile.
    """
    if math.prod(size.grid) > MOST_WATCHED_BLOCKS:
        raise CannotProfile(f"a launch of {math.prod(size.grid)} blocks; at most {MOST_WATCHED_BLOCKS} are timed whole")
    kernel = _Kernel(
        program, build, gpu, values, size, seed, cores, max_instructions, deadline_seconds, without, constants, what_if
    )
    fresh = _fresh_variables(program, values)
    first, left = kernel.timed(fresh)
    if other_turns and turns.may_wait(program):
        first = replace(first, order_matters=kernel.changed_by_turns(fresh, first.launched))
    if _same(fresh, left):  # the next launch finds what this one found
        return first
    for done in range(1, _launches_before(first.launched.warp_instructions, seed)):
        before, left = left, kernel.launched(left, done + 1)
        if _same(before, left):
            break
    later = kernel.timed(left)[0]
    if later.time.time_us <= first.time.time_us:
        return first
    told = replace(later.time, notes=(*later.time.notes, LATER_IS_SLOWER))
    return replace(later, time=told, order_matters=first.order_matters)


@dataclass(frozen=True)
class _Done:
    arrays: Mapping[str, np.ndarray]
    launched: machine.Launched
    variables: machine.Variables


@dataclass(frozen=True)
class _Kernel:
    """One kernel with its arguments, to be launched on a module whose variables have any values."""

    program: Program
    build: Build
    gpu: Gpu
    values: Sequence[Value]
    size: LaunchSize
    seed: int
    cores: int | None
    max_instructions: int
    deadline_seconds: float
    without: Sequence[str]
    constants: Constants
    what_if: WhatIf | None = None

    @cached_property
    def _sizes(self) -> Sizes:
        return launch_sizes(self.program, self.build, self.values, self.size)

    @cached_property
    def _concurrent(self) -> int:
        sizes = self._sizes
        fits = occupancy(self.gpu, sizes["threads"], sizes["registers"], sizes["shared_bytes"])
        return self.gpu.sms * max(1, fits.blocks_per_sm)

    @cached_property
    def _waves(self) -> list[int]:
        return watched_waves(-(-math.prod(self.size.grid) // self._concurrent), self.seed)

    @cached_property
    def _swap_passes(self) -> int:
        """Who exchanges on condition must first see what the last one left: a way to L2 and back."""
        return max(1, round(self.gpu.latency_l2 / schedule.atomic_clocks(self.program, self.constants)))

    @cached_property
    def _table(self) -> NDArray[np.uint16]:
        return schedule.step_table(self.program, self.gpu, self.constants)

    def timed(self, variables: machine.Variables) -> tuple[WholeLaunch, machine.Variables]:
        """The launch that finds these variables, with its time; and the variables as it leaves them."""
        last: list[_Done] = []

        def run(traced: Sequence[int], max_steps: int) -> machine.Launched:
            last[:] = [self._launch(variables, traced, max_steps, watched=True)]
            return last[0].launched

        time = predict(
            self.program,
            self.gpu,
            faultless(run),
            whole_seed=self.seed,
            step_budget=WHOLE_STEP_BUDGET,
            without=self.without,
            constants=self.constants,
            what_if=self.what_if,
            **self._sizes,
        )
        return WholeLaunch(last[0].arrays, last[0].launched, time), last[0].variables

    def launched(self, variables: machine.Variables, number: int) -> machine.Variables:
        """The variables after a launch whose time nobody asks for."""
        done = self._launch(variables, (), 0, watched=False)
        if done.launched.faults:
            raise FaultInLaunch(done.launched.faults[0], number)
        return done.variables

    def changed_by_turns(self, variables: machine.Variables, first: machine.Launched) -> int:
        """Accesses that are more or fewer in another order; those of a launch that does not end in it are all."""
        order = turns.other_order(math.prod(self.size.grid), self._concurrent)
        most = min(self.max_instructions, turns.MOST_TIMES * first.warp_instructions + turns.SPARE_INSTRUCTIONS)
        again = replace(self, max_instructions=most)
        done = again._launch(
            variables, (), 0, watched=True, order=order, round_trip=turns.OTHER_ROUND_TRIP, last_warp_first=True
        )
        if done.launched.faults:
            return max(1, int(turns.accesses(self.program, first).sum()))
        return turns.changed(self.program, first, done.launched)

    def _launch(
        self,
        variables: machine.Variables,
        traced: Sequence[int],
        max_steps: int,
        *,
        watched: bool,
        order: Sequence[int] = (),
        round_trip: int = machine.ROUND_TRIP,
        last_warp_first: bool = False,
    ) -> _Done:
        memory, params, arrays = lay_out(self.program, self.values, read_in_place=True)
        changed = {name: data.copy() for name, data in variables.items()}
        done = machine.launch(
            self.program,
            memory,
            grid=self.size.grid,
            block=self.size.block,
            params=params,
            dynamic_shared_bytes=self.size.shared_bytes,
            cores=self.cores,
            count=watched,
            max_instructions=self.max_instructions,
            max_trace_steps=max_steps,
            traced=traced,
            watched=self._table if watched else None,
            concurrent=self._concurrent,
            waves=self._waves if watched else (),
            blocks=order,
            round_trip=round_trip,
            last_warp_first=last_warp_first,
            swap_passes=self._swap_passes,
            deadline_seconds=self.deadline_seconds,
            variables=changed,
        )
        return _Done(arrays, done, changed)


def _fresh_variables(program: Program, values: Sequence[Value]) -> machine.Variables:
    """The variables of a module that was just loaded."""
    variables = machine.Variables()
    if any(symbol.space is Space.GLOBAL for symbol in program.symbols):
        machine.place_symbols(program, lay_out(program, values, read_in_place=True)[0], variables)
    return variables


def _same(before: machine.Variables, after: machine.Variables) -> bool:
    return all(np.array_equal(data, after[name]) for name, data in before.items())


def _launches_before(warp_instructions: int, seed: int) -> int:
    """How many launches come before the one that is timed last: at least one, and fewer where they are long."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x6C61746572])))
    return 1 + min(int(random.integers(*BEFORE)) - 1, MOST_INSTRUCTIONS_BEFORE // max(1, warp_instructions))
