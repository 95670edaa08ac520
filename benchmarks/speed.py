"""How fast the core executes (one core, counters on), and how long a kernel takes to load, for every example task."""

from __future__ import annotations

import statistics
import time

from benchmarks.kernels import Example, examples, geometric_mean
from warpsight.vgpu import machine
from warpsight.vgpu.ptx import load_ptx

REPEATS = 5


def load_ms(example: Example) -> float:
    """PTX text to a program ready in the core; the median of several, since the first pays for warm-up."""
    times: list[float] = []
    for _ in range(2 * REPEATS + 1):
        start = time.perf_counter()
        machine.load(load_ptx(example.build.ptx, example.program.entry))
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    rates: list[float] = []
    loads: list[float] = []
    print(f"{'kernel':26} {'thread-instr':>13} {'ms':>9} {'G/s/core':>9} {'load ms':>8} {'instr':>6}")
    for example in examples():
        seconds, threads = example.best(1, REPEATS)
        rates.append(threads / seconds / 1e9)
        loads.append(load_ms(example))
        ran = f"{threads:13,} {1e3 * seconds:9.1f} {rates[-1]:9.2f}"
        print(f"{example.name:26} {ran} {loads[-1]:8.1f} {len(example.program.code):6}")
    rate = geometric_mean(rates)
    print(f"geometric mean over {len(rates)} kernels: {rate:.2f} G thread-instructions per second per core")
    print(f"load time: median {statistics.median(loads):.1f} ms, worst {max(loads):.1f} ms")
