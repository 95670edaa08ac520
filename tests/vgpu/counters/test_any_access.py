"""Sectors, lines, passes and atomics of random accesses against the plain rules, said once more in NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.vgpu.run import Ran, constant, run

from warpsight.vgpu import counters

I32 = np.int32
ELEMENTS = 4096
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2", 16: "uint4"}
QUIET = settings(
    max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def places(draw: st.DrawFn) -> np.ndarray:
    """An index for each lane, or -1 for a lane that is off: scattered, strided, in few places, or nearly regular."""
    shape = draw(st.sampled_from(["scattered", "strided", "few", "nearly"]))
    lanes = np.arange(32)
    if shape == "scattered":
        at = np.array(draw(st.lists(st.integers(0, ELEMENTS - 1), min_size=32, max_size=32)))
    elif shape == "strided":
        at = lanes * draw(st.integers(0, 100)) + draw(st.integers(0, 64))
    elif shape == "few":
        at = np.array(draw(st.lists(st.sampled_from([0, 1, 31, 32, 33, 64, 96, 1000]), min_size=32, max_size=32)))
    else:
        at = lanes + draw(st.integers(0, 64))
        at[draw(st.integers(0, 31))] = draw(st.integers(0, ELEMENTS - 1))
    on = draw(st.one_of(st.just(0xFFFFFFFF), st.integers(1, 0xFFFFFFFF)))
    return np.where(on >> lanes & 1, at, -1).astype(I32)


def instruction(ran: Ran, start: str) -> dict[str, int]:
    """The counters of the only instruction whose text starts so."""
    (found,) = [n for n, text in enumerate(ran.program.texts) if text.startswith(start)]
    return {info.name: int(v) for info, v in zip(counters.RAW, ran.launched.counts[found], strict=True)}


def gather(at: np.ndarray, size: int) -> Ran:
    source = f"""
    extern "C" __global__ void k(const int *__restrict__ at, {TYPES[size]} *x, {TYPES[size]} *y) {{
        int i = __ldg(&at[threadIdx.x]);
        if (i >= 0) y[threadIdx.x] = x[i];
    }}"""
    x = np.random.default_rng(size).integers(0, 255, ELEMENTS * size).astype(np.uint8)
    ran = run(source, {"at": constant(at), "x": x, "y": np.zeros(32 * size, np.uint8)}, check=False)
    assert ran.launched.faults == ()
    want = np.where(at[:, None] >= 0, x.reshape(-1, size)[at], 0)
    np.testing.assert_array_equal(ran.arrays["y"].reshape(32, size), want)
    return ran


@QUIET
@given(places(), st.sampled_from([1, 2, 4, 8, 16]))
def test_sectors_and_lines_are_the_distinct_ones(at: np.ndarray, size: int) -> None:
    got = instruction(gather(at, size), "ld.global.v" if size > 4 else f"ld.global.u{8 * size}")
    bytes_at = at[at >= 0].astype(int) * size
    assert got["requests"] == 1
    assert got["bytes"] == bytes_at.size * size
    assert got["sectors"] == np.unique(bytes_at // 32).size
    assert got["lines"] == np.unique(bytes_at // 128).size
    assert got["sectors_ideal"] == -(-bytes_at.size * size // 32)


def passes(words: np.ndarray) -> int:
    distinct = np.unique(words)
    return int(np.bincount(distinct % 32, minlength=32).max()) if distinct.size else 0


@QUIET
@given(places(), st.sampled_from([1, 2, 4]))
def test_passes_are_the_most_words_of_one_bank(at: np.ndarray, size: int) -> None:
    source = f"""
    extern "C" __global__ void k(const int *at, unsigned *y) {{
        __shared__ {TYPES[size]} s[{ELEMENTS}];
        int i = at[threadIdx.x];
        if (i >= 0) y[threadIdx.x] = s[i];
    }}"""
    ran = run(source, {"at": constant(at), "y": np.zeros(32, np.uint32)}, check=False)
    got = instruction(ran, "ld.shared")
    assert got["wavefronts"] == passes(at[at >= 0].astype(int) * size // 4)
    assert got["wavefronts_ideal"] == 1


@QUIET
@given(places(), st.booleans())
def test_atomics_add_up_and_pass_as_often_as_lanes_meet(at: np.ndarray, shared: bool) -> None:
    body = "atomicAdd(&s[i], 1);" if shared else "atomicAdd(&y[i], 1);"
    source = f"""
    extern "C" __global__ void k(const int *at, int *y) {{
        __shared__ int s[{ELEMENTS}];
        for (int i = threadIdx.x; i < {ELEMENTS}; i += 32) s[i] = 0;
        __syncwarp();
        int i = at[threadIdx.x];
        if (i >= 0) {{ {body} }}
        __syncwarp();
        if ({int(shared)}) for (int j = threadIdx.x; j < {ELEMENTS}; j += 32) y[j] = s[j];
    }}"""
    ran = run(source, {"at": constant(at), "y": np.zeros(ELEMENTS, I32)})
    assert ran.launched.faults == ()
    want = np.bincount(at[at >= 0], minlength=ELEMENTS)
    np.testing.assert_array_equal(ran.arrays["y"], want)
    got = ran.counters
    assert (got["atomic_requests"], got["atomic_lanes"], got["atomic_passes"]) == (1, want.sum(), want.max())
