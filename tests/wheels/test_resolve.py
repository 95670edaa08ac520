"""pip finds versions of everything that go together: beside the newest torch of the index, and without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RESOLVE = Path(__file__).parents[2] / "wheels" / "resolve.py"
NO_INDEX = 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_resolver_agrees_beside_torch_and_alone() -> None:
    done = subprocess.run([sys.executable, str(RESOLVE)], capture_output=True, text=True)
    if done.returncode == NO_INDEX:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    alone, beside = [line for line in done.stdout.splitlines() if line.startswith("  ")]
    assert "torch-" not in alone and "nvidia-cuda-nvrtc-13." in alone
    assert "torch-" in beside and "nvidia-cuda-nvrtc-13." in beside and "nvidia-cuda-nvdisasm-13." in beside


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_check_sees_versions_that_do_not_go_together() -> None:
    argv = [sys.executable, str(RESOLVE), "--with", "nvidia-cuda-nvrtc==99"]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode == NO_INDEX:
        pytest.skip("no package index can be reached")
    assert done.returncode == 1 and "REFUSED" in done.stdout
