"""What simpler rules say of the same rows: a time, or only an order.

They get the counts of our own machine for nothing (instructions, bytes, busy units), so they are at their best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.measured.predicted import Outcome
from benchmarks.measured.sets import Config, Row
from warpsight.vgpu.gpu import Gpu

ORDER_ONLY = ("occupancy", "fewest instructions")
NAMES = ("roofline", "busiest resource", *ORDER_ONLY)


def rival_times(outcome: Outcome, gpu: Gpu) -> dict[str, float]:
    """A number for each rule, larger for slower; those of ORDER_ONLY have no unit."""
    dram_s = 32.0 * outcome.counts["dram_sectors"] / (gpu.dram_gb_per_s * 1e9)
    flops_s = outcome.counts["flops"] / (gpu.peak_gflops("f32") * 1e9)
    busiest = max(outcome.shares.values(), default=1.0) * (outcome.time_us - outcome.launch_us)
    return {
        "roofline": 1e6 * max(dram_s, flops_s),
        "busiest resource": busiest + outcome.launch_us,
        "occupancy": 1.0 / max(outcome.occupancy, 1e-9),
        "fewest instructions": outcome.counts["instructions"],
    }


def _ktt(config: Config) -> tuple[int, ...] | None:
    if "BLOCK_SIZE_X" not in config:
        return None
    return tuple(config[name] for name in ("BLOCK_SIZE_X", "BLOCK_SIZE_Y", "TILE_SIZE_X", "TILE_SIZE_Y", "READ_ONLY"))


def _kernel_tuner(config: Config) -> tuple[int, ...] | None:
    if not config.get("use_shmem") or config.get("use_padding"):
        return None
    return tuple(config[name] for name in ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "read_only"))


def other_card(rows: Sequence[Row], others: Sequence[Row]) -> Mapping[int, float]:
    """By place in `rows`: what the same convolution took on the other card, where both measured it."""
    times: dict[tuple[int, ...], float] = {}
    for row in others:
        key = _ktt(row.config) or _kernel_tuner(row.config)
        if key is not None:
            times[key] = row.measured_us
    found = ((at, _ktt(row.config) or _kernel_tuner(row.config)) for at, row in enumerate(rows))
    return {at: times[key] for at, key in found if key is not None and key in times}
