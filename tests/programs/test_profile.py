"""Profiles of whole programs: kernels by their share, findings by what they would bring the whole."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.programs.conftest import SOURCES, Ran

from warpsight.programs.recognise import is_program


def asked(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "warpsight.cli.app", *words, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def test_a_program_is_told_from_a_task(tmp_path: Path) -> None:
    assert is_program(str(SOURCES / "saxpy.cu"))
    kernel, folder = tmp_path / "kernel.cu", tmp_path / "folder"
    kernel.write_text("__global__ void k() {}\n")
    folder.mkdir()
    assert not is_program(str(kernel)) and not is_program(str(folder)) and not is_program("saxpy")
    (folder / "Makefile").write_text("main:\n")
    assert is_program(str(folder))
    (folder / "task.toml").write_text("")
    assert not is_program(str(folder))
    assert is_program(sys.executable) and not is_program(None)


def test_kernels_and_copies_make_the_whole(run_source: Callable[..., Ran]) -> None:
    del run_source  # skips where there is no nvcc
    found = asked("profile", str(SOURCES / "saxpy.cu"), "1000000")
    (kernel,) = found["kernels"]
    copies = sum(row["time_us"] for row in found["copies"])
    assert found["whole_us"] == pytest.approx(kernel["time_us"] + copies)
    assert kernel["share"] == pytest.approx(kernel["time_us"] / found["whole_us"])
    assert kernel["profile"]["profile"]["counters"]["duration_us"] == pytest.approx(kernel["time_us"], abs=1e-3)
    lines = {row["line"]: row["counters"] for row in kernel["profile"]["profile"]["lines"]}
    assert lines[5]["global_load_requests"] == 2 * 31_250  # x and y, a warp of 32 lanes each


def test_a_finding_counts_by_its_share(run_source: Callable[..., Ran]) -> None:
    del run_source
    found = asked("diagnose", str(SOURCES / "streams.cu"))
    gains = [row["gain"] for row in found["findings"] if row["gain"] is not None]
    assert gains and gains == sorted(gains, reverse=True)
    for row in found["findings"]:
        alone = row["finding"]["estimated_gain"]
        if alone is not None:
            assert row["gain"] == pytest.approx(1 / (1 - row["share"] + row["share"] / alone))


def test_one_kernel_is_shown_in_full(run_source: Callable[..., Ran]) -> None:
    del run_source
    command = [sys.executable, "-m", "warpsight.cli.app", "profile", "--kernel-name"]
    source = str(SOURCES / "saxpy.cu")
    ran = subprocess.run([*command, "saxpy", source, "100000"], capture_output=True, text=True, check=True)
    assert "y[i] = a * x[i] + y[i];" in ran.stdout and "occupancy" in ran.stdout
    gone = subprocess.run([*command, "nothing", source, "100000"], capture_output=True, text=True, check=False)
    assert gone.returncode == 2 and "expected one of saxpy, found 'nothing'" in gone.stderr
