"""The CUDA device end to end: its own processes, NVIDIA's packages, and the stand-in driver where a GPU's would be.

It shows that host code, protocol, memory and faults hold together on a driver that does what NVIDIA documents. It shows
nothing of a GPU: no time, no clock, no cache, no concurrency.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from warpsight.devices.conformance import CASES
from warpsight.devices.cuda_state import STAND_IN
from warpsight.programs.door import open_door

pytest.importorskip("cuda.core")
TASKS = Path(__file__).parents[2] / "tasks"


@pytest.fixture(scope="module")
def environment() -> Generator[dict[str, str]]:
    """That of a machine whose NVIDIA driver is the stand-in."""
    with open_door("a100") as driver:
        yield {**os.environ, **driver}


def ran(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_cuda_device_keeps_the_contract(environment: dict[str, str]) -> None:
    suite = ran(environment, "warpsight.devices.conformance", "cuda")
    passed = [line for line in suite.stdout.splitlines() if line.endswith(": passed")]
    assert suite.returncode == 0 and len(passed) == len(CASES), suite.stdout + suite.stderr


def test_results_say_that_there_was_no_gpu(environment: dict[str, str], tmp_path: Path) -> None:
    words = (
        "warpsight.cli.app",
        "check",
        str(TASKS / "vector_add"),
        "--workload",
        "small",
        "--device",
        "cuda",
        "--json",
    )
    done = ran(environment, *words)
    found = json.loads(done.stdout)
    assert found["verdict"] == "right" and STAND_IN in found["warnings"]
