"""One core against all on the same launches. Kernels that depend on the order of blocks run on one core by design."""

from __future__ import annotations

import os

from benchmarks.kernels import examples, geometric_mean

REPEATS = 3


def main() -> None:
    cores = os.cpu_count() or 1
    ratios: list[float] = []
    for example in examples():
        if example.program.order_sensitive:
            print(f"{example.name:26} order-sensitive: one core")
            continue
        one, _ = example.best(1, REPEATS)
        many, _ = example.best(cores, REPEATS)
        ratios.append(one / many)
        print(f"{example.name:26} {1e3 * one:8.1f} ms on 1, {1e3 * many:8.1f} ms on {cores}: {ratios[-1]:.2f}x")
    print(f"geometric mean over {len(ratios)} kernels: {geometric_mean(ratios):.2f}x on {cores} cores")
