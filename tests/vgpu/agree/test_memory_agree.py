"""Memory through every door, with lanes that collide, diverge and go to different spaces: the same bytes in both.

One instruction at a time is test_forms_agree's part; here are the things that take several: groups of asynchronous
copies, generic pointers, matrices, collisions between warps and blocks.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.agree.both import assert_agree, cuda

from warpsight.vgpu.coverage import awkward
from warpsight.vgpu.ptx import load_ptx

U32 = np.uint32


def words(n: int, seed: int = 0) -> np.ndarray:
    return awkward(np.random.default_rng(seed), 4, (n,))


INTEGER = [f"atomic{name}" for name in ("Add", "Sub", "Min", "Max", "And", "Or", "Xor", "Exch", "Inc", "Dec")]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", ["int", "unsigned", "unsigned long long", "float", "double", "__half2"])
def test_atomics_of_many_warps_and_blocks(space: str, kind: str) -> None:
    names = {
        "int": INTEGER[:8],
        "unsigned": INTEGER,
        "unsigned long long": [INTEGER[0], *INTEGER[2:8]],
        "float": ["atomicAdd", "atomicExch"],
    }
    calls = names.get(kind, ["atomicAdd"])
    steps = "".join(
        f"if (v[t] % {len(calls)} == {i}) old = {name}(at + v[t] % 7, value);\n" for i, name in enumerate(calls)
    )
    bits = {"float": "int", "double": "long long", "__half2": "int"}.get(kind, kind)
    source = f"""#include <cuda_fp16.h>
    extern "C" __global__ void k(const unsigned *v, {kind} *sums, {bits} *olds) {{
        __shared__ {kind} tile[8];
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        {kind} *at = {"tile" if space == "shared" else "sums"}, value, old;
        {bits} raw = v[t] * 2654435761u;
        memcpy(&value, &raw, sizeof value);
        memset(&old, 0, sizeof old);
        if (threadIdx.x < 8) tile[threadIdx.x] = sums[threadIdx.x];
        __syncthreads();
        {steps}
        memcpy(&olds[t], &old, sizeof old);
        __syncthreads();
        if (threadIdx.x < 8 && blockIdx.x == 0) sums[8 + threadIdx.x] = tile[threadIdx.x];
    }}"""
    size = 8 if kind in ("unsigned long long", "double") else 4
    given = {"v": words(160), "sums": awkward(np.random.default_rng(2), size, (16,)), "olds": np.zeros(160, f"u{size}")}
    found = cuda(source, given, grid=2, block=80)
    assert found["olds"].any()


def test_compare_and_swap_loops() -> None:
    source = """extern "C" __global__ void k(const unsigned *v, unsigned short *h, unsigned *w, unsigned long long *d) {
        unsigned x = v[threadIdx.x];
        unsigned seen = w[x % 3], was;
        do { was = seen; seen = atomicCAS(w + x % 3, was, was * 3 + x); } while (seen != was);
        atomicCAS(h + x % 5, (unsigned short)0, (unsigned short)x);
        unsigned long long far = atomicCAS(d + x % 2, 0ull, (unsigned long long)x << 20);
        atomicAdd(w + 4, (unsigned)far);
    }"""
    given = {"v": words(64), "h": np.zeros(8, np.uint16), "w": words(8, 1), "d": np.zeros(2, np.uint64)}
    assert cuda(source, given, block=64)["w"].any()


def test_pointers_of_one_warp_to_every_space() -> None:
    source = """__constant__ unsigned fixed[64] = {3, 1, 4, 1, 5, 9, 2, 6};
    extern "C" __global__ void k(unsigned *g, const unsigned *pick, unsigned *out) {
        __shared__ unsigned tile[64];
        unsigned mine[16];
        int t = threadIdx.x;
        for (int i = 0; i < 16; i++) mine[i] = g[i] * (t + i);
        tile[t] = g[t] + 7;
        __syncthreads();
        unsigned p = pick[t];
        unsigned *at = p % 3 == 0 ? g + t : p % 3 == 1 ? tile + t : mine + t % 16;
        const unsigned *from = p % 5 == 4 ? fixed + t : at;
        unsigned v = *from;
        *at = v * 5 + 1;
        atomicAdd(at, 3u);
        out[t] = *at + mine[p % 16] + tile[t];
        ((ushort4 *)out)[32 + t] = *(ushort4 *)(p % 2 ? (void *)(g + t / 2 * 2) : (void *)(mine + t % 8 * 2));
    }"""
    assert cuda(source, {"g": words(64), "pick": words(64, 1), "out": np.zeros(256, U32)}, block=64)["out"].any()


def test_vectors_and_bytes_of_local_and_shared_memory() -> None:
    source = """struct __align__(16) Mixed { char c; short s; int i; long long l; float4 f; double2 d; };
    extern "C" __global__ void k(const uint4 *x, Mixed *out, const unsigned *at) {
        __shared__ Mixed tile[32];
        Mixed mine[4];
        int t = threadIdx.x;
        for (int i = 0; i < 4; i++) {
            uint4 v = x[(t + i) % 32];
            Mixed &m = mine[(at[t] + i) % 4];
            m.c = v.x; m.s = v.y; m.i = v.z; m.l = (long long)v.w * v.x - v.y;
            m.f = make_float4(v.x, (float)(int)v.y, v.z * 0.5f, -(float)v.w);
            m.d = make_double2((double)v.x / 3, (int)v.w);
        }
        tile[t] = mine[at[t] % 4];
        __syncthreads();
        out[t] = tile[t ^ 5];
        out[t].c = (signed char)tile[t ^ 1].c >> 1;
        out[t].s = (unsigned short)tile[t ^ 2].s >> 1;
    }"""
    given = {"x": words(128), "out": np.zeros(32 * 64, np.uint8), "at": words(32, 3)}
    assert cuda(source, given)["out"].any()


COPIES = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 sizes, .param .u64 out)
{
.reg .pred %p<2>;
.reg .b32 %r<20>;
.reg .b64 %rd<20>;
.shared .align 16 .b8 tile[8192];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [sizes];
ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd2, %rd4;
ld.global.u32 %r2, [%rd5];
setp.gt.u32 %p1, %r2, 2;
mul.wide.u32 %rd6, %r1, 64;
add.s64 %rd7, %rd1, %rd6;
add.s64 %rd8, %rd3, %rd6;
mov.u32 %r3, tile;
mad.lo.u32 %r4, %r1, 64, %r3;
st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};
cp.async.ca.shared.global [%r4], [%rd7], WIDTH, %r2;
cp.async.commit_group;
@%p1 cp.async.ca.shared.global [%r4+16], [%rd7+16], WIDTH, %r2;
cp.async.ca.shared.global [%r4+32], [%rd7+32], WIDTH;
cp.async.commit_group;
cp.async.ca.shared.global [%r4], [%rd7+48], WIDTH, %r2;
@!%p1 cp.async.commit_group;
ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
cp.async.wait_group WAIT;
ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r4];
ld.shared.v4.u32 {%r13, %r14, %r15, %r16}, [%r4+16];
st.global.v4.u32 [%rd8], {%r5, %r6, %r7, %r8};
st.global.v4.u32 [%rd8+16], {%r9, %r10, %r11, %r12};
cp.async.wait_all;
ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
st.global.v4.u32 [%rd8+32], {%r5, %r6, %r7, %r8};
ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4+32];
xor.b32 %r5, %r5, %r13;
st.global.v4.u32 [%rd8+48], {%r5, %r14, %r15, %r8};
ret;
}
"""


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("wait", [0, 1, 2, 3])
def test_groups_of_asynchronous_copies_with_source_sizes(width: int, wait: int) -> None:
    program = load_ptx(COPIES.replace("WIDTH", str(width)).replace("WAIT", str(wait)))
    sizes = np.random.default_rng(width + wait).integers(0, width + 1, 64).astype(U32)
    given = {"x": words(64 * 16), "sizes": sizes, "out": np.zeros(64 * 16, U32)}
    assert assert_agree(program, given, block=64)["out"].any()


@pytest.mark.parametrize("matrices", ["x1", "x2", "x4"])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrix_loads_from_rows_anywhere(matrices: str, trans: str) -> None:
    n = int(matrices[1])
    outs = ", ".join(f"%{i}" for i in range(n))
    results = ", ".join(f'"=r"(d[{i}])' for i in range(n))
    source = f"""extern "C" __global__ void k(const unsigned *x, const unsigned *row, unsigned *out) {{
        __shared__ __align__(16) unsigned tile[512];
        for (int i = threadIdx.x; i < 512; i += 32) tile[i] = x[i];
        __syncthreads();
        unsigned at = (unsigned)__cvta_generic_to_shared(tile) + row[threadIdx.x] % 128 * 16, d[4] = {{}};
        asm volatile("ldmatrix.sync.aligned.m8n8.{matrices}{trans}.shared.b16 {{{outs}}}, [%{n}];"
                     : {results} : "r"(at) : "memory");
        for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
    }}"""
    given = {"x": words(512), "row": words(32, 1), "out": np.zeros(128, U32)}
    assert cuda(source, given)["out"].any()


WMMA = """#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void k(const {memory} *a, const {memory} *b, {sum} *c, int stride) {{
    fragment<matrix_a, {shape}, {type}, {first}> fa;
    fragment<matrix_b, {shape}, {type}, {second}> fb;
    fragment<accumulator, {shape}, {sum}> fc;
    load_matrix_sync(fa, a, stride);
    load_matrix_sync(fb, b, stride);
    load_matrix_sync(fc, c, stride, mem_row_major);
    for (int i = 0; i < 2; i++) mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c + 2048, fc, stride, mem_col_major);
}}"""


@pytest.mark.parametrize("order", [("row_major", "col_major"), ("col_major", "row_major")])
@pytest.mark.parametrize(
    ("shape", "kind", "sum_kind"),
    [
        *((shape, "__half", s) for shape in ("16, 16, 16", "32, 8, 16", "8, 32, 16") for s in ("float", "__half")),
        ("16, 16, 16", "__nv_bfloat16", "float"),
        ("16, 16, 16", "signed char", "int"),
        ("32, 8, 16", "unsigned char", "int"),
        ("16, 16, 8", "precision::tf32", "float"),
        ("8, 8, 4", "double", "double"),
    ],
)
def test_wmma_from_load_to_store(shape: str, kind: str, sum_kind: str, order: tuple[str, str]) -> None:
    sizes = {
        "__half": 2,
        "__nv_bfloat16": 2,
        "signed char": 1,
        "unsigned char": 1,
        "precision::tf32": 4,
        "double": 8,
        "float": 4,
        "int": 4,
    }
    memory = "float" if kind == "precision::tf32" else kind
    source = WMMA.format(shape=shape, type=kind, memory=memory, sum=sum_kind, first=order[0], second=order[1])
    rng = np.random.default_rng(len(shape))

    def matrix(size: int, n: int) -> np.ndarray:
        """Near one, so that sums cancel and round; a few infinities and NaNs; any bits for integers."""
        if size in (1, 4) and sum_kind == "int":
            return rng.integers(0, 256, n * size).astype(np.uint8)
        values = rng.normal(size=n) * np.where(rng.random(n) < 0.002, np.inf, 1)
        if kind == "__nv_bfloat16" and size == 2:
            return (values.astype(np.float32).view(U32) >> 16).astype(np.uint16)
        return values.astype(f"f{size}")

    given = {
        "a": matrix(sizes[memory], 2048),
        "b": matrix(sizes[memory], 2048),
        "c": matrix(sizes[sum_kind], 4096),
        "stride": np.int32(32),
    }
    assert cuda(source, given)["c"].any()
