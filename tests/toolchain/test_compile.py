"""Real compiles: what comes out of good sources, and how bad ones are reported."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from warpsight.errors import UsageError
from warpsight.nouns import Build, Diagnostic
from warpsight.toolchain import packages
from warpsight.toolchain.compile import SOURCE_CAP_BYTES, SOURCE_FOLDER, nvrtc_options
from warpsight.toolchain.nvrtc import NvrtcProcess

Compile = Callable[..., Build]

SCALE = """extern "C" __global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f * x[i];
}
"""
PRESSURE = """extern "C" __global__ void pressure(float* x) {
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[i * 32 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; i++) x[i * 32 + threadIdx.x] = a[i] * a[(i * 7 + 3) % 64] + a[63 - i];
}
"""


def errors(build: Build) -> list[Diagnostic]:
    return [diagnostic for diagnostic in build.diagnostics if diagnostic.severity == "error"]


def test_good_kernel(compiled: Compile) -> None:
    build = compiled(SCALE, entry="scale")
    assert build.ok and not build.cached
    assert build.source_sha256 == hashlib.sha256(SCALE.encode()).hexdigest()
    assert build.compiler == f"nvrtc {packages.cuda_line().compiler}"
    assert ".target sm_80" in build.ptx and ".visible .entry scale(" in build.ptx
    assert build.cubin.startswith(b"\x7fELF")
    (usage,) = build.entries
    assert usage.name == "scale" and 4 <= usage.registers <= 32
    assert usage.spill_store_bytes == usage.spill_load_bytes == usage.shared_bytes == usage.local_bytes == 0
    assert usage.const_bytes >= 12  # at least the two parameters


@pytest.mark.parametrize("source", [SCALE, PRESSURE])
def test_ptx_is_that_of_the_virtual_architecture(compiled: Compile, process: NvrtcProcess, source: str) -> None:
    options = [option for option in nvrtc_options("compute_80", ()) if not option.startswith("--ptxas-options")]
    virtual = process.compile(source, f"{SOURCE_FOLDER}/kernel.cu", options, 60)
    assert virtual.ptx and compiled(source).ptx == virtual.ptx


def test_ptx_carries_lines_and_no_path_of_this_machine(compiled: Compile) -> None:
    ptx = compiled(SCALE).ptx
    assert '"/warpsight/kernel.cu"' in ptx
    assert "\t.loc\t1 3 " in ptx
    body = "{ half2 h = x[threadIdx.x]; x[threadIdx.x] = __hadd2(h, h); }"
    half = compiled(f'#include <cuda_fp16.h>\nextern "C" __global__ void k(half2* x) {body}')
    assert '"cuda_fp16.hpp"' in half.ptx or '"cuda_fp16.h"' in half.ptx
    assert "site-packages" not in half.ptx


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_90", "sm_100"])
def test_architectures(compiled: Compile, arch: str) -> None:
    build = compiled(SCALE, gpu_arch=arch)
    assert build.ok and f".target {arch}" in build.ptx and build.entries


def test_syntax_error_has_line_and_column(compiled: Compile) -> None:
    build = compiled('extern "C" __global__ void k(float* x) {\n\tdouble q = 1.0 +;\n}\n')
    assert not build.ok and build.ptx == "" and build.cubin == b"" and build.entries == ()
    (error,) = errors(build)
    assert (error.file, error.line, error.column) == ("kernel.cu", 2, 18)
    assert error.message == "expected an expression"


def test_column_counts_letters_not_bytes(compiled: Compile) -> None:
    source = 'extern "C" __global__ void k(float* x) {\n    /* größe */ x[0] = unknown;\n}\n'
    (error,) = errors(compiled(source))
    assert error.line == 2 and error.column == source.split("\n")[1].index("unknown") + 1


def test_error_in_a_template_says_where_it_was_instantiated(compiled: Compile) -> None:
    source = "template <class T> __device__ T f(T a) { return a.x; }\n__global__ void k(float* x) {\n  f(1);\n}\n"
    (error,) = errors(compiled(source))
    assert error.line == 1 and "detected during instantiation" in error.message and "line 3" in error.message


def test_warning_on_a_good_kernel(compiled: Compile) -> None:
    build = compiled('extern "C" __global__ void k(float* x) {\n    int unused;\n    x[0] = 1;\n}\n')
    (warning,) = build.diagnostics
    assert build.ok
    assert (warning.severity, warning.line, warning.column) == ("warning", 2, 9)


def test_error_at_the_end_of_the_source(compiled: Compile) -> None:
    build = compiled('extern "C" __global__ void k(float* x) {\n  x[0] = 1;\n')
    assert not build.ok and any("}" in error.message for error in errors(build))


def test_missing_header(compiled: Compile) -> None:
    (error,) = errors(compiled("\n#include <no_such_header.h>\n"))
    assert error.line == 2 and "no_such_header.h" in error.message


def test_error_inside_a_header_names_the_header_without_its_folder(compiled: Compile) -> None:
    build = compiled("#define __half 3\n#include <cuda_fp16.h>\n")
    assert not build.ok
    assert {error.file for error in errors(build)} <= {"cuda_fp16.h", "cuda_fp16.hpp"}
    assert "site-packages" not in build.log


@pytest.mark.parametrize(
    "source",
    [
        '#include "/etc/hostname"\n',
        "#include </etc/hostname>\n",
        '  # include "../../etc/hostname"\n',
        '#include "etc/hostname"\n',
    ],
)
def test_files_of_the_machine_are_not_included(compiled: Compile, source: str) -> None:
    build = compiled(source)
    (error,) = errors(build)
    assert error.line == 1 and "etc/hostname" in error.message


def test_too_much_shared_memory_is_a_failed_build(compiled: Compile) -> None:
    source = 'extern "C" __global__ void k(float* x) { __shared__ float s[20000]; s[threadIdx.x] = x[0]; x[1] = s[2]; }'
    build = compiled(source)
    assert not build.ok and "too much shared data" in errors(build)[0].message


def test_inline_assembly_error_has_a_source_line(compiled: Compile) -> None:
    source = """extern "C" __global__ void k(float* x) {
    float a = x[1];
    asm("bogus.f32 %0, %0;" : "+f"(a));
    x[0] = a;
}
"""
    build = compiled(source)
    assert not build.ok
    assert errors(build)[0].line == 3 and "bogus" in errors(build)[0].message


@pytest.mark.parametrize(
    "body",
    [
        ("cuda_fp16.h", "half2 h = __float2half2_rn(x[0]); x[1] = __low2float(__hadd2(h, h));"),
        ("cuda_bf16.h", "x[1] = __bfloat162float(__hmul(__float2bfloat16(x[0]), __float2bfloat16(x[0])));"),
        ("mma.h", "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; "
                  "nvcuda::wmma::fill_fragment(f, 1.0f); "
                  "nvcuda::wmma::store_matrix_sync(x, f, 16, nvcuda::wmma::mem_row_major);"),
        ("cooperative_groups.h", "auto g = cooperative_groups::this_thread_block(); g.sync(); x[1] = g.size();"),
        ("cuda/std/limits", "x[1] = cuda::std::numeric_limits<float>::max();"),
        ("cuda/std/array", "cuda::std::array<float, 2> a{x[0], x[1]}; x[1] = a[0] + a[1];"),
        ("cub/block/block_reduce.cuh", "using R = cub::BlockReduce<float, 128>; __shared__ R::TempStorage t; "
                                       "x[1] = R(t).Sum(x[0]);"),
    ],
    ids=lambda body: body[0],
)  # fmt: skip
def test_headers_of_the_packages(compiled: Compile, body: tuple[str, str]) -> None:
    header, statement = body
    build = compiled(f'#include <{header}>\nextern "C" __global__ void k(float* x) {{ {statement} }}\n', entry="k")
    assert build.ok, build.log


def test_spills_appear_when_registers_are_capped(compiled: Compile) -> None:
    free, capped = compiled(PRESSURE), compiled(PRESSURE, options=["--maxrregcount=24"])
    assert free.entries[0].spill_store_bytes == 0 and free.entries[0].registers > 64
    assert capped.entries[0].spill_store_bytes > 0 and capped.entries[0].spill_load_bytes > 0
    assert capped.entries[0].registers <= 24 and capped.entries[0].local_bytes > 0


def test_static_shared_bytes_count_and_dynamic_ones_do_not(compiled: Compile) -> None:
    source = """extern "C" __global__ void k(float* x) {
    __shared__ float fixed[256];
    extern __shared__ float dynamic[];
    fixed[threadIdx.x] = x[threadIdx.x];
    dynamic[threadIdx.x] = x[threadIdx.x + 1];
    __syncthreads();
    x[threadIdx.x] = fixed[255 - threadIdx.x] + dynamic[255 - threadIdx.x];
}"""
    (usage,) = compiled(source).entries
    assert usage.shared_bytes == 1024 and usage.barriers == 1


def test_local_bytes_of_an_indexed_array(compiled: Compile) -> None:
    source = """extern "C" __global__ void k(float* x, int j) {
    float a[32];
    for (int i = 0; i < 32; i++) a[i] = x[i];
    for (int i = 0; i < j; i++) a[(i * j) % 32] += a[i % 32];
    x[0] = a[j % 32];
}"""
    assert compiled(source).entries[0].local_bytes >= 128


def test_two_entries(compiled: Compile) -> None:
    build = compiled(SCALE + PRESSURE)
    assert {usage.name for usage in build.entries} == {"scale", "pressure"}
    assert {usage.name: usage.registers > 64 for usage in build.entries} == {"scale": False, "pressure": True}


def test_entry_that_is_not_there_is_a_failed_build(compiled: Compile) -> None:
    build = compiled(SCALE, entry="scales")
    assert not build.ok and build.cubin == b""
    assert "scales" in errors(build)[0].message and "kernels in this source: scale" in errors(build)[0].message


def test_options_change_the_code(compiled: Compile) -> None:
    source = 'extern "C" __global__ void k(float* x) { x[0] = x[1] / x[2] + __FILL__; }'
    precise = compiled(source, options=["-D__FILL__=1"])
    fast = compiled(source, options=["-D__FILL__=1", "--use_fast_math"])
    assert "div.rn.f32" in precise.ptx and "div.approx.ftz.f32" in fast.ptx
    assert fast.options == ("-D__FILL__=1", "--use_fast_math")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"gpu_arch": "sm_80 -I/etc"}, "architecture"),
        ({"gpu_arch": "sm_11"}, "sm_11"),
        ({"name": "../kernel.cu"}, "file name"),
        ({"options": ["-I/etc"]}, "-I/etc"),
        ({"options": ["--include-path=/etc"]}, "--include-path=/etc"),
        ({"options": ["--pre-include=/etc/hostname"]}, "--pre-include"),
        ({"options": ["--ptxas-options=-o x"]}, "--ptxas-options"),
        ({"options": ["kernel2.cu"]}, "kernel2.cu"),
    ],
)
def test_refused_requests(compiled: Compile, more: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compiled(SCALE, **more)


def test_source_too_large_is_refused(compiled: Compile) -> None:
    with pytest.raises(UsageError, match="at most"):
        compiled("/" * (SOURCE_CAP_BYTES + 1))
