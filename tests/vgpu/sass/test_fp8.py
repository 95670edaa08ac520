"""Conversions of pairs of 8-bit floats, which sm_89 and later do in one instruction: every code unpacked, every half
and the awkward floats packed, against ml_dtypes; on both executors, as PTX and as machine code.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.vgpu.sass.both import both, build, launch
from tests.vgpu.sass.test_definition import agree

from warpsight.toolchain.sass import disassemble
from warpsight.vgpu.bytecode import Mod, T
from warpsight.vgpu.definition.fragments import apply
from warpsight.vgpu.sass import load_sass

EIGHTS = {"e4m3x2": (ml_dtypes.float8_e4m3fn, T.E4M3X2), "e5m2x2": (ml_dtypes.float8_e5m2, T.E5M2X2)}
ARCHITECTURES = ("sm_89", "sm_90")
ALL = np.arange(65536, dtype=np.uint16)
NAN = 0x7F


def packed(kind: str, values: NDArray[Any], relu: bool) -> NDArray[np.uint16]:
    """The codes that the values round to, by ml_dtypes; it does not saturate, so that is done here."""
    dtype = EIGHTS[kind][0]
    most = float(ml_dtypes.finfo(dtype).max)
    with np.errstate(invalid="ignore"):  # of NaN
        wide = values.astype(np.float32)
        codes = np.clip(wide, -most, most).astype(dtype).view(np.uint8)
    codes = np.where(np.signbit(wide) & relu, 0, codes)
    return np.where(np.isnan(wide), NAN, codes).astype(np.uint16)


def unpacked(kind: str, pairs: NDArray[np.uint16], relu: bool) -> NDArray[np.uint32]:
    codes = np.stack([pairs & 0xFF, pairs >> 8], axis=-1).astype(np.uint8)
    halves = codes.view(EIGHTS[kind][0]).astype(np.float16)
    bits = np.where(np.signbit(halves) & relu, 0, halves.view(np.uint16))
    bits = np.where(np.isnan(halves), 0x7FFF, bits).astype(np.uint16)
    return bits.view(np.uint32).reshape(-1)


def floats(kind: str) -> NDArray[np.float32]:
    """65,536: every number of the type, every tie and the floats beside it, what lies beyond, random bits."""
    codes = np.arange(128, dtype=np.uint8).view(EIGHTS[kind][0]).astype(np.float32)
    steps = np.sort(codes[np.isfinite(codes)])
    ties = (steps[1:] + steps[:-1]) / 2
    over = steps[-1] + (steps[-1] - steps[-2]) * np.array([0.25, 0.5, 0.75, 1, 2], np.float32)
    near = np.concatenate([steps, ties, over])
    around = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(0))]
    special = np.array([0, 1e-45, 1e-38, 1e-30, 3.4e38, np.inf, np.nan], np.float32)
    edges = np.concatenate([*around, special])
    edges = np.concatenate([edges, -edges])
    random = np.random.default_rng(8)
    values = random.integers(0, 2**32, 65536, dtype=np.uint32).view(np.float32).copy()
    values[::2] = random.standard_normal(32768) * np.exp2(random.integers(-18, 18, 32768))
    values[: edges.size] = edges
    return values


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", EIGHTS)
def test_the_definition_unpacks_every_code(kind: str, relu: bool) -> None:
    codes = np.arange(256, dtype=np.uint16)
    pairs = codes | codes[::-1] << np.uint16(8)
    got = apply("CVT", T.F16X2, pairs, tb=EIGHTS[kind][1], mod=Mod.RELU * relu)
    assert np.array_equal(got, unpacked(kind, pairs, relu))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", EIGHTS)
def test_the_definition_packs_floats_and_every_half(kind: str, relu: bool) -> None:
    values, target, mod = floats(kind)[:16384], EIGHTS[kind][1], Mod.RELU * relu
    got = apply("CVT2", target, values.view(np.uint32), values[::-1].view(np.uint32), tb=T.F32, mod=mod)
    assert np.array_equal(got, packed(kind, values, relu) << 8 | packed(kind, values[::-1], relu))
    pairs = np.arange(0, 65536, 2, dtype=np.uint32) | np.arange(1, 65536, 2, dtype=np.uint32) << 16
    halves = packed(kind, ALL.view(np.float16), relu)
    assert np.array_equal(apply("CVT", target, pairs, tb=T.F16X2, mod=mod), halves[::2] | halves[1::2] << 8)


def kernel(kind: str, relu: bool) -> str:
    """All three conversions, two floats of a thread apart, as the instructions themselves."""
    word = ".relu" if relu else ""
    return f"""extern "C" __global__ void k(const float *x, const float *y, const unsigned *h, const unsigned short *e,
                                 unsigned short *of_floats, unsigned short *of_halves, unsigned *halves) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        asm("cvt.rn.satfinite{word}.{kind}.f32 %0, %1, %2;" : "=h"(of_floats[i]) : "f"(x[i]), "f"(y[i]));
        asm("cvt.rn.satfinite{word}.{kind}.f16x2 %0, %1;" : "=h"(of_halves[i]) : "r"(h[i]));
        asm("cvt.rn{word}.f16x2.{kind} %0, %1;" : "=r"(halves[i]) : "h"(e[i]));
    }}"""


def arguments(kind: str, count: int = 65536) -> dict[str, NDArray[Any]]:
    x, mixed = floats(kind)[:count], np.random.default_rng(9).permutation(ALL)[:count]
    return {
        "x": x, "y": x[::-1].copy(), "h": ALL[:count] | mixed.astype(np.uint32) << 16, "e": mixed,
        "of_floats": np.zeros(count, np.uint16), "of_halves": np.zeros(count, np.uint16),
        "halves": np.zeros(count, np.uint32),
    }  # fmt: skip


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", EIGHTS)
@pytest.mark.parametrize("gpu_arch", ARCHITECTURES)
def test_ptx_and_machine_code_give_the_codes_of_ml_dtypes(gpu_arch: str, kind: str, relu: bool) -> None:
    given = arguments(kind)
    ran, machine = both(kernel(kind, relu), given, gpu_arch, grid=256, block=256)
    assert sum("F2FP" in text and kind[:4].upper() in text for text in machine.program.texts) >= 3
    floats_wanted = packed(kind, given["x"], relu) << 8 | packed(kind, given["y"], relu)
    assert np.array_equal(ran.arrays["of_floats"], floats_wanted)
    low, high = ((given["h"] >> shift).astype(np.uint16).view(np.float16) for shift in (0, 16))
    assert np.array_equal(ran.arrays["of_halves"], packed(kind, high, relu) << 8 | packed(kind, low, relu))
    assert np.array_equal(ran.arrays["halves"], unpacked(kind, given["e"], relu))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", EIGHTS)
def test_the_definition_runs_the_machine_code_alike(kind: str, relu: bool) -> None:
    agree(kernel(kind, relu), arguments(kind, 1024), "sm_89", 4, 256)


# Four numbers to a word are packed by two instructions, the second of which merges the result of the first.
HEADER = """#include <cuda_fp8.h>
extern "C" __global__ void k(const float4 *x, const __half2 *h, const __nv_fp8x4_TYPE *e, __nv_fp8x4_TYPE *of_floats,
                             __nv_fp8x4_TYPE *of_halves, __nv_fp8_TYPE *one, float4 *wide, __half *half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    of_floats[i] = __nv_fp8x4_TYPE(x[i]);
    of_halves[i] = __nv_fp8x4_TYPE(h[2 * i], h[2 * i + 1]);
    one[i] = __nv_fp8_TYPE(x[i].x * 0.5f);
    wide[i] = float4(e[i]);
    half[i] = __half(one[i]);
}"""


@pytest.mark.parametrize("kind", EIGHTS)
def test_the_types_of_the_header_are_what_older_gpus_emulate(kind: str) -> None:
    n, source = 8192, HEADER.replace("TYPE", kind[:4])
    given = {
        "x": floats(kind)[: 4 * n], "h": ALL[: 4 * n].view(np.uint32),
        "e": np.random.default_rng(2).integers(0, 256, 4 * n, dtype=np.uint8), "of_floats": np.zeros(4 * n, np.uint8),
        "of_halves": np.zeros(4 * n, np.uint8), "one": np.zeros(n, np.uint8), "wide": np.zeros(4 * n, np.uint32),
        "half": np.zeros(n, np.uint16),
    }  # fmt: skip
    runs = {arch: both(source, given, arch, grid=32, block=256)[0].arrays for arch in ("sm_80", *ARCHITECTURES)}
    assert np.array_equal(runs["sm_89"]["of_floats"], packed(kind, given["x"], relu=False))
    for arch, name in product(ARCHITECTURES, ("of_floats", "of_halves", "one", "wide", "half")):
        assert np.array_equal(runs["sm_80"][name], runs[arch][name]), (arch, name)


def test_the_upper_half_of_a_register_is_unpacked() -> None:
    """As sm_100 and later write it; the rest of their machine code is not read, so it is put in that of sm_89."""
    source = """extern "C" __global__ void k(const unsigned *e, unsigned *halves) {
        unsigned word = e[threadIdx.x];
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves[threadIdx.x]) : "h"((unsigned short)word));
        halves[threadIdx.x + 32] = word; }"""
    made = build(source, "sm_89")
    plain = disassemble(made.cubin)
    code = [i.model_copy(update={"text": f"{i.text}.H1"}) if "UNPACK_B" in i.text else i for i in plain]
    pairs = np.random.default_rng(3).integers(0, 65536, 64, dtype=np.uint16)
    given = {"e": pairs.view(np.uint32), "halves": np.zeros(64, np.uint32)}
    ran = launch(load_sass(code, made.cubin, "k"), given, 1, 32)
    assert np.array_equal(ran.arrays["halves"][:32], unpacked("e4m3x2", pairs[1::2], relu=False))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("gpu_arch", ["sm_86", "sm_89", "sm_90"])
def test_one_half_of_a_constant_operand_is_read(gpu_arch: str, kind: str) -> None:
    source = f"""extern "C" __global__ void k(const float *x, unsigned short *out, float s) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        asm("cvt.rn.relu.{kind}.f32 %0, %1;" : "=h"(out[i]) : "f"(x[i]));
        asm("cvt.rz.relu.{kind}.f32 %0, %1;" : "=h"(out[i + 65536]) : "f"(s)); }}"""
    given = {"x": floats("e5m2x2"), "out": np.zeros(131072, np.uint16), "s": np.array(1.2345, np.float32)}
    ran, machine = both(source, given, gpu_arch, grid=256, block=256)
    assert any("MERGE_C" in text for text in machine.program.texts)
    assert set(ran.arrays["out"][65536:].tolist()) == {0x3CF0 if kind == "f16" else 0x3F9E}
