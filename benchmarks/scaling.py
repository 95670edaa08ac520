"""One core against all on the same launches, counted and checked.

Programs that depend on the order of blocks run on one core by design. Where others use the machine, elapsed time says
little: the CPU seconds of all cores against those of one say what sharing the work costs.
"""

from __future__ import annotations

import os
import resource

from benchmarks.kernels import Example, examples, geometric_mean
from warpsight.devices.memory import lay_out

REPEATS = 3


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least(example: Example, cores: int, check: bool) -> tuple[float, float]:
    """Elapsed and CPU seconds, each the least of several."""
    elapsed: list[float] = []
    used: list[float] = []
    for _ in range(REPEATS):
        start = cpu_seconds()
        lay_out(example.program, example.values)
        laid = cpu_seconds()
        seconds, _ = example.run(cores, check=check)
        elapsed.append(seconds)
        used.append(cpu_seconds() - laid - (laid - start))  # the launch alone
    return min(elapsed), min(used)


def main() -> dict[str, float]:
    """Prints the table; returns the mean gain of all cores over one, checked launches included."""
    gains: list[float] = []
    cores = os.cpu_count() or 1
    for check in (False, True):
        ratios: list[float] = []
        costs: list[float] = []
        for example in examples():
            if example.program.order_sensitive:
                print(f"{example.name:26} order-sensitive: one core")
                continue
            one, one_cpu = least(example, 1, check)
            many, many_cpu = least(example, cores, check)
            ratios.append(one / many)
            costs.append(many_cpu / one_cpu)
            told = f"{1e3 * one:8.1f} ms on 1, {1e3 * many:8.1f} ms on {cores}: {ratios[-1]:.2f}x"
            print(f"{example.name:26} {told}, {costs[-1]:.2f} times the CPU seconds")
        what = "checked" if check else "counted"
        gains += ratios
        mean, cost = geometric_mean(ratios), geometric_mean(costs)
        print(
            f"{what}: geometric mean over {len(ratios)} kernels: {mean:.2f}x on {cores} cores, {cost:.2f} CPU seconds"
        )
    return {"two_cores": geometric_mean(gains)}
