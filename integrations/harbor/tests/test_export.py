"""An exported task, and its test script run as Harbor runs it, with its places moved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from warpsight_harbor.export import export_task

ROOT = Path(__file__).parents[3]
FASTER = """\
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r0 + j < R && c < C) tile[threadIdx.y + j][threadIdx.x] = x[(size_t)(r0 + j) * C + c];
    __syncthreads();
    int col = blockIdx.y * 32 + threadIdx.x, row0 = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (row0 + j < C && col < R) y[(size_t)(row0 + j) * R + col] = tile[threadIdx.x][threadIdx.y + j];
}
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_task(ROOT / "tasks" / "transpose", tmp_path_factory.mktemp("harbor"))


def test_the_folder_has_the_parts_of_the_format(exported: Path) -> None:
    settings = tomllib.loads((exported / "task.toml").read_text())
    assert settings["version"] == "1.0"
    assert settings["verifier"]["timeout_sec"] > 0 and settings["agent"]["timeout_sec"] > 0
    assert "hidden" not in (exported / "instruction.md").read_text()
    assert (exported / "environment" / "Dockerfile").read_text().startswith("FROM python")
    assert os.access(exported / "tests" / "test.sh", os.X_OK)


@pytest.mark.parametrize(
    ("kernel", "least", "most"),
    [("given", 0.0, 0.0), (FASTER, 0.1, 4.0), ("nonsense", 0.0, 0.0), ("none", 0.0, 0.0)],
    ids=["given", "faster", "wrong", "none"],
)
def test_the_test_script_writes_the_reward(
    exported: Path, tmp_path: Path, kernel: str, least: float, most: float
) -> None:
    given = exported / "tests" / "task" / "kernel.cu"
    mine = tmp_path / "kernel.cu"
    if kernel != "none":
        mine.write_text(given.read_text() if kernel == "given" else kernel)
    moved = {**os.environ, "LOGS": str(tmp_path / "logs"), "KERNEL": str(mine), "PYTHON": sys.executable}
    subprocess.run([exported / "tests" / "test.sh"], env=moved, check=True, timeout=300)
    parts = json.loads((tmp_path / "logs" / "reward.json").read_text())
    assert least <= parts["reward"] <= most
    assert float((tmp_path / "logs" / "reward.txt").read_text()) == parts["reward"]
