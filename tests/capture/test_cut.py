"""What is cut out of a source: the kernel and what it names, and nothing that only the host needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.capture.cut import CutKernel, cut_kernel
from warpsight.capture.element_types import element_type
from warpsight.capture.flatten import flatten
from warpsight.capture.recording import CannotCapture
from warpsight.toolchain.compile import compile_cuda

SOURCES = Path(__file__).with_name("sources")


def cut(kernel: str, *instance: str, file: Path = SOURCES / "kernels.cu") -> CutKernel:
    return cut_kernel(flatten(file, [file.parent], {}), kernel, instance, {})


def test_an_instance_of_a_template() -> None:
    found = cut("weighted", "128", "float")
    assert found.parameters == (("in", "T", True), ("out", "T", True), ("n", "int", False))
    assert "using T = float;" in found.text and "constexpr int WIDTH = (int)128;" in found.text
    assert "#define FACTOR 3" in found.text and "twice" in found.text and "weights[4]" in found.text
    assert "only_on_the_host" not in found.text and "main" not in found.text and "first_come" not in found.text
    assert compile_cuda(found.text, entry="weighted").ok
    assert (found.file.name, found.line) == ("kernels.cu", 8)


def test_types_and_names_of_types() -> None:
    found = cut("pairs")
    assert "struct Pair" in found.text and "typedef unsigned int word;" in found.text
    assert compile_cuda(found.text, entry="pairs").ok
    assert element_type("shapes::Pair", found.items, {}) == ("float32", 1, False)
    assert element_type("const word", found.items, {}) == ("uint32", 1, False)


@pytest.mark.parametrize(
    ("name", "dtype", "lanes"),
    [("float4", "float32", 4), ("unsigned char", "uint8", 1), ("ulonglong2", "uint64", 2), ("size_t", "uint64", 1),
     ("long long int", "int64", 1), ("__half2", "float16", 2), ("uchar3", "uint8", 3), ("bool", "uint8", 1)],
)  # fmt: skip
def test_plain_types(name: str, dtype: str, lanes: int) -> None:
    assert element_type(name, (), {}) == (dtype, lanes, False)


def test_mixtures_are_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    file.write_text("struct M { float x; int y; };\n__global__ void k(M *m) { m->y = 1; }\n")
    found = cut("k", file=file)
    assert element_type("M", found.items, {}).opaque and element_type("Unknown", found.items, {}).opaque


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__global__ void other() {}", "no definition of the kernel k"),
        ("template <int... N> __global__ void k(int *a) { a[0] = 1; }", "template"),
        ("__global__ void k(float **a) { a[0][0] = 1; }", "pointer to pointers"),
    ],
)
def test_what_cannot_be_cut_is_said(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.cu").write_text(text)
    with pytest.raises(CannotCapture, match=why):
        cut("k", *(["1"] if "N" in text else []), file=tmp_path / "a.cu")


def test_operators_come_with_their_types(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    file.write_text(
        "__device__ float3 operator*(const float3 &a, float b) { return make_float3(a.x * b, a.y * b, a.z * b); }\n"
        "struct Other { float x; };\n__device__ Other operator+(Other a, Other b) { return a; }\n"
        "__global__ void k(float3 *m) { m[0] = m[0] * 2.0f; }\n"
    )
    text = cut("k", file=file).text
    assert "operator*" in text and "operator+" not in text and compile_cuda(text, entry="k").ok
