"""Calls of libraries that compute on the host (cuBLAS, cuFFT, cuRAND): counted, and timed by the roofline.

The program tells what a call amounts to: operations of one kind of arithmetic, and bytes. Its time is the larger of
what the peak of the arithmetic and what DRAM take for that, so a real library is rarely as fast. Numbers come from the
program and go nowhere but into this account.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpsight.nouns import LibraryCalls
from warpsight.programs.messages import BadRequest, Fields, pack_numbers
from warpsight.vgpu.gpu import Arithmetic, Gpu

KINDS: tuple[tuple[Arithmetic, ...], ...] = (
    ("f32",), ("f64",), ("tensor_f16", "f16"), ("tensor_bf16", "tensor_f16", "f32"), ("tensor_tf32", "f32"),
    ("tensor_s8", "i32"), ("tensor_f64", "f64"),
)  # fmt: skip
"""By the numbers of `runtime/state.hpp`: what a library runs on, the best that a GPU has of these."""
MOST_FUNCTIONS = 1000
MOST_WORK = 10**18


@dataclass
class _Calls:
    count: int = 0
    flops: float = 0.0
    size_bytes: float = 0.0
    time_us: float = 0.0


class LibraryAccount:
    """The calls of one run. Without `timed`, they take no time."""

    def __init__(self, gpu: Gpu, *, timed: bool) -> None:
        self._gpu, self._timed = gpu, timed
        self._calls: dict[str, _Calls] = {}

    def call(self, asked: Fields) -> bytes:
        """One call; the answer is its time in nanoseconds."""
        name, flops, size_bytes = asked.text(), asked.number(MOST_WORK), asked.number(MOST_WORK)
        kind = asked.number(len(KINDS) - 1)
        asked.end()
        if name not in self._calls and len(self._calls) >= MOST_FUNCTIONS:
            raise BadRequest(f"expected at most {MOST_FUNCTIONS} functions of libraries")
        found = self._calls.setdefault(name, _Calls())
        took = self.roofline_us(flops, size_bytes, kind) if self._timed else 0.0
        found.count += 1
        found.flops += flops
        found.size_bytes += size_bytes
        found.time_us += took
        return pack_numbers([round(took * 1e3)])

    def roofline_us(self, flops: int, size_bytes: int, kind: int) -> float:
        peak = max(self._gpu.peak_gflops(arithmetic) for arithmetic in KINDS[kind])
        dram = self._gpu.dram_gb_per_s * self._gpu.dram_efficiency
        return max(flops / peak, size_bytes / dram) / 1e3

    def rows(self) -> tuple[LibraryCalls, ...]:
        """By function, longest first."""
        rows = [
            LibraryCalls(function=name, count=c.count, flops=c.flops, size_bytes=c.size_bytes, time_us=c.time_us)
            for name, c in self._calls.items()
        ]
        return tuple(sorted(rows, key=lambda row: -row.time_us))
