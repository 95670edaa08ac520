"""Kernels of programs beside what a real RTX 3080 did: time, DRAM bytes, operations, the class under the roofline.

A kernel is one with its name, grid and block; repeats of a measurement are one by their median. Measured times are
Nsight Compute's at the base clock, so ours is at that clock, as it is told (with the launch). Class: compute
where the operations of one kind for each DRAM byte are at least what the card can do of it for each byte, else
bandwidth. Other options of another compiler, or data after a launch that was cut off, make other work of a kernel: the
same work is where operations agree within `SAME_WORK`.
"""

from __future__ import annotations

import ast
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.measured.statistics import agreement
from benchmarks.programs.profiled import GPU
from benchmarks.programs.rows import Row, commits
from warpsight.vgpu.faults import kernel_name
from warpsight.vgpu.gpus import find_gpu

MOST_SHOWN = 40
INT32_LANES = 64  # a clock and multiprocessor of GA10x: its white paper
SAME_WORK = 1.5
LEAST_BYTES = 1e5  # fewer from DRAM are noise of the tool
Key = tuple[str, str, str, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Beside:
    """One kernel, ours and theirs."""

    key: Key
    ours: Row
    time_us: float
    dram: float
    sp: float
    dp: float
    integer: float

    @property
    def our_us(self) -> float:
        return float(self.ours["duration_us_at_base_clock"])

    @property
    def same_work(self) -> bool:
        theirs = self.sp + self.dp + self.integer
        ours = self.ours["sp"] + self.ours["dp"] + self.ours["integer"]
        return not self.ours.get("after_cut") and (
            theirs == ours or 1 / SAME_WORK <= ours / max(theirs, 1) <= SAME_WORK
        )


def beside(rows: Iterable[Row], launches: Sequence[dict[str, str]]) -> tuple[list[Beside], dict[str, int]]:
    """The pairs, and why others have none."""
    measured: dict[Key, list[dict[str, str]]] = defaultdict(list)
    for one in launches:
        grid, block = (tuple(ast.literal_eval(one[name])) for name in ("grid", "block"))
        measured[one["program"], one["arguments"], one["kernel"], grid, block].append(one)
    ours: dict[Key, list[Row]] = defaultdict(list)
    ran = {(row["program"], row["arguments"]): row for row in rows}
    for (program, arguments), row in ran.items():
        for kernel in row["kernels"]:
            key = (program, arguments, kernel_name(kernel["kernel"]), tuple(kernel["grid"]), tuple(kernel["block"]))
            ours[key].append(kernel)
    found: list[Beside] = []
    why: dict[str, int] = defaultdict(int)
    for key, theirs in measured.items():
        if key[:2] not in ran:
            why["program not run yet"] += 1
        elif not ours[key]:
            why[f"not reached: program {ran[key[:2]]['outcome']}" if not _named(ours, key) else "another size"] += 1
        elif len({one["signature"] for one in theirs}) > 1 or len(ours[key]) > 1:
            why["template instances that look alike"] += 1
        elif not ours[key][0]["counted"]:
            why[f"no machine code: {ours[key][0]['no_time'][:50]}"] += 1
        else:
            found.append(_pair(key, ours[key][0], theirs))
    return found, dict(why)


def _named(ours: dict[Key, list[Row]], key: Key) -> bool:
    return any(other[:3] == key[:3] and rows for other, rows in ours.items())


def _pair(key: Key, ours: Row, theirs: Sequence[dict[str, str]]) -> Beside:
    def middle(of: Callable[[dict[str, str]], float]) -> float:
        return statistics.median(of(one) for one in theirs)

    def total(name: str) -> float:
        return middle(lambda one: float(one[name] or 0) * float(one["time_ns"]) / 1e9)

    return Beside(
        key, ours, middle(lambda one: float(one["time_ns"]) / 1e3), total("dram_bytes_per_s"), total("sp_flop_per_s"),
        total("dp_flop_per_s"), middle(lambda one: float(one["integer_operations"] or 0)),
    )  # fmt: skip


def ridges() -> dict[str, float]:
    """Operations for each byte at which arithmetic and DRAM take equally long, at the base clock."""
    gpu = find_gpu(GPU)
    mhz = gpu.base_mhz
    return {
        "sp": gpu.ridge_flops_per_byte("f32", mhz), "dp": gpu.ridge_flops_per_byte("f64", mhz),
        "integer": INT32_LANES * gpu.sms * mhz / 1e3 / gpu.dram_gb_per_s,
    }  # fmt: skip


def is_compute(dram: float, operations: dict[str, float], kinds: Sequence[str]) -> bool:
    limit = ridges()
    return any(operations[kind] >= limit[kind] * max(dram, 1.0) and operations[kind] > 0 for kind in kinds)


def show(pairs: list[Beside], why: dict[str, int], rows: list[Row]) -> None:
    """Times, DRAM bytes, operations, classes; then the kernels that are furthest off."""
    programs = {pair.key[0] for pair in pairs}
    print(f"\n{len(pairs)} kernels of {len(programs)} programs beside {GPU}; rows were made at: {commits(rows)}")
    for reason, times in sorted(why.items(), key=lambda one: -one[1]):
        print(f"  {times:4} kernels without a pair: {reason}")
    if not pairs:
        return
    _numbers(f"all {len(pairs)}", pairs)
    same = [pair for pair in pairs if pair.same_work]
    _numbers(f"the {len(same)} that do the same work", same)
    print("furthest off in time of these (ours, measured us; DRAM bytes ours, measured; bound):")
    for p in sorted(same, key=lambda one: -abs(math.log2(one.our_us / one.time_us)))[:MOST_SHOWN]:
        print(f"  {_called(p)}: {p.our_us:.4g}, {p.time_us:.4g} ({p.our_us / p.time_us:.2f}x); "
              f"{p.ours['dram_bytes']:.3g}, {p.dram:.3g}; {p.ours['bound']}")  # fmt: skip


def _numbers(title: str, pairs: list[Beside]) -> None:
    print(f"\n{title} kernels, of {len({pair.key[0] for pair in pairs})} programs")
    _ratios("time", [(p.our_us, p.time_us) for p in pairs])
    _ratios("time without the launch", [(max(0.1, p.our_us - p.ours["launch_overhead_us"]), p.time_us) for p in pairs])
    _ratios("time of those over 20 us", [(p.our_us, p.time_us) for p in pairs if p.time_us > 20])
    _ratios("DRAM bytes", [(p.ours["dram_bytes"], p.dram) for p in pairs if p.dram > LEAST_BYTES])
    for kind in ("sp", "dp", "integer"):
        _ratios(f"{kind} operations", [(p.ours[kind], getattr(p, kind)) for p in pairs if getattr(p, kind) > 1000])
    for said, kinds in (("floating point", ("sp", "dp")), ("and integers", ("sp", "dp", "integer"))):
        ours = [is_compute(p.ours["dram_bytes"], p.ours, kinds) for p in pairs]
        theirs = [is_compute(p.dram, vars(p), kinds) for p in pairs]
        same = sum(a == b for a, b in zip(ours, theirs, strict=True))
        print(f"roofline class by {said}: {same} of {len(pairs)} agree ({same / max(1, len(pairs)):.1%}); "
              f"compute measured {sum(theirs)}, ours {sum(ours)}")  # fmt: skip
        for p, a, b in zip(pairs, ours, theirs, strict=True):
            if a != b:
                name = "compute" if a else "bandwidth"
                print(f"  differs: {_called(p)}: ours {name}, DRAM {p.ours['dram_bytes']:.3g}, measured {p.dram:.3g}")
    by_bound: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for p in pairs:
        by_bound[p.ours["bound"]].append((p.our_us, p.time_us))
    for bound, both in sorted(by_bound.items(), key=lambda one: -len(one[1])):
        _ratios(f"time, bound by {bound}", both)


def _called(pair: Beside) -> str:
    program, _, kernel, grid, block = pair.key
    return f"{program.removesuffix('-cuda')} {kernel} {'x'.join(map(str, grid))} x {'x'.join(map(str, block))}"


def _ratios(what: str, both: list[tuple[float, float]]) -> None:
    """Order and errors of numbers that are above zero on both sides."""
    there = [(max(a, 1e-9), b) for a, b in both if b > 0 and a is not None]
    if not there:
        return
    found = agreement([a for a, _ in there], [b for _, b in there])
    ratios = [a / b for a, b in there]
    within = float(np.mean([0.5 <= r <= 2 for r in ratios]))
    low, middle, high = (float(np.quantile(ratios, q)) for q in (0.1, 0.5, 0.9))
    order = "-" if math.isnan(found.tau) else f"{found.tau:.2f}"
    print(f"{what}: n {found.n}, tau {order}, median |log2| {found.median:.2f}, 90 % {found.ninety:.2f}, within 2x "
          f"{within:.0%}; ours over measured at 10, 50, 90 %: {low:.2f}, {middle:.2f}, {high:.2f}")  # fmt: skip
