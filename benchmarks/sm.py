"""The simulation of one SM alone: cycles and warp instructions per second, tracing left out, on the example tasks.

For scale: Accel-Sim's authors give 12.5 thousand warp instructions per second for their trace-driven mode (Khairy et
al., "Accel-Sim: An Extensible Simulation Framework for Validated GPU Modeling", ISCA 2020, section II-E, Simulation
rate). It simulates all SMs, L2 and DRAM in detail, we simulate one SM: this is a statement about waiting time, not
about like work.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.kernels import examples
from warpsight.devices.virtual import VirtualGpu
from warpsight.vgpu import timemodel
from warpsight.vgpu.gpus import find_gpu

ACCEL_SIM_WARP_INSTRUCTIONS_PER_S = 12.5e3


def main() -> None:
    plain = timemodel.simulate
    cycles = issued = 0
    seconds = 0.0

    def clocked(*given: Any) -> dict[str, Any]:
        nonlocal cycles, issued, seconds
        start = time.perf_counter()
        found = plain(*given)
        seconds += time.perf_counter() - start
        cycles += int(found["cycles"])
        issued += int(found["issued"])
        return found

    timemodel.simulate = clocked
    try:
        device = VirtualGpu(gpu=find_gpu("a100"), profile_budget=1)
        for example in examples():
            device.profile(example.build, example.program.entry, example.values, example.size, source_text="")
    finally:
        timemodel.simulate = plain
    print(f"{cycles / 1e6:.1f} M cycles and {issued / 1e6:.1f} M warp instructions in {seconds:.2f} s")
    print(f"{cycles / seconds / 1e6:.2f} M SM cycles/s, {issued / seconds / 1e6:.2f} M warp instructions/s", end="")
    print(f": {issued / seconds / ACCEL_SIM_WARP_INSTRUCTIONS_PER_S:,.0f}x the rate that Accel-Sim's authors publish")
