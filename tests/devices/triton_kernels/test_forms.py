"""What Triton kernels are made of, each in a few lines: the virtual GPU runs it right and reads its machine code."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
import pytest

from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code, source_file
from warpsight.devices.virtual import VirtualGpu
from warpsight.tasks import LaunchSize
from warpsight.toolchain.triton_compile import TritonArgument, compile_triton

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="needs triton: pip install 'warpsight[triton]'"
    ),
]
SIDE, COUNT = 64, 256
ARGUMENTS = (TritonArgument("x", "*fp32", True), TritonArgument("y", "*fp32", True), TritonArgument("n", "i32", False))
HEAD = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n@triton.jit\n"
ROW = """def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, {}, mask=i < n)
"""
SQUARE = """def k(x, y, n, B: tl.constexpr):
    r = tl.arange(0, 64)
    at = r[:, None] * 64 + r[None, :]
    a = tl.load(x + at)
    b = tl.load(x + at + 4096)
    tl.store(y + at, ({}).to(tl.float32))
"""
ATOMIC = """def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(y + i % 8, a, mask=i < n)
    tl.atomic_max(y + 16, tl.max(a, 0))
"""
LOOP = """def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0)
    while i < n:
        a = tl.load(x + i)
        if a > 0:
            tl.store(y + i, a * 3)
        else:
            tl.store(y + i, a)
        i += tl.num_programs(0)
"""
Expected = Callable[[np.ndarray], np.ndarray]


def run(body: str, x: np.ndarray, y: np.ndarray, *, blocks: int = 1, uses: str = "") -> np.ndarray:
    options = ("num_warps=4", "num_stages=2", f"B={COUNT}")
    build = compile_triton(HEAD + body, entry="k", arguments=ARGUMENTS, options=options)
    assert build.ok, build.diagnostics
    assert uses in build.ptx
    read = machine_code(build.cubin, "k", source_file(build.ptx))
    assert read.program is not None, read.reason
    values = [Value("x", x, False), Value("y", y, True), Value("n", np.array(x.size, np.int32), False)]
    size = LaunchSize((blocks, 1, 1), (128, 1, 1), build.dynamic_shared_bytes)
    done = VirtualGpu(cores=1).execute(build, "k", values, size, check=True)
    assert not done.faults and not done.refused, (done.faults, done.refused)
    return done.arrays["y"]


@pytest.mark.parametrize(
    ("expression", "expected", "rtol"),
    [
        ("tl.exp(a) + tl.log(tl.abs(a) + 1) + tl.sin(a) * tl.cos(a)",
         lambda a: np.exp(a) + np.log(np.abs(a) + 1) + np.sin(a) * np.cos(a), 1e-5),
        ("tl.sqrt(tl.abs(a)) + tl.rsqrt(tl.abs(a) + 1) + tl.sigmoid(a) + tl.floor(a) + tl.ceil(a)",
         lambda a: np.sqrt(abs(a)) + 1 / np.sqrt(abs(a) + 1) + 1 / (1 + np.exp(-a)) + np.floor(a) + np.ceil(a), 1e-5),
        ("libdevice.tanh(a) + libdevice.log1p(tl.abs(a)) + libdevice.pow(tl.abs(a), 1.5)",
         lambda a: np.tanh(a) + np.log1p(abs(a)) + abs(a) ** 1.5, 1e-5),
        ("tl.cumsum(a, 0)", np.cumsum, 1e-5),
        ("tl.sort(a)", np.sort, 0),
        ("tl.flip(a)", lambda a: a[::-1], 0),
        ("a * 0 + tl.argmax(a, 0) + tl.min(a, 0)", lambda a: np.full(a.shape, np.argmax(a) + a.min()), 1e-6),
        ("((i * 7 // 3) % 11 + (i << 2)).to(tl.float32)",
         lambda a: (np.arange(COUNT) * 7 // 3 % 11 + (np.arange(COUNT) << 2)), 0),
        ("a.to(tl.bfloat16).to(tl.float32)", lambda a: a, 2**-8),
        ("a.to(tl.float8e5).to(tl.float32)", lambda a: a, 2**-2),
    ],
)  # fmt: skip
def test_operations_on_a_row(expression: str, expected: Expected, rtol: float) -> None:
    x = np.random.default_rng(1).normal(size=COUNT).astype(np.float32)
    got = run(ROW.format(expression), x, np.zeros(COUNT, np.float32))
    np.testing.assert_allclose(got, expected(x.astype(np.float64)), rtol=rtol, atol=rtol * 4)


@pytest.mark.parametrize(
    ("product", "instruction"),
    [
        ("tl.dot(a.to(tl.float16), b.to(tl.float16))", "f32.f16.f16.f32"),
        ("tl.dot(a.to(tl.float16), tl.trans(b).to(tl.float16))", "f32.f16.f16.f32"),
        ("tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16))", "f32.bf16.bf16.f32"),
        ("tl.dot(a, b, input_precision='tf32')", "f32.tf32.tf32.f32"),
        ("tl.dot(a, b, input_precision='ieee')", ""),
        ("tl.dot(a.to(tl.int8), b.to(tl.int8))", "s32.s8.s8.s32"),
        ("tl.dot(a.to(tl.float64), b.to(tl.float64))", "f64.f64.f64.f64"),
    ],
)
def test_products_of_whole_numbers_are_exact(product: str, instruction: str) -> None:
    x = np.random.default_rng(2).integers(-8, 9, 2 * SIDE * SIDE).astype(np.float32)
    a, b = x.reshape(2, SIDE, SIDE)
    got = run(SQUARE.format(product), x, np.zeros(SIDE * SIDE, np.float32), uses=instruction)
    got = got.reshape(SIDE, SIDE)
    np.testing.assert_array_equal(got, a @ (b.T if "trans" in product else b))


def test_atomics_over_blocks() -> None:
    x = np.random.default_rng(3).integers(-9, 10, 4 * COUNT).astype(np.float32)
    got = run(ATOMIC, x, np.zeros(32, np.float32), blocks=4)
    np.testing.assert_array_equal(got[:8], [x[at::8].sum() for at in range(8)])
    assert got[16] == max(x.max(), 0)


def test_loops_and_branches_of_scalars() -> None:
    x = np.random.default_rng(4).normal(size=37).astype(np.float32)
    got = run(LOOP, x, np.zeros(37, np.float32), blocks=5)
    np.testing.assert_array_equal(got, np.where(x > 0, x * np.float32(3), x))
