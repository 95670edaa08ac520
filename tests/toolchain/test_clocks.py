"""The hour of a compile stays out of a kernel, by name and by parts of the name."""

from __future__ import annotations

import pytest

from warpsight.toolchain.cache import Cache
from warpsight.toolchain.clocks import refused_clocks
from warpsight.toolchain.compile import compile_cuda

PASTES = {
    "plain": "const char* t = __TIME__;",
    "date": "int d = __DATE__[4];",
    "timestamp": "int d = __TIMESTAMP__[4];",
    "in a comment": "/* __TIME__ */",
    "spliced": "const char* t = __TI\\\nME__;",
    "pasted": "#define P(a, b) a##b\nint t = P(__TI, ME__)[0];",
    "of three": "#define P(x) __##x##__\nint t = P(TIME)[0];",
    "by a macro of a header": "int t = _CCCL_PP_CAT(__DA, TE__)[0];",
    "escaped": "int t = \\u005f_TIME__[0];",
}


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES.keys())
def test_refused_by_name(text: str) -> None:
    (error,) = refused_clocks(text, (), "kernel.cu")
    assert error.severity == "error" and "is not allowed" in error.message


def test_the_line_is_that_of_the_name_and_options_count() -> None:
    assert [d.line for d in refused_clocks("int a;\nint t = __TIME__[0];", (), "k.cu")] == [2]
    assert refused_clocks("int t = HOUR[0];", ("-DHOUR=__TIME__",), "k.cu")


@pytest.mark.parametrize(
    "text",
    [
        "#define CAT(a, b) a##b\nint CAT(x, __COUNTER__) = __LINE__;",
        "template <int T, int I, int M, int E, int D, int A> __device__ int f();",
        "#define TIME 8\nint steps = TIME;",
        "long long now = clock64(); float time = 0; int date, DATE;",
    ],
)
def test_honest_texts_are_not_refused(text: str) -> None:
    assert refused_clocks(text, (), "kernel.cu") == ()


def test_the_compiler_is_not_asked() -> None:
    build = compile_cuda('extern "C" __global__ void k(int* x) { x[0] = __TIME__[0]; }', cache=Cache(None))
    assert not build.ok and build.diagnostics[0].line == 1 and "__TIME__" in build.diagnostics[0].message
