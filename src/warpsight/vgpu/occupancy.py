"""How many blocks of a kernel an SM holds at once, and what stops it from holding more.

The rules are those of the vendor's calculator (cuda_occupancy.h), whose answers the tests hold this to. Pure functions
of the limits, the block and what it uses. Not covered: named barriers and clusters, which can limit further from
compute capability 9.0 on, and what a running kernel reaches: this is the most that can be resident.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from warpsight.errors import UsageError
from warpsight.nouns import Noun
from warpsight.vgpu.gpu import WARP_THREADS, GpuLimits

Limiter = Literal["warps", "blocks", "registers", "shared"]
BLOCK_SIZES = tuple(range(32, 1025, 32))
REGISTER_COUNTS = tuple(range(16, 256, 8))


class Occupancy(Noun):
    """One answer. A limit is the blocks an SM could hold if only that resource counted; None when it sets none."""

    threads: int
    registers: int
    shared_bytes: int
    blocks_per_sm: int
    warps_per_sm: int
    warps_possible: int
    limited_by: tuple[Limiter, ...]
    limit_warps: int
    limit_blocks: int
    limit_registers: int | None
    limit_shared: int | None
    registers_per_block: int
    shared_per_block_bytes: int
    carve_out_bytes: int
    l1_bytes: int

    @property
    def fraction(self) -> float:
        """Warps resident over warps possible: 1 is full."""
        return self.warps_per_sm / self.warps_possible


def occupancy(
    limits: GpuLimits, threads: int, registers: int, shared_bytes: int = 0, *, carve_out_percent: int | None = None
) -> Occupancy:
    """Blocks of `threads` threads per SM; no blocks at all when one does not fit.

    `shared_bytes` is static and dynamic together, and a block may have as much as the opt-in allows. Without
    `carve_out_percent` (the preference that a launch can set) shared memory may grow to the largest carve-out.
    """
    _check(threads, registers, shared_bytes, carve_out_percent)
    warps = -(-threads // WARP_THREADS)
    registers_used, by_registers = _registers(limits, warps, registers)
    shared_used, by_shared = _shared(limits, shared_bytes, carve_out_percent)
    by_warps = limits.warps_per_sm // warps if threads <= limits.threads_per_block else 0
    each: dict[Limiter, int | None] = {
        "warps": by_warps, "blocks": limits.blocks_per_sm, "registers": by_registers, "shared": by_shared,
    }  # fmt: skip
    blocks = min(limit for limit in each.values() if limit is not None)
    carve_out = next((c for c in limits.carve_outs_bytes if c >= blocks * shared_used), limits.shared_per_sm_bytes)
    return Occupancy(
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps,
        warps_possible=limits.warps_per_sm,
        limited_by=tuple(name for name, limit in each.items() if limit == blocks),
        limit_warps=by_warps,
        limit_blocks=limits.blocks_per_sm,
        limit_registers=by_registers,
        limit_shared=by_shared,
        registers_per_block=registers_used,
        shared_per_block_bytes=shared_used,
        carve_out_bytes=carve_out,
        l1_bytes=limits.unified_bytes - carve_out,
    )


def occupancy_table(
    limits: GpuLimits,
    threads: Iterable[int] = BLOCK_SIZES,
    registers: Iterable[int] = REGISTER_COUNTS,
    shared_bytes: int = 0,
) -> tuple[Occupancy, ...]:
    """The answer for every block size with every register count, block sizes outermost."""
    counts = tuple(registers)
    return tuple(occupancy(limits, size, count, shared_bytes) for size in threads for count in counts)


def most_registers(limits: GpuLimits, threads: int, shared_bytes: int = 0, *, blocks: int) -> int | None:
    """The most registers a thread may use for an SM to hold this many blocks; None when no number does it."""
    fitting = (
        count
        for count in range(limits.registers_per_thread, 0, -1)
        if occupancy(limits, threads, count, shared_bytes).blocks_per_sm >= blocks
    )
    return next(fitting, None)


def _registers(limits: GpuLimits, warps: int, registers: int) -> tuple[int, int | None]:
    """Registers given to a block, and the blocks that fit; each sub-partition gives its own warps their registers."""
    per_warp = _round_up(registers * WARP_THREADS, limits.register_unit)
    # The hardware checks a block as if its warps filled all sub-partitions evenly.
    assumed = per_warp * _round_up(warps, limits.warp_unit)
    if assumed > limits.registers_per_block or registers > limits.registers_per_thread:
        return per_warp * warps, 0
    if per_warp == 0:
        return 0, None
    warps_held = limits.registers_per_sm // limits.warp_unit // per_warp * limits.warp_unit
    return per_warp * warps, warps_held // warps


def _shared(limits: GpuLimits, shared_bytes: int, carve_out_percent: int | None) -> tuple[int, int | None]:
    """Shared bytes given to a block, with the driver's part, and the blocks that fit the carve-out."""
    used = _round_up(shared_bytes + limits.shared_reserved_bytes, limits.shared_unit_bytes)
    if used > limits.shared_per_block_optin_bytes + limits.shared_reserved_bytes:
        return used, 0
    if used == 0:
        return 0, None
    percent = 100 if carve_out_percent is None else carve_out_percent
    wanted = max(limits.shared_per_sm_bytes * percent // 100, used)  # a preference that holds no block is not kept
    return used, next(size for size in limits.carve_outs_bytes if size >= wanted) // used


def _check(threads: int, registers: int, shared_bytes: int, carve_out_percent: int | None) -> None:
    if threads < 1:
        raise UsageError(f"expected at least 1 thread in a block, found {threads}")
    if registers < 0 or shared_bytes < 0:
        raise UsageError(f"expected registers and shared bytes of 0 or more, found {registers} and {shared_bytes}")
    if carve_out_percent is not None and not 0 <= carve_out_percent <= 100:
        raise UsageError(f"expected a carve-out of 0 to 100 percent, found {carve_out_percent}")


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
