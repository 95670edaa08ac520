"""A program made faster: the kernel by hand, judged by the gate, in a patch that the whole program was run with."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.capture.conftest import SOURCES

from warpsight.errors import ToolMissing
from warpsight.programs.build import require_compiler
from warpsight.verbs.optimize_program import FasterProgram, ProgramJob, optimize_program
from warpsight.verbs.run_program import ProgramQuestion, run_whole

BY_HAND = """\
// launch: grid=(ceil(rows/4)) block=(128) shared=0
using T = float;
__device__ float over_warp(float sum) {
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    return sum;
}
extern "C" __global__ void row_sums(const T *a, T *out, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows) return;
    T sum = 0;
    for (int j = threadIdx.x % 32; j < columns; j += 32) sum += a[row * columns + j];
    sum = over_warp(sum);
    if (threadIdx.x % 32 == 0) out[row] = sum;
}
"""


def optimized(folder: Path, kernel: str, *arguments: str) -> FasterProgram:
    try:
        require_compiler()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    (folder / "own").mkdir()
    shutil.copy(SOURCES / "rows.cu", folder / "own" / "rows.cu")
    (folder / "by_hand.cu").write_text(kernel)
    program = ProgramQuestion(folder / "own" / "rows.cu", arguments)
    job = ProgramJob(program, folder / "out", "row_sums", by_hand=folder / "by_hand.cu")
    return optimize_program(job, lambda _: None)


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FasterProgram]:
    folder = tmp_path_factory.mktemp("faster")
    return folder, optimized(folder, BY_HAND, "1000")


def test_kernel_and_program_are_faster(faster: tuple[Path, FasterProgram]) -> None:
    folder, found = faster
    speedup = found.speedup
    assert speedup is not None and speedup.holds
    assert speedup.kernel_ratio > 1.5 and 1.0 < speedup.ratio < speedup.kernel_ratio
    assert (speedup.own_check_before, speedup.own_check_after, speedup.output) == ("passed", "passed", "exact")
    told = json.loads((folder / "out" / "program.json").read_text())
    certificate = json.loads((folder / "out" / "certificate.json").read_text())
    assert told["certificate"] == certificate["sha256"] and told["signature"]["value"]
    assert certificate["candidate"]["text"] == BY_HAND


def test_the_patch_applies_and_the_program_runs(faster: tuple[Path, FasterProgram], tmp_path: Path) -> None:
    folder, _ = faster
    shutil.copy(SOURCES / "rows.cu", tmp_path / "rows.cu")
    patch = (folder / "out" / "faster.patch").read_bytes()
    for check in (["git", "apply", "--check", "-"], ["patch", "-p1"]):
        subprocess.run(check, input=patch, cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "rows.cu").read_text()
    assert "template <>" in text and "row_sums<float>(const float *a" in text
    assert "<<<dim3(((rows + 4 - 1) / 4)), dim3(128)>>>" in text and text.count("over_warp") == 2
    for rows in ("1000", "37"):
        output = bytearray()
        run = run_whole(ProgramQuestion(tmp_path / "rows.cu", (rows,)), output=output.extend, errors=output.extend)
        assert (run.exit_code, output.decode()) == (0, "PASS\n")


def test_own_sources_are_not_touched(faster: tuple[Path, FasterProgram]) -> None:
    folder, _ = faster
    assert (folder / "own" / "rows.cu").read_bytes() == (SOURCES / "rows.cu").read_bytes()


def test_a_wrong_kernel_changes_nothing(tmp_path: Path) -> None:
    found = optimized(tmp_path, BY_HAND.replace("j < columns", "j < columns - 32"), "1000")
    assert found.speedup is None and found.patch_file is None
    assert found.left[0][0] == "row_sums" and "not right and faster: wrong_values" in found.left[0][1]
