"""Kernels that time model and findings are judged by: right, without faults, different where they claim to differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import ladder
from benchmarks.pairs import SIDES, Pair, load_pairs, load_ties, run_side
from benchmarks.pairs.first_line import launch_size, read_kernel

from warpsight.causes import causes
from warpsight.devices.virtual import VirtualGpu, refusal
from warpsight.toolchain.compile import compile_cuda

KNOWN = load_pairs()
PAIRS = {p.name: p for p in (*KNOWN, *load_ties())}
RUNGS = {r.number: r for r in ladder.load_ladder()}
DEVICE = VirtualGpu(cores=1)
Arrays = Mapping[str, Any]


# ---------------------------------------------------------------------------------------------------------- ladder


@pytest.mark.parametrize("number", RUNGS)
def test_each_rung_multiplies_without_a_fault(number: int) -> None:
    kernel, m, n, k = RUNGS[number].kernel, 256, 512, 64
    values = ladder.ladder_values(m, n, k)
    built = compile_cuda(kernel.source, gpu_arch=ladder.GPU_ARCH, options=kernel.options, entry=ladder.ENTRY)
    assert built.ok, built.diagnostics
    size = launch_size(kernel, {"M": m, "N": n, "K": k})
    done = DEVICE.execute(built, ladder.ENTRY, values, size, check=True, source_text=kernel.source)
    assert (done.faults, done.refused) == ((), "")
    a, b, c = (v.array.astype(np.float64) for v in values if not v.is_scalar)
    np.testing.assert_allclose(done.arrays["C"], ladder.ALPHA * a @ b + ladder.BETA * c, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("number", RUNGS)
def test_each_rung_fits_its_gpu_without_spilling(number: int) -> None:
    kernel = RUNGS[number].kernel
    built = compile_cuda(kernel.source, gpu_arch=ladder.GPU_ARCH, options=kernel.options, entry=ladder.ENTRY)
    (usage,) = built.entries
    assert (usage.spill_store_bytes, usage.spill_load_bytes, usage.local_bytes) == (0, 0, 0)
    size = launch_size(kernel, dict.fromkeys("MNK", ladder.PUBLISHED_SIZE))
    assert refusal(built, ladder.ENTRY, size) == ""


def test_published_speeds_are_read_as_times() -> None:
    assert list(RUNGS) == list(range(1, 12))
    assert RUNGS[1].published_us == pytest.approx(444_786, rel=1e-4)  # 137.4 GFLOP at 309 GFLOP/s
    assert max(RUNGS.values(), key=lambda r: r.published_gflops).number == 10


# ----------------------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize("name", PAIRS)
def test_both_kernels_of_a_pair_give_the_same_result_without_a_fault(name: str) -> None:
    pair = PAIRS[name]
    slow, fast = (run_side(pair, side, pair.small, DEVICE, check=True) for side in SIDES)
    assert (slow.faults, slow.refused, fast.faults, fast.refused) == ((), "", (), "")
    before = {v.name: v.array for v in pair.values("slow", pair.small) if v.writable}
    assert slow.arrays.keys() == fast.arrays.keys() == before.keys() != set()
    for output, array in slow.arrays.items():
        assert not np.array_equal(array.view(np.uint8), before[output].view(np.uint8)), f"{output} was not written"
        np.testing.assert_allclose(fast.arrays[output], array, rtol=pair.rtol, atol=0, err_msg=output)


@pytest.mark.parametrize("gpu_arch", ["sm_80", "sm_86"])
@pytest.mark.parametrize("name", PAIRS)
def test_large_launches_are_possible_on_big_gpus(name: str, gpu_arch: str) -> None:
    pair = PAIRS[name]
    for side in SIDES:
        built = pair.build(side, gpu_arch)
        assert built.ok, built.diagnostics
        assert refusal(built, pair.entry, pair.launch(side, pair.large)) == ""


def test_every_folder_is_a_pair_and_every_finding_is_used() -> None:
    folders = {p.parent.name for p in (Path(__file__).parents[1] / "benchmarks" / "pairs").glob("*/slow.cu")}
    assert folders == set(PAIRS)
    never = {"at_roofline", "issue_bound", "low_occupancy", "block_too_large", "tail"}
    never |= {"thread_per_row", "serial_loop", "overlapping_reads"}  # tests/lens/test_walking.py has kernels for these
    assert {p.expected_finding for p in KNOWN} == set(causes()) - never
    assert all(p.ties_on for p in load_ties()) and not any(p.ties_on for p in KNOWN)


def test_a_kernel_without_a_launch_line_is_named() -> None:
    with pytest.raises(ValueError, match="expected a first line"):
        read_kernel("__global__ void k() {}\n")


# What the kernels compute, by itself: two kernels that agree could still both be wrong.
EXPECTED: dict[str, Callable[[Arrays], Any]] = {
    "transpose_tiled": lambda v: v["x"].T,
    "transpose_padding": lambda v: v["x"].T,
    "copy_order": lambda v: 2 * v["x"],
    "particles_layout": lambda v: (v["particles"][:, 3:6] ** 2).sum(1) / 2,
    "thread_chunks": lambda v: 3 * v["x"] + 1,
    "gather_order": lambda v: (v["table"][v["where"]] * v["weight"]).sum(dtype=np.uint32, keepdims=True),
    "transpose_padding_dram": lambda v: v["x"].T,
    "misaligned_pieces": lambda v: np.tile(sums_of_pieces(v["x"][1:], v["rounds"]), v["y"].size // 1024),
    "misaligned_pieces_dram": lambda v: 2 * v["x"][1:],
    "bytes_packed": lambda v: 255 - v["x"],
    "copy_float4": lambda v: v["x"],
    "copy_float4_dram": lambda v: v["x"],
    "half_pairs": lambda v: 2 * v["x"] + v["y"],
    "half_pairs_dram": lambda v: 2 * v["x"] + v["y"],
    "sums_in_memory": lambda v: v["x"] * v["w"].sum(),
    "reloaded_scale": lambda v: v["x"] * np.repeat(v["scales"][v["chosen"]], 512)[: v["x"].size],
    "reloaded_scale_dram": lambda v: v["x"] * np.repeat(v["scales"][v["chosen"]], 4096)[: v["x"].size],
    "matmul_tiled": lambda v: v["A"] @ v["B"],
    "matmul_registers": lambda v: v["A"] @ v["B"],
    "tensor_cores": lambda v: v["A"].astype(np.float32) @ v["B"].astype(np.float32),
    "stencil_taps": lambda v: np.lib.stride_tricks.sliding_window_view(v["x"], (9, 9)).sum((2, 3)),
    "atomic_sum": lambda v: v["x"].sum(keepdims=True),
    "histogram_global": lambda v: np.bincount(v["x"], minlength=64),
    "histogram_copies": lambda v: np.bincount(v["x"] % 64, 1 + v["x"] // 64, minlength=64),
    "serial_sum": lambda v: v["x"].reshape(-1, 256).sum(1),
    "reduce_interleaved": lambda v: sums_of_rounds(v["x"], 256),
    "reduce_shuffles": lambda v: sums_of_rounds(v["x"], 256),
    "reduce_strided": lambda v: sums_of_rounds(v["x"], 1024),
    "too_few_blocks": lambda v: 2 * v["x"] + v["y"],
    "tiny_launches": lambda v: 2 * v["x"] + 1,
    "integer_division": lambda v: remainders(v["x"], v["period"]),
    "accumulators": lambda v: v["x"] * v["w"].sum(),
    "blocks_of_32": lambda v: followed(v["next"], v["steps"]),
}


def sums_of_pieces(x: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """Each thread of a block: the sum of the vectors it meets, one in every 256."""
    turns = np.arange(int(rounds))[:, None] * 256 + np.arange(256)
    return x.reshape(-1, 4)[turns % 2048].sum(0, dtype=np.float64).reshape(-1)


def sums_of_rounds(x: np.ndarray, block: int) -> np.ndarray:
    return (x.reshape(-1, 1, block) ^ np.arange(8)[:, None]).sum(2).reshape(-1)


def remainders(x: np.ndarray, period: np.ndarray) -> np.ndarray:
    j = np.arange(32, dtype=np.uint64)
    return ((x[:, None] + j) % period * (j + np.uint64(1))).sum(1)


def followed(following: np.ndarray, steps: np.ndarray) -> np.ndarray:
    row = np.arange(following.size // 32)
    for _ in range(int(steps)):
        row = following[row * 32]
    return np.repeat(row, 32)


@pytest.mark.parametrize("name", EXPECTED)
def test_pairs_compute_what_they_say(name: str) -> None:
    pair = PAIRS[name]
    before = {v.name: v.array for v in pair.values("slow", pair.small)}
    got = next(iter(run_side(pair, "slow", pair.small, DEVICE, check=False).arrays.values()))
    np.testing.assert_allclose(
        got, EXPECTED[name](before), rtol=2e-3 if got.dtype == np.float16 else max(pair.rtol, 1e-5)
    )


# A counter of which the slow kernel has at least so many times as much; the fast one may have none.
SHOWS = {
    "transpose_tiled": ("global_store_sectors", 8),
    "transpose_padding": ("shared_bank_conflicts", 10),
    "copy_order": ("global_load_sectors", 8),
    "particles_layout": ("global_load_sectors", 8),
    "thread_chunks": ("global_load_sectors", 8),
    "gather_order": ("global_load_sectors", 3),
    "misaligned_pieces": ("global_load_requests", 4),
    "misaligned_pieces_dram": ("global_load_requests", 4),
    "transpose_padding_dram": ("shared_bank_conflicts", 10),
    "copy_float4_dram": ("global_load_requests", 4),
    "half_pairs_dram": ("global_load_requests", 2),
    "reloaded_scale_dram": ("global_load_requests", 2.5),
    "bytes_packed": ("global_load_requests", 16),
    "copy_float4": ("global_load_requests", 4),
    "half_pairs": ("global_load_requests", 2),
    "sums_in_memory": ("global_store_requests", 60),
    "reloaded_scale": ("global_load_requests", 2.5),
    "stencil_taps": ("global_load_sectors", 30),
    "matmul_tiled": ("global_load_sectors", 16),
    "matmul_registers": ("shared_wavefronts", 2),
    "shared_rows": ("shared_bank_conflicts", 10),
    "reduce_strided": ("shared_bank_conflicts", 10),
    "local_array": ("local_sectors", 10),
    "atomic_sum": ("atomic_passes", 200),
    "histogram_copies": ("atomic_passes", 20),
    "divergent_branch": ("branches_divergent", 10),
    "uneven_trips": ("instructions", 3),
    "serial_sum": ("instructions", 4),
    "reduce_interleaved": ("branches_divergent", 4),
    "reduce_shuffles": ("barriers", 3),
    "needless_barriers": ("barriers", 100),
    "double_literals": ("mix_double", 100),
    "sine_table": ("instructions", 5),
    "power_by_multiplying": ("instructions", 10),
    "unrolled_loop": ("branches", 10),
}


@pytest.mark.parametrize("name", SHOWS)
def test_the_difference_shows_in_the_counters(name: str) -> None:
    counter, times = SHOWS[name]
    slow, fast = (counters_of(PAIRS[name], side) for side in SIDES)
    assert slow[counter] > 0
    assert slow[counter] >= times * fast[counter], (slow[counter], fast[counter])


def counters_of(pair: Pair, side: Any) -> Mapping[str, int | float]:
    values, size = pair.values(side, pair.small), pair.launch(side, pair.small)
    return DEVICE.profile(pair.build(side), pair.entry, values, size, source_text="").counters


def test_spills_and_registers_are_where_they_are_claimed() -> None:
    usage = {
        (name, side): PAIRS[name].build(side).entries[0] for name in ("spills", "occupancy_registers") for side in SIDES
    }
    assert usage["spills", "slow"].spill_store_bytes > 0 == usage["spills", "fast"].spill_store_bytes
    assert usage["occupancy_registers", "slow"].registers > 4 * usage["occupancy_registers", "fast"].registers
