"""Findings on kernels with a known defect, and on their repaired versions: what is named, where, and for what gain."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest
from benchmarks.pairs import Side, load_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsight.causes import causes
from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.lens import rederive
from warpsight.lens.findings import DETECTORS, detect, find, is_vague
from warpsight.lens.findings.gains import Change, gain
from warpsight.lens.findings.parallelism import too_few_blocks
from warpsight.nouns import Build, Finding, Profile
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.gpus import find_gpu

PAIRS = {pair.name: pair for pair in load_pairs()}
QUICK = (
    "particles_layout", "sums_in_memory", "stencil_taps", "shared_rows", "constant_index", "spills", "local_array",
    "atomic_sum", "histogram_copies", "occupancy_shared", "occupancy_registers", "blocks_of_32", "too_few_blocks",
    "tiny_launches", "uneven_trips", "serial_sum", "needless_barriers", "double_literals", "integer_division",
    "accumulators", "async_copies", "unrolled_loop", "transpose_tiled", "copy_float4", "matmul_registers",
    "tensor_cores", "reloaded_scale", "reduce_shuffles", "distances", "matvec_rows", "median_window", "scan_barriers",
)  # fmt: skip
ALSO = {"issue_bound": "unrolled_loop"}
"""Findings that come second to another one: the pair whose worse kernel has them too."""


@functools.cache
def profiled(name: str, side: Side) -> tuple[Profile, Build]:
    pair, gpu = PAIRS[name], find_gpu("rtx-a6000")
    build = pair.build(side, gpu.arch)
    device = VirtualGpu(gpu=gpu, profile_budget=300_000)
    values, size = pair.values(side, pair.large), pair.launch(side, pair.large)
    return device.profile(build, pair.entry, values, size, source_text=pair.kernel(side).source), build


def named(findings: tuple[Finding, ...], name: str) -> Finding | None:
    return next((finding for finding in findings if finding.name == name), None)


@pytest.mark.parametrize("name", QUICK)
def test_the_defect_is_named_and_gone_when_repaired(name: str) -> None:
    expected = PAIRS[name].expected_finding
    slow, fast = find(*profiled(name, "slow")), find(*profiled(name, "fast"))
    assert expected in [finding.name for finding in slow[:2]]
    defect = named(slow, expected)
    assert defect is not None and defect.estimated_gain is not None and defect.estimated_gain > 1.05
    assert expected not in [finding.name for finding in fast]


@pytest.mark.parametrize(("expected", "name"), ALSO.items())
def test_findings_that_come_second(expected: str, name: str) -> None:
    slow, fast = find(*profiled(name, "slow")), find(*profiled(name, "fast"))
    assert expected in [finding.name for finding in slow[:2]] and expected not in [finding.name for finding in fast]


BUSY_BLOCKS = """
extern "C" __global__ void k(float *y, int rounds) {
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int r = 0; r < rounds; ++r) {
        a = a * 0.5f + 1; b = b * 0.5f + 1; c = c * 0.5f + 1; d = d * 0.5f + 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
"""


def busy_blocks(blocks: int, threads: int, text: str = BUSY_BLOCKS) -> tuple[Finding, ...]:
    """The same work in blocks of another size, on 84 multiprocessors."""
    gpu = find_gpu("rtx-a6000")
    build = compile_cuda(text, gpu_arch=gpu.arch, entry="k")
    y, rounds = np.zeros(blocks * threads, np.float32), np.array(500, np.int32)
    values = (Value("y", y, writable=True), Value("rounds", rounds, writable=False))
    size = LaunchSize((blocks, 1, 1), (threads, 1, 1), 0)
    profile = VirtualGpu(gpu=gpu, profile_budget=300_000).profile(build, "k", values, size, source_text=text)
    return find(profile, build)


BY_GRID = """
extern "C" __global__ void k(float *y, int rounds) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rounds * 4096; i += gridDim.x * blockDim.x) {
        y[i % 1024] = i * 0.5f;
    }
}
"""


@pytest.mark.parametrize(
    ("blocks", "threads", "cause", "advice"),
    [
        (20, 1024, "block_too_large", "use smaller blocks"),
        (20, 32, "block_too_small", "use larger blocks"),
        (20, 128, "too_few_blocks", "split the work"),
    ],
)
def test_few_blocks_go_by_why_they_are_few(blocks: int, threads: int, cause: str, advice: str) -> None:
    found = named(busy_blocks(blocks, threads), cause)
    assert found is not None and found.suggestion.startswith(advice) and "20 blocks on 84" in found.message


def test_a_kernel_that_goes_by_the_grid_takes_more_blocks() -> None:
    found = busy_blocks(20, 1024, BY_GRID)
    assert found[0].name == "too_few_blocks" and found[0].suggestion.startswith("launch more blocks")


FEW_LOAD = """
extern "C" __global__ void k(float *y, int rounds) {
    __shared__ float part[32];
    float sum = 0;
    for (int c = threadIdx.x; c < 256; c += blockDim.x) sum += y[blockIdx.x % 4 * 256 + c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    float all = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) all += part[w];
    if (threadIdx.x == 0) y[1024 + blockIdx.x] = all;
}
"""


def test_a_block_most_of_whose_warps_load_nothing_is_too_large() -> None:
    slow, fast = busy_blocks(4096, 1024, FEW_LOAD), busy_blocks(4096, 256, FEW_LOAD)
    found = named(slow, "block_too_large")
    assert found is not None and "load anything" in found.message and (found.estimated_gain or 0) > 1.5
    assert named(fast, "block_too_large") is None


def test_one_block_too_many_is_a_tail() -> None:
    slow, fast = busy_blocks(85, 1024), busy_blocks(680, 128)
    assert slow[0].name == "tail" and (slow[0].estimated_gain or 0) > 1.5
    assert "85 blocks on 84 multiprocessors" in slow[0].message
    assert "tail" not in [finding.name for finding in fast]


def test_every_detector_has_a_planted_defect() -> None:
    covered = {PAIRS[name].expected_finding for name in QUICK} | set(ALSO) | {"tail", "block_too_large"}
    covered |= {"thread_per_row", "serial_loop", "overlapping_reads"}  # test_walking.py
    says = {
        "uncoalesced_loads": "uncoalesced", "uncoalesced_stores": "uncoalesced", "low_occupancy": "shared_hog",
        "slow_operations": "division_in_loop", "idle_warps": "block_too_large",
    }  # fmt: skip
    assert {says.get(detector.__name__, detector.__name__) for detector in DETECTORS} <= covered
    for kind, name in (("load", "particles_layout"), ("store", "transpose_tiled")):
        finding = named(find(*profiled(name, "slow")), "uncoalesced")
        assert finding is not None and f"global {kind}s" in finding.message


@pytest.mark.parametrize(
    ("name", "within"),
    [("particles_layout", 1.2), ("shared_rows", 1.5), ("atomic_sum", 1.5), ("too_few_blocks", 1.2), ("spills", 1.5)],
)
def test_the_estimated_gain_is_near_what_the_repair_gave(name: str, within: float) -> None:
    slow, fast = profiled(name, "slow"), profiled(name, "fast")
    really = slow[0].counters["duration_us"] / fast[0].counters["duration_us"]
    finding = named(find(*slow), PAIRS[name].expected_finding)
    assert finding is not None and finding.estimated_gain is not None
    assert 1 / within <= finding.estimated_gain / really <= within


@pytest.mark.parametrize("name", QUICK)
def test_every_evidence_is_a_counter_of_the_profile(name: str) -> None:
    profile, build = profiled(name, "slow")
    lines = {line.line: line.counters for line in profile.lines}
    for finding in detect(profile, build):
        for evidence in finding.evidence:
            counters = profile.counters if evidence.line is None else lines[evidence.line]
            assert evidence.value == counters[evidence.counter] and evidence.unit == profile.units[evidence.counter]
        assert all(number.agrees for number in rederive(profile, finding))
        assert set(finding.should_move) | set(finding.assumes) <= set(profile.units)


@pytest.mark.parametrize("part", ["value", "limit", "gain", "message"])
def test_a_number_that_is_not_the_profiles_is_noticed(part: str) -> None:
    profile, build = profiled("shared_rows", "slow")
    finding = find(profile, build)[0]
    first, *others = finding.evidence
    wrong = {
        "value": {"evidence": (first.model_copy(update={"value": first.value + 1}), *others)},
        "limit": {"evidence": (first.model_copy(update={"limit": 7.0}), *others)},
        "gain": {"estimated_gain": (finding.estimated_gain or 1.0) + 0.5},
        "message": {"message": finding.message + ", 12345.5 of them"},
    }
    assert all(number.agrees for number in rederive(profile, finding))
    assert not all(number.agrees for number in rederive(profile, finding.model_copy(update=wrong[part])))


def test_a_store_by_one_lane_is_not_scattered() -> None:
    profile, build = profiled("matvec_rows", "fast")
    assert profile.counters["global_store_efficiency"] < 20  # four bytes of a sector
    assert "uncoalesced" not in [finding.name for finding in detect(profile, build)]


def test_more_blocks_of_matrix_tiles_promise_less_than_their_number() -> None:
    profile, _ = profiled("too_few_blocks", "slow")
    plain = too_few_blocks(profile, None)
    tiles = too_few_blocks(profile.model_copy(update={"counters": {**profile.counters, "mix_tensor": 1}}), None)
    assert plain is not None and tiles is not None
    assert 1 < (tiles.estimated_gain or 0) < (plain.estimated_gain or 0)


def test_the_line_with_the_defect_is_in_the_evidence() -> None:
    profile, build = profiled("spills", "slow")
    finding = named(find(profile, build), "spills")
    assert finding is not None
    worst = max(profile.lines, key=lambda line: line.counters.get("local_sectors", 0))
    assert worst.line in {evidence.line for evidence in finding.evidence}


def test_occupancy_says_what_limits_it() -> None:
    limits = {
        "occupancy_shared": ("shared_hog", "dynamic shared memory"),
        "occupancy_registers": ("too_many_registers", "registers in"),
        "blocks_of_32": ("block_too_small", "blocks of 32"),
    }
    for name, (cause, words) in limits.items():
        finding = named(find(*profiled(name, "slow")), cause)
        assert finding is not None and words in finding.message


def test_stop_is_said_first_near_the_roof_and_only_there() -> None:
    fast = find(*profiled("particles_layout", "fast"))
    assert fast[0].name == "at_roofline" and "stop" in fast[0].message
    assert all((finding.estimated_gain or 1.0) < 1.05 for finding in fast)
    assert named(find(*profiled("particles_layout", "slow")), "at_roofline") is None


def test_every_finding_of_the_pairs_has_a_detector_and_there_are_enough() -> None:
    assert len(DETECTORS) == len(set(DETECTORS)) >= 16
    seen = {f.name for name in QUICK for side in ("slow", "fast") for f in detect(*profiled(name, side))}
    assert {PAIRS[name].expected_finding for name in QUICK} <= seen
    assert {PAIRS[name].expected_finding for name in QUICK} <= set(causes())


def test_findings_are_ordered_by_gain_and_what_is_vague_comes_last() -> None:
    for name in QUICK:
        profile, build = profiled(name, "slow")
        found = detect(profile, build)
        places = [(is_vague(profile, one), -(one.estimated_gain or 0.0)) for one in found]
        assert places == sorted(places)
    tiny = [finding.name for finding in find(*profiled("tiny_launches", "slow"))]
    assert "launch_overhead" in tiny, "the last word, but said"


def test_a_profile_without_a_time_has_no_gains() -> None:
    pair = PAIRS["particles_layout"]
    build = pair.build("slow", "sm_86")
    values, size = pair.values("slow", pair.small), pair.launch("slow", pair.small)
    profile = VirtualGpu().profile(build, pair.entry, values, size, source_text=pair.slow.source)
    found = find(profile, build)
    assert "uncoalesced" in [finding.name for finding in found]
    assert all(finding.estimated_gain is None for finding in found)


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(("spills", "stencil_taps", "histogram_copies", "occupancy_shared", "double_literals")),
    kept=st.floats(0, 1),
    draw=st.randoms(use_true_random=False),
    bare=st.booleans(),
)
def test_counters_that_were_not_measured_take_findings_away_but_break_nothing(
    name: str, kept: float, draw: random.Random, bare: bool
) -> None:
    whole, build = profiled(name, "slow")
    left = {counter: value for counter, value in whole.counters.items() if draw.random() < kept}
    parts = {"instructions": (), "lines": ()} if bare else {}
    profile = whole.model_copy(update={"counters": left, **parts})
    for finding in detect(profile, None if bare else build):
        assert {evidence.counter for evidence in finding.evidence if evidence.line is None} <= set(left)


factors = st.floats(0, 1)


@settings(deadline=None)
@given(
    resources=st.dictionaries(st.sampled_from(("issue", "lsu", "l2", "dram", "fma")), factors),
    stalls=st.dictionaries(st.sampled_from(("wait", "long_scoreboard", "barrier")), factors),
    waits=factors,
    sm=factors,
)
def test_a_gain_is_never_less_than_one_and_no_change_gives_none(
    resources: dict[str, float], stalls: dict[str, float], waits: float, sm: float
) -> None:
    profile, _ = profiled("stencil_taps", "slow")
    assert gain(profile, Change()) == 1.0
    found = gain(profile, Change(resources, stalls, waits, sm))
    assert found is not None and 1.0 <= found <= profile.counters["duration_us"] / 3 + 1
