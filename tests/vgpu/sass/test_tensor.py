"""Matrix products through wmma: the machine code loads real fragments, the PTX definition has its own; results agree.

Where the compiler splits one PTX product in two along k (TF32 on sm_80, F16 on sm_75), the sum is rounded twice: there
results are close, not equal.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.sass.both import both, build, launch, programs

from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.schedule import StepKind, step_row

_TF32 = "for (int i = 0; i < f{0}.num_elements; i++) f{0}.x[i] = wmma::__float_to_tf32(f{0}.x[i]);"
RESULTS = {"float": np.float32, "half": np.float16, "int": np.int32, "double": np.float64}


def source(stored: str, element: str, result: str, m: int, n: int, k: int) -> str:
    shape = f"{m}, {n}, {k}"
    convert = _TF32.format("a") + _TF32.format("b") if "tf32" in element else ""
    return f"""#include <mma.h>
    #include <cuda_bf16.h>
    using namespace nvcuda;
    extern "C" __global__ void k(const float *x, const float *y, {result} *out) {{
        __shared__ {stored} s[1024]; __shared__ {stored} u[1024];
        for (int i = threadIdx.x; i < {m * k}; i += 32) s[i] = ({stored})(x[i]);
        for (int i = threadIdx.x; i < {n * k}; i += 32) u[i] = ({stored})(y[i]);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, {shape}, {element}, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, {shape}, {element}, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, {shape}, {result}> fc;
        wmma::fill_fragment(fc, ({result})1);
        wmma::load_matrix_sync(fa, s, {k}); wmma::load_matrix_sync(fb, u, {k}); {convert}
        wmma::mma_sync(fc, fa, fb, fc); wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(out, fc, {n}, wmma::mem_row_major);
    }}"""


def arguments(stored: str, result: str, m: int, n: int) -> dict[str, np.ndarray]:
    x = (np.random.default_rng(0).standard_normal(1024) * 20).astype(np.float32)
    x = np.abs(x) if stored.startswith("unsigned") else x
    return {"x": x, "y": x[::-1].copy(), "out": np.zeros(m * n, RESULTS[result])}


@pytest.mark.parametrize(
    "stored, element, result, m, n, k",
    [
        ("half", "half", "float", 16, 16, 16),
        ("half", "half", "half", 16, 16, 16),
        ("half", "half", "float", 8, 32, 16),
        ("signed char", "signed char", "int", 16, 16, 16),
        ("unsigned char", "unsigned char", "int", 32, 8, 16),
        ("__nv_bfloat16", "__nv_bfloat16", "float", 16, 16, 16),
        ("double", "double", "double", 8, 8, 4),
    ],
)
def test_products_are_equal(stored: str, element: str, result: str, m: int, n: int, k: int) -> None:
    both(source(stored, element, result, m, n, k), arguments(stored, result, m, n), "sm_80")


@pytest.mark.parametrize("gpu_arch", ["sm_80", "sm_86", "sm_90"])
@pytest.mark.parametrize("left, right", [("row", "row"), ("col", "row"), ("col", "col")])
def test_matrices_in_any_order_are_transposed_on_the_way(left: str, right: str, gpu_arch: str) -> None:
    text = source("half", "half", "float", 16, 16, 16)
    for what, old, new in (("matrix_a", "row", left), ("matrix_b", "col", right)):
        text = text.replace(f"{what}, 16, 16, 16, half, wmma::{old}", f"{what}, 16, 16, 16, half, wmma::{new}")
    both(text, arguments("half", "float", 16, 16), gpu_arch)


def test_a_transposed_matrix_is_moved_in_the_machine_code() -> None:
    text = """#include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void k(const half *x, const half *y, float *out) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.0f);
        wmma::load_matrix_sync(a, x, 16); wmma::load_matrix_sync(b, y, 16);
        wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
    }"""
    _, program = programs(build(text, "sm_80"))
    moves = [step_row(t, find_gpu("a100")) for t in program.texts if t.startswith("MOVM")]
    assert moves and all(move.kind is StepKind.SHUFFLE for move in moves)
    given = arguments("half", "float", 16, 16)
    both(text, {"x": given["x"].astype(np.float16), "y": given["y"].astype(np.float16), "out": given["out"]}, "sm_80")


@pytest.mark.parametrize(
    "gpu_arch, stored, element, k", [("sm_80", "float", "wmma::precision::tf32", 8), ("sm_75", "half", "half", 16)]
)
def test_products_that_are_split_are_close(gpu_arch: str, stored: str, element: str, k: int) -> None:
    made = build(source(stored, element, "float", 16, 16, k), gpu_arch)
    ptx, sass = (launch(p, arguments(stored, "float", 16, 16), 1, 32) for p in programs(made))
    assert ptx.launched.faults == sass.launched.faults == ()
    np.testing.assert_allclose(sass.arrays["out"], ptx.arrays["out"], rtol=1e-6, atol=1e-2)
