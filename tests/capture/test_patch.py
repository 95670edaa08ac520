"""The patch: where the kernel stands, launches with it, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsight.capture.launch_sites import cpp
from warpsight.capture.patch import CannotPatch, make_patch
from warpsight.capture.recording import CannotCapture
from warpsight.nouns import Captured, Task
from warpsight.tasks import read_task
from warpsight.tasks.scaffold import new_task

SOURCE = """\
#include <cstdio>
#define TILE 4
__device__ float helper(float x) { return x; } // caf\xe9
static __global__ void my_kernel(const float* __restrict__ x, float* __restrict__ y, float alpha, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        y[i] = alpha * helper(x[i]);
    }
}
int main(int argc, char **argv) {
    int count = argc * 100;
    my_kernel<<<(count + 255) / 256, 256, 0, 0>>>(0, 0, 1.0f, count + 1);
}"""
NEW = """\
// launch: grid=(ceil(N/(4*64))) block=(64) shared=0
#define TILE 8
__device__ float helper(float x) { return x * 1.0f; }
extern "C" __global__ void my_kernel(const float* __restrict__ x, float* __restrict__ y, float alpha, int N) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N && i < (blockIdx.x + 1) * 256; i += 64)
        y[i] = alpha * helper(x[i]) + TILE - TILE;
}
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    found = read_task(new_task(tmp_path / "task", "my"))
    captured = Captured(
        program="p", file="a.cu", line=4, kernel="my_kernel", launch=1, grid=(4, 1, 1), block=(256, 1, 1), date="-"
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.cu").write_bytes(SOURCE.encode("latin-1"))
    return found.model_copy(update={"captured": captured})


def test_a_plain_kernel_and_its_launch(task: Task, tmp_path: Path) -> None:
    patch = make_patch(task, NEW, tmp_path / "own", (), one_size=False)
    text = patch.files["a.cu"]
    assert text.count("static __global__ void my_kernel") == 1 and "helper_fast(x[i]) + TILE_fast - TILE_fast" in text
    assert "#define TILE 4" in text and 'extern "C"' not in text
    assert "my_kernel<<<dim3((((count + 1) + (4 * 64) - 1) / (4 * 64))), dim3(64), 0, 0>>>(" in text
    subprocess.run(
        ["patch", "-p1"], input=patch.text.encode("utf-8", "surrogateescape"), cwd=tmp_path / "own", check=True,
        capture_output=True,
    )  # fmt: skip
    assert (tmp_path / "own" / "a.cu").read_bytes() == text.encode("utf-8", "surrogateescape")


def test_options_and_sizes_that_no_patch_can_bring(task: Task, tmp_path: Path) -> None:
    options = NEW.replace("shared=0\n", "shared=0\n// options: --use_fast_math\n")
    with pytest.raises(CannotPatch, match="compile options"):
        make_patch(task, options, tmp_path / "own", (), one_size=True)
    numbers = NEW.replace("ceil(N/(4*64))", "4")
    with pytest.raises(CannotPatch, match="several sizes"):
        make_patch(task, numbers, tmp_path / "own", (), one_size=False)
    assert "dim3(4), dim3(64)" in make_patch(task, numbers, tmp_path / "own", (), one_size=True).text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ceil(N/256)", "((n + 256 - 1) / 256)"), ("N", "n"), ("N*M + 1", "((n * (a + b)) + 1)"),
        ("min(N, 8)", "(n < 8 ? n : 8)"), ("cdiv(M, 32)", "(((a + b) + 32 - 1) / 32)"), ("N//4 % 2", "((n / 4) % 2)"),
    ],
)  # fmt: skip
def test_expressions_in_cpp(expression: str, text: str) -> None:
    assert cpp(expression, {"N": "n", "M": "a + b"}) == text


GIVEN = "__constant__ __align__(16) unsigned by_given[2] = {1u, 2u};\n"
LOCAL = " int2 by = *reinterpret_cast<const int2 *>(by_given);"


def with_struct(text: str) -> str:
    return (
        text.replace('extern "C"', f'{GIVEN}extern "C"')
        .replace("int N) {", f"int N) {{{LOCAL}")
        .replace("alpha * ", "by.x * alpha * ")
    )


def test_parameters_that_were_taken_out_come_back(task: Task, tmp_path: Path) -> None:
    source = SOURCE.replace("float alpha,", "const int2 by, float alpha,").replace("0, 0, 1.0f", "0, 0, {1, 2}, 1.0f")
    source = source.replace("alpha * helper", "by.x * alpha * helper")
    (tmp_path / "own" / "a.cu").write_bytes(source.encode("latin-1"))
    given = task.model_copy(update={"kernel": with_struct(task.kernel)})
    text = make_patch(given, with_struct(NEW), tmp_path / "own", (), one_size=False).files["a.cu"]
    assert "y, const int2 by, float alpha, int N) {\n" in text and "_given" not in text
    assert "dim3((((count + 1) + (4 * 64) - 1) / (4 * 64))), dim3(64), 0, 0>>>(0, 0, {1, 2}, 1.0f, count + 1)" in text
    with pytest.raises(CannotCapture, match="reads by in a way"):
        make_patch(given, with_struct(NEW).replace("by.x", "by_given[0]"), tmp_path / "own", (), one_size=False)
