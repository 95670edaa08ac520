"""Tasks drafted from a kernel alone: roles, types and sizes as the text tells them, never too small."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from warpsight.cli.app import main
from warpsight.errors import UsageError
from warpsight.nouns import Task
from warpsight.tasks import read_task
from warpsight.tasks.draft import draft_task
from warpsight.tasks.draft_text import write_draft
from warpsight.tasks.expressions import evaluate

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(
    path.parent for place in ("tasks", "examples/kernels") for path in (ROOT / place).glob("*/kernel.cu")
)  # fmt: skip
REFUSED = {"black_scholes": "type Option", "gray_linear": "type Pixel", "matmul_register_blocked": "not understood"}
BLUR = """\
__global__ void blur(const float* in, float* out, int W, int H) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    out[y * W + x] = 0.5f * in[y * W + x];
}
"""
ROWS = """\
__global__ void rows(const double *x, double *sums, int C) {
    const double *row = x + (size_t)blockIdx.x * C;
    double s = 0;
    for (int c = threadIdx.x; c < C; c += blockDim.x) s += row[c];
    atomicAdd(&sums[blockIdx.x], s);
}
"""
SCALE = """\
extern "C" __global__ void scale(float *y, unsigned int n, float a) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * y[i];
}
"""


def arguments(text: str) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    return {one.name: (one.dtype, one.role, one.shape) for one in draft_task(text).arguments}


def test_bounds_of_an_image_are_its_shape() -> None:
    assert arguments(BLUR) == {
        "in": ("float32", "in", ("H", "W")), "out": ("float32", "out", ("H", "W")),
        "W": ("int32", "scalar", ()), "H": ("int32", "scalar", ()),
    }  # fmt: skip
    draft = draft_task(BLUR)
    assert draft.axes == ("W", "H")
    first, second = draft.kernel.splitlines()[:2]
    assert first == "// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8)"
    assert second.startswith('extern "C" __global__ void blur')


def test_a_block_for_each_row_has_an_axis_of_its_own() -> None:
    draft = draft_task(ROWS)
    assert arguments(ROWS)["x"] == ("float64", "in", ("BLOCKS", "C"))
    assert arguments(ROWS)["sums"] == ("float64", "inout", ("BLOCKS",))
    assert draft.axes == ("C", "BLOCKS") and draft.kernel.startswith("// launch: grid=(BLOCKS) block=(256)")


def test_what_a_statement_reads_of_its_own_target_comes_first() -> None:
    assert arguments(SCALE)["y"] == ("float32", "inout", ("n",))
    assert draft_task(SCALE).kernel.count('extern "C"') == 1


def test_a_launch_line_of_the_text_is_kept() -> None:
    draft = draft_task("// launch: grid=(7) block=(64)\n" + SCALE)
    assert draft.kernel.count("// launch:") == 1 and not draft.guesses


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int main() { return 0; }", "no __global__ function"),
        (BLUR + ROWS, "2 kernels: blur, rows"),
        ("template <class T> __global__ void f(T* x) { x[0] = 0; }", "f is a template"),
        ("struct P { int a; };\n__global__ void f(P* x) { x[0].a = 1; }", "type P"),
        ("__global__ void f(const float* x, int n) { }", "writes to none of its arrays"),
    ],
)
def test_what_cannot_be_drafted_says_why(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        draft_task(text)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_array_of_a_known_task_is_drafted_too_small(folder: Path) -> None:
    task = read_task(folder)
    if folder.name in REFUSED:
        with pytest.raises(UsageError, match=REFUSED[folder.name]):
            draft_task(task.kernel, task.entry)
        return
    draft = draft_task(task.kernel, task.entry)
    guessed = {text.partition(":")[0] for text in draft.guesses}
    known = {axis.name for axis in task.axes}
    for true, drafted in zip(task.arguments, draft.arguments, strict=True):
        assert (true.name, true.dtype) == (drafted.name, drafted.dtype)
        assert (true.role == "scalar") == (drafted.role == "scalar")
        if true.role == "scalar" or true.name in guessed or not known.issuperset(draft.axes):
            continue
        for workload in task.workloads:  # a kernel may leave the last element alone: nothing in it tells of that one
            drawn, needed = size(drafted.shape, workload.axes), size(true.shape, workload.axes)
            assert drawn >= needed - 1, (true.name, drafted.shape)


def size(shape: tuple[str, ...], axes: dict[str, int]) -> int:
    return math.prod(evaluate(part, axes) for part in shape)


def test_the_folder_is_a_task_whose_reference_is_still_to_be_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blur.cu").write_text(BLUR)
    with pytest.raises(SystemExit) as end:
        main(["new", "blur", "--into", str(tmp_path), "--kernel", str(tmp_path / "blur.cu"), "--numpy", "--json"])
    told = json.loads(capfd.readouterr().out)
    assert not end.value.code and any("launch line" in guess for guess in told["guesses"])
    task: Task = read_task(tmp_path / "blur")
    assert task.entry == "blur" and [axis.name for axis in task.axes] == ["W", "H"]
    with pytest.raises(SystemExit) as end:
        main(["check", str(tmp_path / "blur")])
    assert end.value.code == 2 and "write here in NumPy what blur computes" in capfd.readouterr().err
    with pytest.raises(UsageError, match="there already"):
        write_draft(tmp_path / "blur", "blur", draft_task(BLUR))


@pytest.mark.parametrize(("text", "name"), [(BLUR, "blur"), (ROWS, "rows"), (SCALE, "scale")])
def test_the_kernel_itself_says_what_is_right(
    text: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_draft(tmp_path / name, name, draft_task(text))
    assert read_task(tmp_path / name).reference_file == "original.cu"
    with pytest.raises(SystemExit) as end:
        main(["check", str(tmp_path / name)])
    assert not end.value.code, capfd.readouterr().out
    changed = tmp_path / "changed.cu"
    changed.write_text(draft_task(text).kernel.replace("blockIdx.x", "(blockIdx.x + 1)", 1))
    with pytest.raises(SystemExit) as end:
        main(["check", str(tmp_path / name), "--kernel", str(changed)])
    assert end.value.code == 1
