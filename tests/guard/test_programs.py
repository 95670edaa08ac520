"""A guarded program: a slower kernel in it is caught, a remark is not, and what prints something else is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.guard.repository import quiet

from warpsight.errors import ToolMissing, UsageError
from warpsight.guard.judge import GuardRow
from warpsight.guard.reports import markdown, sarif
from warpsight.programs.build import require_compiler
from warpsight.verbs import guard

PROGRAM = """\
#include <cstdio>
#include "size.h"
__global__ void scale(float* x, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) x[i] = a * x[i];
}
__global__ void shift(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] + 1.0f;
}
int main() {
  static float h[N];
  float *x, *y;
  for (int i = 0; i < N; ++i) h[i] = i % 97;
  cudaMalloc(&x, sizeof(h));
  cudaMalloc(&y, sizeof(h));
  cudaMemcpy(x, h, sizeof(h), cudaMemcpyHostToDevice);
  for (int k = 0; k < 8; ++k) scale<<<(N + 255) / 256, 256>>>(x, 1.5f);
  shift<<<(N + 255) / 256, 256>>>(x, y);
  cudaMemcpy(h, y, sizeof(h), cudaMemcpyDeviceToHost);
  printf("last %.3f\\n", h[N - 1]);
  return 0;
}
"""
SLOW = PROGRAM.replace("blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) x[i]",
                       "(blockIdx.x * blockDim.x + threadIdx.x) * 33 % (1 << 18);\n  if (i < N) x[i]")  # fmt: skip


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one accepted program."""
    try:
        require_compiler()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("repository")
    (folder / "src").mkdir()
    (folder / "src" / "steps.cu").write_text(PROGRAM)
    (folder / "src" / "size.h").write_text("#define N (1 << 18)\n")
    (folder / "warpsight.toml").write_text('[[program]]\nprogram = "src/steps.cu"\narguments = ["5"]\n')
    _, kept, wrong = guard.update(folder, "", quiet)
    assert len(kept) == 1 and not wrong
    return folder


def verdict(folder: Path, text: str) -> GuardRow:
    (folder / "src" / "steps.cu").write_text(text)
    _, (row,) = guard.check(folder, "", "", quiet)
    return row


def test_the_same_sources_are_not_run_again(accepted: Path) -> None:
    assert verdict(accepted, PROGRAM).status == "unchanged"


def test_a_slower_kernel_is_told_by_name_and_a_remark_is_neutral(accepted: Path) -> None:
    row = verdict(accepted, SLOW)
    assert row.status in ("slower", "likely_slower") and row.change is not None and row.change > 0.03
    assert any(one.startswith("scale: ") for one in row.moves)
    assert not any("shift" in one for one in row.moves)
    assert row.likely is not None and row.likely[0] < row.change < row.likely[1]
    assert "scale" in markdown([row], False)
    places = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
              for one in json.loads(sarif([row], False))["runs"][0]["results"]}  # fmt: skip
    assert places == {"src/steps.cu"}
    neutral = verdict(accepted, PROGRAM + "// a remark\n")
    assert (neutral.status, neutral.change) == ("same", 0.0)
    assert neutral.likely is not None and max(map(abs, neutral.likely)) < 0.02, "the same code adds no doubt"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PROGRAM.replace("+ 1.0f", "+ 900.0f"), "prints something else"),
        (PROGRAM.replace("return 0;", "return 3;"), "exit code 3"),
        (PROGRAM.replace("float* x, float a", "float* x float a"), "does not build"),
        (PROGRAM.replace("if (i < N) y[i]", "y[i + N]"), "fault in shift"),
    ],
)
def test_what_is_wrong_is_said(accepted: Path, text: str, told: str) -> None:
    row = verdict(accepted, text)
    assert row.status == "wrong" and told in row.detail and row.fails(strict=False)


def test_a_wrong_program_is_never_accepted(accepted: Path) -> None:
    before = (accepted / "warpsight-baseline.json").read_bytes()
    (accepted / "src" / "steps.cu").write_text(PROGRAM.replace("if (i < N) y[i]", "y[i + N]"))
    assert guard.update(accepted, "", quiet)[2][0].status == "wrong"
    assert (accepted / "warpsight-baseline.json").read_bytes() == before


def test_other_arguments_are_another_question(accepted: Path) -> None:
    listed = accepted / "warpsight.toml"
    was = listed.read_text()
    listed.write_text(was.replace('"5"', '"6"'))
    assert verdict(accepted, PROGRAM).status == "new"
    listed.write_text(was)


@pytest.mark.parametrize("how", ["name", "link"])
def test_nothing_outside_of_the_folder_is_shown(how: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_text("secret")
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    text = PROGRAM + ('#include "../../outside/key"\n' if how == "name" else "")
    (folder / "src" / "steps.cu").write_text(text)
    if how == "link":
        (folder / "src" / "size.h").symlink_to(tmp_path / "outside" / "key")
    (folder / "warpsight.toml").write_text('[[program]]\nprogram = "src/steps.cu"\n')
    with pytest.raises(UsageError, match="outside"):
        guard.update(folder, "", quiet)
