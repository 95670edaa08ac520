"""What a pair is: two kernels with the same result, of which the second is better on real hardware beyond doubt.

Also runs one side on a device. Times nothing, and does not know what a finding looks like: only its expected name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.pairs.first_line import launch_size
from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.nouns import Build, Candidate, Fault
from warpsight.tasks import LaunchSize
from warpsight.tasks.expressions import evaluate
from warpsight.toolchain.compile import compile_cuda

Side = Literal["slow", "fast"]
SIDES: tuple[Side, Side] = ("slow", "fast")
Axes = Mapping[str, int]
BuildValues = Callable[[Axes, Side], tuple[Value, ...]]


@dataclass(frozen=True)
class Pair:
    """`small` is a size to run in full; at `large` the difference shows on a big GPU (run a sample of its blocks).

    `margin` says what to expect there: "small" gains may drown where another limit, such as DRAM, is near.
    `slow_launches` is how often the slow kernel has to be launched, an expression over the axes; its argument `step`
    counts up. `ties_on` are GPUs on which neither kernel is faster, because both wait for the same thing.
    """

    name: str
    slow: Candidate
    fast: Candidate
    reason: str
    expected_finding: str
    build_values: BuildValues
    small: Axes
    large: Axes
    entry: str = "k"
    margin: Literal["small", "large"] = "large"
    rtol: float = 0.0
    slow_launches: str = "1"
    ties_on: tuple[str, ...] = ()

    def kernel(self, side: Side) -> Candidate:
        return self.slow if side == "slow" else self.fast

    def launch(self, side: Side, axes: Axes) -> LaunchSize:
        return launch_size(self.kernel(side), axes)

    def launches(self, side: Side, axes: Axes) -> int:
        return evaluate(self.slow_launches, axes) if side == "slow" else 1

    def values(self, side: Side, axes: Axes) -> tuple[Value, ...]:
        """The arguments. Sides get the same data, in another layout or order where that is what differs."""
        return self.build_values(axes, side)

    def build(self, side: Side, gpu_arch: str = "sm_86") -> Build:
        kernel = self.kernel(side)
        return compile_cuda(kernel.source, gpu_arch=gpu_arch, options=kernel.options, entry=self.entry)


@dataclass(frozen=True)
class SideRun:
    """The arrays a side wrote, and what was wrong; the launches after a fault are left out."""

    arrays: Mapping[str, np.ndarray]
    faults: tuple[Fault, ...]
    refused: str
    warp_instructions: int


def run_side(
    pair: Pair, side: Side, axes: Axes, device: VirtualGpu, *, check: bool, gpu_arch: str = "sm_86"
) -> SideRun:
    """All launches of one side, each on the arrays the one before it left."""
    kernel, values, executed = pair.kernel(side), pair.values(side, axes), 0
    build, size = pair.build(side, gpu_arch), pair.launch(side, axes)
    for step in range(pair.launches(side, axes)):
        done = device.execute(build, pair.entry, with_step(values, step), size, check=check, source_text=kernel.source)
        executed += done.warp_instructions
        if done.refused or done.faults:
            return SideRun({}, done.faults, done.refused, executed)
        values = tuple(_after(v, done.arrays) for v in values)
    return SideRun({v.name: v.array for v in values if v.writable}, (), "", executed)


def with_step(values: tuple[Value, ...], step: int) -> tuple[Value, ...]:
    """The arguments of one of several launches."""
    return tuple(dataclasses.replace(v, array=np.array(step, np.int32)) if v.name == "step" else v for v in values)


def _after(value: Value, arrays: Mapping[str, np.ndarray]) -> Value:
    return dataclasses.replace(value, array=arrays[value.name]) if value.writable else value
