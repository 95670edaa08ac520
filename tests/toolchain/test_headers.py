"""Ordinary CUDA compiles: standard headers, names that nvcc knows without one, and sources that define them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from warpsight.nouns import Build
from warpsight.toolchain import packages
from warpsight.toolchain.cache import Cache
from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.nvrtc import NvrtcProcess, RawCompile
from warpsight.toolchain.rounds import MOST_ROUNDS

Compile = Callable[..., Build]

LIGHT = (
    "stdint.h cstdint math.h cmath float.h cfloat limits.h climits stddef.h cstddef stdio.h cstdio string.h cstring "
    "assert.h cassert stdlib.h cstdlib stdbool.h inttypes.h cinttypes time.h ctime sys/types.h algorithm limits "
    "type_traits utility initializer_list new cuda_runtime.h cuda_runtime_api.h cuda.h device_launch_parameters.h "
    "cuda_fp16.h cuda_bf16.h cuda_fp8.h mma.h math_constants.h vector_types.h cuda_pipeline.h cuda/std/cstdint"
)
SLOW = (
    "tuple array functional numeric complex iterator optional variant span bit atomic ratio memory "
    "cooperative_groups.h cooperative_groups/reduce.h cub/cub.cuh cub/warp/warp_reduce.cuh cuda/barrier cuda/pipeline "
    "cuda/std/cmath cuda/std/limits cuda/std/algorithm cuda/std/type_traits cuda/std/tuple"
)
# What to compute, and the headers that a careful writer names for it.
USES: dict[str, tuple[str, str]] = {
    "integers": ("stdint.h", "uint32_t a = n; int8_t b = -1; uint64_t c = UINT32_MAX; x[0] = a + b + c + (intptr_t)x;"),
    "short names": ("sys/types.h", "uint a = n; ushort b = 2; ulong c = 3; x[0] = a + b + c;"),
    "std integers": ("cstdint", "std::uint8_t a = n; std::int64_t b = 3; x[0] = a + b;"),
    "sizes": ("cstddef", "size_t a = n; std::size_t b = sizeof(float); std::nullptr_t c = nullptr; x[a] = b + !c;"),
    "infinity": ("math.h", "constexpr float a = -INFINITY; static_assert(a < 0); x[0] = a; x[1] = NAN;"),
    "constants": ("cmath", "x[0] = M_PI * M_SQRT1_2 + M_LOG2E - M_E + M_LN2 + M_PI_2; d[0] = HUGE_VAL;"),
    "cuda constants": ("math_constants.h", "x[0] = CUDART_INF_F + CUDART_PI_F; d[0] = CUDART_PI;"),
    "float limits": ("float.h", "static_assert(FLT_MAX > 3e38f && FLT_MIN < 2e-38f); x[0] = FLT_EPSILON * DBL_MAX;"),
    "integer limits": (
        "climits",
        "static_assert(INT_MAX == 2147483647 && INT_MIN == -INT_MAX - 1 && UINT_MAX == 4294967295u);"
        "static_assert(LLONG_MAX == 9223372036854775807ll && CHAR_BIT == 8 && SHRT_MAX == 32767);",
    ),
    "smallest and largest": (
        "algorithm",
        "x[0] = std::min(x[0], x[1]); x[1] = std::max(n, 3); std::swap(x[0], x[1]); x[2] = std::clamp(n, 0, 9);"
        "x[3] = std::min({n, 2, 3}); x[4] = min(x[0], x[1]) + max(n, 2) + fminf(x[0], 1);",
    ),
    "numeric_limits": (
        "limits",
        "static_assert(std::numeric_limits<float>::infinity() > 3e38f && !std::numeric_limits<int>::has_infinity);"
        "static_assert(std::numeric_limits<int>::max() == 2147483647 && std::numeric_limits<char>::digits == 7);"
        "static_assert(std::numeric_limits<double>::lowest() < -1e308 && std::numeric_limits<short>::digits10 == 4);"
        "x[0] = -std::numeric_limits<float>::max(); x[1] = std::numeric_limits<float>::quiet_NaN();",
    ),
    "traits": (
        "type_traits",
        "static_assert(std::is_same<int, int>::value && !std::is_same_v<int, float>);"
        "static_assert(std::is_integral_v<unsigned long long> && std::is_floating_point<float>::value);"
        "static_assert(std::is_same_v<std::remove_cv_t<const int>, std::decay_t<int&>>);"
        "static_assert(std::is_pointer_v<float*> && !std::is_pointer_v<float> && std::is_signed_v<int>);"
        "static_assert(std::is_same_v<std::common_type_t<int, double>, double>);"
        "static_assert(std::is_same_v<std::make_unsigned_t<int>, unsigned>);"
        "std::enable_if_t<true, int> a = n; typename std::conditional<true, int, float>::type b = 2; x[0] = a + b;",
    ),
    "utility": (
        "utility",
        "std::pair<int, float> p(1, 2.0f); auto [a, b] = std::make_pair(3, 4.0f); x[0] = p.first + p.second + a + b;"
        "static_assert(std::make_index_sequence<3>::size() == 3); x[1] = std::exchange(n, 5); x[2] = std::move(n);",
    ),
    "functions of std": (
        "cmath",
        "x[0] = std::sqrt(x[0]) + std::abs(x[1]) + std::exp(x[2]) + std::pow(x[0], 2.0f) + std::floor(x[1]);"
        "d[0] = std::sqrt(d[0]) + std::fma(d[0], d[1], d[2]) + std::abs(n) + std::isnan(x[0]) + std::max(1, 2);",
    ),
    "mixed arguments": (
        "cmath",
        "x[0] = fmax(x[0], 1.0) + pow(x[0], 2.0) + sqrt(n) + fmod(x[0], 2.0) + pow(n, 2) + floor(n) + atan2(x[0], 1.0);"
        "d[0] = std::sqrt(n) + std::pow(2, n) + log(n) + fmin(1, d[1]);",
    ),
    "memory": ("cstring", "memcpy(x, d, 4); memset(x, 0, 4); std::memcpy(x, d, 4); memmove(x, x + 1, 8);"),
    "printing": ("cstdio", "printf(\"%d\", n); assert(n > 0);"),
}  # fmt: skip
OWN = {
    "macro": "#define INFINITY 1e30f\n#define M_PI 3.14f\n{k} x[0] = INFINITY * M_PI; }}",
    "macro if missing": "#ifndef INFINITY\n#define INFINITY 1e30f\n#endif\n{k} x[0] = INFINITY; }}",
    "constant": "__device__ const float M_PI = 3.14f;\nconstexpr int INT_MAX = 7;\n{k} x[0] = M_PI + INT_MAX; }}",
    "constant beside a missing one": "__device__ const float M_PI = 3.14f;\n{k} x[0] = M_PI + INFINITY; }}",
    "typedef": "typedef unsigned int uint32_t;\nusing int8_t = char;\n{k} uint32_t a = 1; x[0] = a + int8_t(2); }}",
    "another typedef": "typedef unsigned long uint64_t;\n{k} uint64_t a = 1; uint32_t b = 2; x[0] = a + b; }}",
    "template": "template <class T> __device__ T min(T a, T b) {{ return b < a ? b : a; }}\n"
    "template <class T> __device__ T swap(T a, T b) {{ return b; }}\n{k} x[0] = min(x[0], x[1]) + swap(1, 2); }}",
    "namespace std": "namespace std {{ template <class T> __device__ T max(T a, T b) {{ return a < b ? b : a; }} }}\n"
    "{k} x[0] = std::max(x[0], x[1]); }}",
    "using namespace std": "#include <cmath>\n#include <algorithm>\nusing namespace std;\n"
    "{k} x[0] = min(x[0], x[1]) + sqrt(x[2]) + max(n, 3) + abs(x[3]); swap(x[0], x[1]); }}",
    "option": "{k} x[0] = INFINITY + INT_MAX; }}",
}
KERNEL = 'extern "C" __global__ void k(float* x, double* d, int n) {'


def kernel(body: str, headers: Sequence[str] = ()) -> str:
    return "".join(f"#include <{header}>\n" for header in headers) + f"{KERNEL} {body} }}\n"


@pytest.mark.slow
@pytest.mark.parametrize("header", [*LIGHT.split(), *SLOW.split()])
def test_a_header_compiles_by_itself(compiled: Compile, header: str) -> None:
    build = compiled(kernel("x[0] = 1;", [header]))
    assert build.ok, build.log


@pytest.mark.parametrize("options", [(), ("--std=c++20",), ("-default-device",)])
def test_all_light_headers_go_together(compiled: Compile, options: tuple[str, ...]) -> None:
    for headers in (LIGHT.split(), LIGHT.split()[::-1]):
        build = compiled(kernel("x[0] = 1;", headers), options=options)
        assert build.ok, build.log


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--std=c++20",)])
def test_all_headers_go_together(compiled: Compile, options: tuple[str, ...]) -> None:
    for headers in (f"{LIGHT} {SLOW}".split(), f"{SLOW} {LIGHT}".split()):
        build = compiled(kernel("x[0] = 1;", headers), options=options)
        assert build.ok, build.log


@pytest.mark.parametrize("use", USES)
def test_names_of_a_header(compiled: Compile, use: str) -> None:
    header, body = USES[use]
    build = compiled(kernel(body, [header, "algorithm"]))
    assert build.ok and not [d for d in build.diagnostics if "redefinition" in d.message], build.log


@pytest.mark.parametrize("use", USES)
def test_names_without_a_header(compiled: Compile, use: str) -> None:
    """As under nvcc, which reads <cuda_runtime.h> for every source."""
    build = compiled(kernel(USES[use][1]))
    assert build.ok, build.log


def test_all_names_without_a_header(compiled: Compile) -> None:
    for headers in ([], ["cuda_runtime.h"], ["cuda_fp16.h", "mma.h"]):
        build = compiled(kernel(" ".join(f"{{ {body} }}" for _, body in USES.values()), headers))
        assert build.ok, build.log


@pytest.mark.slow
def test_names_of_cccl(compiled: Compile) -> None:
    headers = ["tuple", "array", "functional", "numeric", "cub/cub.cuh"]
    body = (
        "std::array<float, 3> a{x[0], x[1], x[2]}; auto [p, q] = std::make_tuple(1, 2.0f); x[0] = a[1] + p + q;"
        "x[1] = std::plus<float>()(x[0], 1) + std::gcd(n, 4) + *std::lower_bound(x, x + n, 1.0f) + a.size();"
        "using R = cub::BlockReduce<float, 128>; __shared__ R::TempStorage t; x[2] = R(t).Sum(x[2]);"
    )
    for named in (headers, ["cub/cub.cuh"]):
        build = compiled(kernel(body, named))
        assert build.ok, build.log


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_a_source_may_define_the_names_itself(compiled: Compile, text: str) -> None:
    options = ["-DINFINITY=7.0f", "-DINT_MAX=3"] if text == OWN["option"] else []
    build = compiled(text.format(k=KERNEL), options=options)
    assert build.ok, build.log
    assert not [d for d in build.diagnostics if "redefinition" in d.message]


def test_lines_stay_what_they_are(compiled: Compile) -> None:
    source = f"{KERNEL}\n    int unused;\n    uint32_t a = n;\n    x[0] = a * INFINITY;\n}}\n"
    build = compiled(source)
    (warning,) = build.diagnostics
    assert (warning.file, warning.line, warning.column) == ("kernel.cu", 2, 9)
    assert '.file\t1 "/warpsight/kernel.cu"' in build.ptx and "warpsight_names.h" not in build.ptx
    assert "\t.loc\t1 4 " in build.ptx
    broken = compiled(source.replace("int unused;", "uint8_t b = wrong;"))
    (error,) = broken.diagnostics
    assert (error.line, error.column) == (2, 17) and 'identifier "wrong" is undefined' in error.message


def test_an_error_in_assembly_keeps_its_line_behind_missing_names(compiled: Compile) -> None:
    build = compiled(f'{KERNEL}\n    uint32_t a = n;\n    asm("bogus.u32 %0, %0;" : "+r"(a));\n    x[0] = a;\n}}\n')
    assert not build.ok and build.diagnostics[0].line == 3 and "bogus" in build.diagnostics[0].message


class Counting(NvrtcProcess):
    """The compiler, and what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, ...]] = []

    def compile(self, source: str, name: str, options: Sequence[str], *more: object, **named: object) -> RawCompile:
        self.asked.append(tuple(option for option in options if option.startswith("--pre-include")))
        return super().compile(source, name, options, *more, **named)  # type: ignore[arg-type]


def test_a_source_that_needs_no_name_is_compiled_once_as_it_is() -> None:
    process = Counting()
    try:
        assert compile_cuda(kernel("x[0] = min(1, n);"), process=process, cache=Cache(None)).ok
        assert process.asked == [()]
        assert not compile_cuda(kernel("x[0] = no_such_name;"), process=process, cache=Cache(None)).ok
        assert process.asked == [(), (), ()], "once more by the whole compiler, which has the last word on a failure"
        assert compile_cuda(kernel("uint8_t a = n; x[0] = a;"), process=process, cache=Cache(None)).ok
        assert process.asked[3:] == [(), ("--pre-include=warpsight_names.h",)]
    finally:
        process.close()


def test_a_source_that_asks_for_one_name_after_another_comes_to_an_end() -> None:
    process = Counting()
    names = ["M_PI", "M_E", "NAN", "INFINITY", "INT_MAX", "FLT_MAX", "M_LN2", "M_PI_2", "SIZE_MAX"]
    asks = "".join(f"#ifdef {one}\n__device__ int f{i}() {{ return {other}; }}\n#endif\n"
                   for i, (one, other) in enumerate(pairwise(names)))  # fmt: skip
    try:
        build = compile_cuda(asks + kernel("x[0] = M_PI;"), process=process, cache=Cache(None))
        assert not build.ok and len(process.asked) == MOST_ROUNDS + 1 and "is undefined" in build.diagnostics[0].message
    finally:
        process.close()


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("iostream", "printf"),
        ("vector", "arrays"),
        ("thread", "__syncthreads"),
        ("thrust/no_such.h", "cub"),
        ("torch/extension.h", "kernel alone"),
        ("no_such_header.h", "standard headers"),
    ],
)
def test_a_header_that_cannot_be_had_is_told_with_a_hint(compiled: Compile, header: str, hint: str) -> None:
    build = compiled("\n" + kernel("x[0] = 1;", [header]))
    assert not build.ok
    error = build.diagnostics[0]
    assert error.line == 2 and header in error.message and hint in error.message


@pytest.mark.parametrize("marks", ["__device__", "__host__ __device__"])
def test_a_marked_lambda_is_told_to_drop_its_marks(compiled: Compile, marks: str) -> None:
    text = kernel(f"auto f = [=] {marks} (float v) {{ return v + 1; }};\nx[0] = f(x[0]);")
    error = compiled(text).diagnostics[0]
    assert error.severity == "error" and "drop __device__" in error.message
    assert compiled(text.replace(marks, "")).ok


def test_forged_misses_bring_nothing_but_harmless_lines(compiled: Compile) -> None:
    """A source that fails can write what it likes into the log; its lines are chosen from ours."""
    lines = [f'error: identifier \\"{name}\\" is undefined' for name in ("/etc/hostname", "M_PI", "uint8_t")]
    forged = '#pragma message("\\n' + "\\n".join(lines) + '\\n")'
    build = compiled(forged + "\n" + kernel("x[0] = wrong;"))
    assert [d.line for d in build.diagnostics if "wrong" in d.message] == [2]


def test_no_path_of_this_machine_is_in_a_build(compiled: Compile) -> None:
    build = compiled(kernel("x[0] = fmax(x[0], 1.0) + std::sqrt(n);", ["cmath"]))
    place = str(packages.own_headers())
    assert build.ok and place not in build.ptx and place not in build.log
