"""A C++ text is cut into pieces, and the device code is what is left of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.tasks.importers.hecbench.device_code import device_code, kernel_name
from warpsight.tasks.importers.hecbench.instances import instances, template_parameters
from warpsight.tasks.importers.hecbench.items import blanked, pieces
from warpsight.tasks.importers.hecbench.kernels import plain_symbol
from warpsight.tasks.importers.hecbench.unit import read_unit
from warpsight.tasks.importers.records import CannotImport


def kinds(text: str) -> list[str]:
    return [piece.kind for piece in pieces(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int a;\nfloat b = 2;", ["declaration", "declaration"]),
        ("void f() { if (1) { } }\nint g(int a) { return a; }", ["function", "function"]),
        ("struct A { int x; void f() {} };\nenum E { A1, B1 };", ["type", "type"]),
        ("struct __align__(16) A { int x; } many[2];", ["type"]),
        ("struct A make(int n) { return {}; }", ["function"]),
        ("float w[] = {1, 2};\nint z{3};", ["declaration", "declaration"]),
        ("namespace a { namespace b { void f() {} } }", ["open", "open", "function", "close", "close"]),
        ('extern "C" { void f(); }\nextern "C" void g() {}', ["open", "declaration", "close", "function"]),
        ("#define X(a) { a \\\n }\nint a;", ["directive", "declaration"]),
        ("template <typename T> struct A { T x; };", ["type"]),
        ("template <typename T, int N = 4>\n__global__ void k(T* x) { }", ["function"]),
        ("const char* s = \"} { ;\"; char c = '{';", ["declaration", "declaration"]),
        ('auto s = R"x({ ; })x"; int b;', ["declaration", "declaration"]),
        ("// {\n/* } */ int a;", ["declaration"]),
        ("bool operator==(A a, A b) { return true; }", ["function"]),
        ("A::A() : x(1), y{2} { }", ["function", "declaration"]),
        ("void f(int a = 3, float b = {}) { }", ["function"]),
        ("} } {", ["close", "close", "declaration"]),
    ],
)
def test_pieces(text: str, expected: list[str]) -> None:
    found = kinds(text)
    assert found == expected or (expected == ["function", "declaration"] and found[0] == "function")


@pytest.mark.parametrize(
    "text", ["", "{", "}", "(((", '"', "'", "/*", "#", "a\\", 'R"(', "template<", "__global__ void k("]
)
def test_any_text_is_cut(text: str) -> None:
    assert len(blanked(text)) == len(text)
    for piece in pieces(text):
        assert 0 <= piece.start < piece.end <= len(text)


def test_host_code_goes_and_lines_stay() -> None:
    text = 'int n;\nvoid host() {\n  printf("}");\n}\n__device__ int d() { return 1; }\n__global__ void k() {\n}\n'
    code = device_code(text)
    written = code.written()
    assert written.count("\n") == text.count("\n")
    assert "printf" not in written and written.splitlines()[5] == "__global__ void k() {"
    assert [(one.name, one.line) for one in code.kernels] == [("k", 6)]


def test_a_template_is_made_for_its_launches() -> None:
    code = device_code(
        "template <typename T, int N> __global__ void k(T* x) {}\n"
        "template <typename T> __global__ void deduced(T* x) {}\n"
        "template <typename T> __global__ void generic(T* x) {}\n"
        "template <typename T> __global__ void never(T* x) {}\n"
        "template <typename T> void host(T* x) { generic<T><<<1, 2>>>(x); }\n"
        "int main() { k<float, 4><<<1, 2>>>(x); k<double, 8> <<<1, 2>>>(x); deduced<<<1, 2>>>(x); }\n"
    )
    by_name = {kernel.name: instances(code, kernel) for kernel in code.kernels}
    assert by_name["k"] == (("<float, 4>", "<double, 8>"), "")
    assert by_name["deduced"][0] == () and "deduced" in by_name["deduced"][1]
    assert by_name["generic"][0] == () and "parameters of host code" in by_name["generic"][1]
    assert "never launched" in by_name["never"][1]


def test_a_launch_is_followed_through_host_templates_and_constants() -> None:
    code = device_code(
        "template <typename T, int N> __global__ void k(T* x) {}\n"
        "template <typename T, int UNROLL = 2>\n"
        "void launch(T* x, int n) {\n"
        "  constexpr int half = 64; const int block = half * 2;\n"
        "  k<T, block><<<1, block>>>(x);\n"
        "  if (n) k<T, UNROLL><<<1, 2>>>(x);\n"
        "}\n"
        "template <typename U> void twice(U* x) { launch<U, 4>(x, 1); }\n"
        "int main() { launch<float, 8>(a, 1); twice<double2>(b); launch<int>(c, 0); }\n"
    )
    found, reason = instances(code, code.kernels[0])
    assert reason == ""
    assert set(found) == {
        "<float, ((64) * 2)>",
        "<double2, ((64) * 2)>",
        "<int, ((64) * 2)>",
        "<float, 8>",
        "<double2, 4>",
    }


def test_a_host_template_that_calls_itself_ends() -> None:
    code = device_code(
        "template <int N> __global__ void k() {}\n"
        "template <int N> void a() { k<N><<<1, 1>>>(); b<N>(); }\n"
        "template <int N> void b() { a<N>(); }\n"
    )
    assert instances(code, code.kernels[0])[0] == ()


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("template <typename T, int N = 4> void f(", ("T", "N")),
        ("template<class A, template <typename> class B, typename... C>\nvoid", ("A", "B", "C")),
        ("template <typename T = std::pair<int, float>> void", ("T",)),
        ("void f(int a)", ()),
    ],
)
def test_template_parameters(head: str, names: tuple[str, ...]) -> None:
    assert template_parameters(head) == names


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("__global__ void k(int a)", "k"),
        ("template <int N>\n__global__ void __launch_bounds__(N, 2) k<N>(int a)", "k"),
        ('extern "C" __global__\nvoid\nk (\n int a)', "k"),
        ("__launch_bounds__(256) __global__ void k(float (*f)(int))", "k"),
        ("KERNEL k(int a)", "k"),
    ],
)
def test_kernel_names(head: str, name: str) -> None:
    assert kernel_name(head) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("_Z4adamIfEvPKT_PS0_if", "adam"), ("_ZN7physics4stepEPKfPfi", "step"), ("plain", "plain"), ("_Z", "_Z")],
)
def test_symbols(symbol: str, name: str) -> None:
    assert plain_symbol(symbol) == name


def test_a_unit_takes_headers_of_the_program_and_no_others(tmp_path: Path) -> None:
    program = tmp_path / "suite" / "p-cuda"
    (program / "inc").mkdir(parents=True)
    (tmp_path / "suite" / "include").mkdir()
    (tmp_path / "suite" / "include" / "shared.h").write_text("int shared;\n")
    (tmp_path / "secret.h").write_text("int secret;\n")
    (program / "inc" / "a.h").write_text('#pragma once\n#include "b.h"\nint a;\n')
    (program / "inc" / "b.h").write_text('#include "a.h"\nint b;\n')
    included = ("<stdio.h>", "<cuda_fp16.h>", '"a.h"', '"a.h"', "<shared.h>", '"../../secret.h"')
    (program / "main.cu").write_text("".join(f"#include {one}\n" for one in included) + "int m;\n")
    unit = read_unit(program / "main.cu", program, ["inc", "../include"])
    assert unit.text.count("int a;") == 1 and "int b;" in unit.text and "int shared;" in unit.text
    assert "int secret" not in unit.text and "../../secret.h" in unit.headers
    assert "// #include <stdio.h>" in unit.text and "\n#include <cuda_fp16.h>" in unit.text
    line = unit.text.splitlines().index("int b;") + 1
    assert unit.place(line) == "inc/b.h:2"


def test_a_unit_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CannotImport, match="UTF-8"):
        read_unit(tmp_path / "main.cu", tmp_path, [])
