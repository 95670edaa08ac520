"""Functions of the special unit and divisions, over all kinds of floats: the compiler's sequences around them and our
one-step PTX definitions give the same bits.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.sass.both import both

FUNCTIONS = (
    "a / b",
    "__fdividef(a, b)",
    "sqrtf(a)",
    "rsqrtf(a)",
    "1.0f / a",
    "__expf(a)",
    "exp2f(a)",
    "__logf(a)",
    "__powf(a, b)",
    "__sinf(a)",
    "__cosf(a)",
    "__tanf(a)",
    "tanhf(a)",
    "sinf(a)",
    "logf(a)",
    "fmodf(a, b)",
    "__frcp_rz(a)",
    "__fsqrt_ru(a)",
    "__fdiv_rd(a, b)",
    "__saturatef(a)",
    "(float)__float2int_rd(a)",
    "(float)__float2ull_rz(a)",
    "__uint2float_ru(__float_as_int(a))",
    "(float)((double)a / (double)b)",
    "(float)sqrt((double)a)",
    "(float)(1.0 / (double)a)",
    "(float)exp((double)a)",
    "(float)fmin((double)a, (double)b)",
    "(float)__double2int_rn((double)a)",
)


def floats() -> np.ndarray:
    """Random bit patterns, usual numbers, denormals, and the special ones."""
    random, n = np.random.default_rng(3), 4096
    a = random.integers(0, 2**32, n, dtype=np.uint32).view(np.float32).copy()
    a[:1024] = random.standard_normal(1024) * 50
    a[1024:1536] = random.standard_normal(512) * 1e-38
    a[1536:2048] = random.uniform(-150, 130, 512)
    a[2048:2058] = [0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 1, -1, np.nan, 3e38]
    return a


@pytest.mark.parametrize("fast", [False, True], ids=["exact", "fast"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_both_give_the_same_bits(function: str, fast: bool) -> None:
    source = f"""extern "C" __global__ void k(const float *x, const float *y, float *out) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x; float a = x[i], b = y[i]; out[i] = {function}; }}"""
    a = floats()
    b = np.random.default_rng(4).permutation(a)
    options = ("--use_fast_math",) if fast else ()
    both(source, {"x": a, "y": b, "out": np.zeros_like(a)}, "sm_80", grid=16, block=256, options=options)


def test_many_texts_are_printed_and_asserted() -> None:
    lines = " ".join(f'if (x[{k}] == {k}) printf("line {k} %d\\n", x[{k}]); assert(x[{k}] < 999);' for k in range(30))
    text = '#include <assert.h>\n#include <stdio.h>\nextern "C" __global__ void k(int *x) { ' + lines + " }"
    both(text, {"x": np.arange(32, dtype=np.int32)}, "sm_80", block=1)
