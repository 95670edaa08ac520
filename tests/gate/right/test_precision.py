"""Fewer bits than declared are told though every element is inside a loose tolerance; fast math and splits are not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from tests.gate.right.candidates import task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.nouns import Check, Tolerance
from warpsight.tasks import read_candidate, read_task

TF32 = "__device__ float few(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }\n"
BF16 = "#include <cuda_bf16.h>\n__device__ float few(float v) { return __bfloat162float(__float2bfloat16(v)); }\n"
HALF = "#include <cuda_fp16.h>\n__device__ float few(float v) { return __half2float(__float2half(v)); }\n"
SPLIT = BF16 + (
    "__device__ float product(float a, float b) {\n"
    "    float ah = few(a), am = few(a - ah), al = a - ah - am, bh = few(b), bm = few(b - bh), bl = b - bh - bm;\n"
    "    return ah * bh + (ah * bm + am * bh) + (am * bm + ah * bl + al * bh);\n}\n"
)


def matmul(few: str, step: str, total: str = "float s = 0;") -> str:
    return (
        "// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16)\n" + few +
        'extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {\n'
        "    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;\n"
        "    if (row >= M || col >= N) return;\n"
        f"    {total}\n    for (int k = 0; k < K; ++k) {{ float a = A[row * K + k], b = B[k * N + col]; {step} }}\n"
        "    C[row * N + col] = s;\n}\n"
    )  # fmt: skip


def softmax(few: str, exp: str) -> str:
    return (
        "// launch: grid=(R) block=(1)\n" + few +
        'extern "C" __global__ void softmax(const float* x, float* y, int C) {\n'
        "    const float* row = x + (size_t)blockIdx.x * C; float* out = y + (size_t)blockIdx.x * C;\n"
        "    float m = row[0], s = 0;\n    for (int c = 0; c < C; ++c) m = fmaxf(m, row[c]);\n"
        f"    for (int c = 0; c < C; ++c) s += {exp};\n    for (int c = 0; c < C; ++c) out[c] = {exp} / s;\n}}\n"
    )  # fmt: skip


def checked(name: str, text: str, **tolerance: float) -> Check:
    whole = task_named(name)
    small = tuple(w for w in whole.workloads if not w.profile)
    task = whole.model_copy(update={"workloads": small, "tolerance": Tolerance.model_validate(tolerance)})
    return check_candidate(task, read_candidate(text, task), VirtualGpu(cores=2), secret_seed=5)


FEWER_BITS = {
    "tf32 products": ("matmul_naive", matmul(TF32, "s += few(a) * few(b);")),
    "bfloat16 products": ("matmul_naive", matmul(BF16, "s += few(a) * few(b);")),
    "half products": ("matmul_naive", matmul(HALF, "s += few(a) * few(b);")),
    "a sum in half": ("matmul_naive", matmul(HALF, "s = few(s + a * b);")),
    "half, but not where it would show": (
        "matmul_naive", matmul(HALF, "s += fabsf(a) > 6 || a == rintf(a) ? a * b : few(a) * few(b);"),
    ),
    "an exponential in half": ("softmax", softmax(HALF, "few(expf(few(row[c] - m)))")),
}  # fmt: skip
HONEST = {
    "three bfloat16 parts": ("matmul_naive", matmul(SPLIT, "s += product(a, b);")),
    "fused": ("matmul_naive", matmul("", "s = fmaf(a, b, s);")),
    "a fast exponential": ("softmax", softmax("", "__expf(row[c] - m)")),
    "fast math": ("softmax", "// options: --use_fast_math\n" + softmax("", "exp2f((row[c] - m) * 1.44269504f)")),
    "a polynomial off by a thousandth": (
        "softmax", softmax("", "expf(row[c] - m) * (1.0f + 0.001f * sinf(row[c]))"),
    ),
}  # fmt: skip


SLOW = ("half products", "a sum in half", "bfloat16 products", "fused", "fast math")


def each(names: Iterable[str]) -> list[ParameterSet]:
    return [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in names]


@pytest.mark.parametrize("name", each(FEWER_BITS))
def test_fewer_bits_are_told_inside_a_loose_tolerance(name: str) -> None:
    found = checked(*FEWER_BITS[name], rtol=0.05, atol=0.5)
    assert (found.verdict, found.named) == ("wrong", "precision_too_low"), found.reason


@pytest.mark.parametrize("name", each(HONEST))
def test_errors_that_follow_their_inputs_are_not(name: str) -> None:
    found = checked(*HONEST[name], rtol=0.05, atol=0.001)
    assert found.verdict == "right", found.reason


LONG_SUMS = """
name = "squares"
description = "y[r] = sum of x[r][c]^2"
kernel = "kernel.cu"
entry = "squares"
[target]
gpu = "a100"
arch = "sm_80"
[axes]
R = { min = 1, max = 64 }
C = { min = 1, max = 1048576 }
[tolerance]
rtol = 1e-2
atol = 1e-3
"""
ARGUMENTS = (
    ("x", "float32", 'shape = ["R", "C"]\nrole = "in"'),
    ("y", "float32", 'shape = ["R"]\nrole = "out"'),
    ("R", "int32", 'role = "scalar"\nvalue = "R"'),
    ("C", "int32", 'role = "scalar"\nvalue = "C"'),
)


def squares(folder: Path, step: str, few: str = "") -> Check:
    """One loop over 65,536 squares, all of one sign: its own roundings are hundreds of units."""
    described = "".join(f'[[arguments]]\nname = "{n}"\ndtype = "{d}"\n{more}\n' for n, d, more in ARGUMENTS)
    sizes = '[[workloads]]\nname = "short"\naxes = { R = 64, C = 300 }\nhidden = true\n'
    sizes += '[[workloads]]\nname = "long"\naxes = { R = 16, C = 65536 }\n'
    (folder / "task.toml").write_text(LONG_SUMS + described + sizes)
    (folder / "reference.py").write_text("def reference(x):\n    return (x * x).sum(axis=1)\n")
    (folder / "kernel.cu").write_text(
        f"// launch: grid=(ceil(R/32)) block=(32)\n{few}"
        'extern "C" __global__ void squares(const float* x, float* y, int R, int C) {\n'
        "    int r = blockIdx.x * 32 + threadIdx.x;\n    if (r >= R) return;\n    float s = 0;\n"
        f"    for (int c = 0; c < C; ++c) {{ float v = x[(size_t)r * C + c]; {step} }}\n    y[r] = s;\n}}\n"
    )
    task = read_task(folder)
    kernel = read_candidate(task.kernel, task)
    return check_candidate(task, kernel, VirtualGpu(cores=2), workloads=task.workloads, secret_seed=5)


def test_a_long_loop_over_terms_of_one_sign_is_not_fewer_bits(tmp_path: Path) -> None:
    """Moves of single terms drown in the roundings of the loop, and say nothing of its precision."""
    assert squares(tmp_path, "s += v * v;").verdict == "right"


def test_fewer_bits_in_a_long_loop_are_told_where_it_is_short(tmp_path: Path) -> None:
    found = squares(tmp_path, "s += few(v) * few(v);", BF16)
    assert (found.verdict, found.named) == ("wrong", "precision_too_low"), found.reason
