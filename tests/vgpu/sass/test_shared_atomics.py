"""64-bit atomics in shared memory, which the compiler turns into a loop around ATOMS.CAST.SPIN.64: it ends, and PTX and
machine code give the same bits.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.vgpu.sass.both import ARCHITECTURES, both

from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.sass import disassemble

BLOCK, SUMS = 96, 4
LONG = "unsigned long long"
RANDOM = np.random.default_rng(11)
CALLS = (
    ("atomicAdd(at, v)", "double"),
    ("atomicAdd(at, v)", LONG),
    ("atomicMax(at, v)", LONG),
    ("atomicMin(at, v)", LONG),
    ("atomicXor(at, v)", LONG),
    ("atomicMax((long long*)at, (long long)v)", LONG),
)


def source(call: str, kind: str) -> str:
    return f"""extern "C" __global__ void k(const {kind}* x, {kind}* sums) {{
        __shared__ {kind} part[{SUMS}];
        int i = threadIdx.x;
        if (i < {SUMS}) part[i] = x[i];
        __syncthreads();
        {kind}* at = part + i % {SUMS};
        {kind} v = x[i];
        {call};
        __syncthreads();
        if (i < {SUMS}) sums[i] = part[i];
    }}"""


def inputs(kind: str) -> NDArray[np.float64] | NDArray[np.uint64]:
    """Whole numbers, so that a sum has the same bits in every order; their sums pass 2^32 and often 2^63."""
    if kind == "double":
        return RANDOM.integers(-(2**40), 2**40, BLOCK).astype(np.float64)
    return RANDOM.integers(0, 2**62, BLOCK, dtype=np.uint64)


@pytest.mark.parametrize("gpu_arch", (*ARCHITECTURES, "sm_90"))
@pytest.mark.parametrize(("call", "kind"), CALLS)
def test_a_loop_of_compare_and_swap_ends_with_the_same_bits(call: str, kind: str, gpu_arch: str) -> None:
    x = inputs(kind)
    ptx, _ = both(source(call, kind), {"x": x, "sums": np.zeros(SUMS, x.dtype)}, gpu_arch, block=BLOCK)
    if call.startswith("atomicAdd"):
        mine = x.reshape(-1, SUMS)
        assert np.array_equal(ptx.arrays["sums"], mine.sum(axis=0) + mine[0])


@pytest.mark.parametrize("kind", ["double", LONG])
def test_the_old_value_comes_back_whole(kind: str) -> None:
    """One thread adds many times: every value before is known, and most need more than 32 bits."""
    text = f"""extern "C" __global__ void k(const {kind}* x, {kind}* before) {{
        __shared__ {kind} sum;
        sum = 0;
        for (int i = 0; i < {BLOCK}; ++i) before[i] = atomicAdd(&sum, x[i]);
    }}"""
    x = inputs(kind)
    ptx, _ = both(text, {"x": x, "before": np.zeros(BLOCK, x.dtype)}, "sm_80", block=1)
    assert np.array_equal(ptx.arrays["before"][1:], np.cumsum(x)[:-1])


def test_the_compiler_does_make_that_loop() -> None:
    made = compile_cuda(source("atomicAdd(at, v)", "double"), gpu_arch="sm_80")
    assert any("ATOMS.CAST.SPIN.64" in line.text for line in disassemble(made.cubin))
