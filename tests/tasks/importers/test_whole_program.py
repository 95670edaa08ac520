"""What programs print, which kernels are hot, what a faster kernel can bring; two builds of a program compared."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.tasks.importers.hecbench.output import difference, self_check
from warpsight.tasks.importers.hecbench.whole_program import (
    ProgramRun,
    amdahl,
    amdahl_limit,
    compare_programs,
    hot_kernels,
)


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("Average time 3 (us)\nPASS\n", "passed"),
        ("FAIL\n", "failed"),
        ("PASS\nFAILED at 3\n", "failed"),
        ("Test passed with 0 errors, 0 mismatches\nSuccess", "passed"),
        ("errors: 0\nPASSED", "passed"),
        ("checksum 42\n", "none"),
        ("bypass filter\n", "none"),
        ("", "none"),
    ],
)
def test_self_check(output: str, verdict: str) -> None:
    assert self_check(output) == verdict


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("sum 1.00000\ntime 3 us\n", "sum 1.00001\ntime 9 us\n", True),
        ("sum 1.0\n", "sum 1.1\n", False),
        ("sum 1.0\n", "total 1.0\n", False),
        ("a 1\nb 2\n", "a 1\n", False),
        ("x -1e-3", "x -0.001", True),
        ("nan", "nan", True),
    ],
)
def test_outputs_are_compared_but_for_times(expected: str, got: str, same: bool) -> None:
    assert (difference(expected, got) == "") == same


def test_amdahl() -> None:
    assert amdahl(0.5, 2) == pytest.approx(1 / 0.75)
    assert amdahl(0, 100) == 1 and amdahl(1, 3) == pytest.approx(3)
    assert amdahl_limit(0.75) == pytest.approx(4) and amdahl_limit(1) == math.inf
    for share, speed in ((-0.1, 2), (1.1, 2), (0.5, 0)):
        with pytest.raises(UsageError):
            amdahl(share, speed)


def test_hot_kernels() -> None:
    found = hot_kernels([("a", 10.0), ("b", 50.0), ("a", 30.0), ("c", 10.0)], program_s=1e-3)
    assert [(one.name, one.launches, one.total_us) for one in found] == [("b", 1, 50.0), ("a", 2, 40.0), ("c", 1, 10.0)]
    assert [one.gpu_share for one in found] == pytest.approx([0.5, 0.4, 0.1])
    assert [one.program_share for one in found] == pytest.approx([0.05, 0.04, 0.01])
    assert hot_kernels([]) == ()


def runs(folder: Path, name: str, body: str) -> Callable[[], ProgramRun]:
    """A program of the CPU that is really started, in the place of one of a GPU."""
    file = folder / f"{name}.py"
    file.write_text(body)

    def run() -> ProgramRun:
        started = time.perf_counter()
        ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=30)
        return ProgramRun(ended.stdout, ended.returncode, time.perf_counter() - started)

    return run


def test_a_changed_program_is_compared_with_the_original(tmp_path: Path) -> None:
    before = runs(tmp_path, "before", "print('sum 1.5\\ntime', 3, 'us\\nPASS')")
    after = runs(tmp_path, "after", "print('sum 1.5000001\\ntime', 1, 'us\\nPASS')")
    found = compare_programs(before, after, runs=2)
    assert found.verdict == "right" and found.self_check == "passed" and found.source == "measured"
    assert found.before_s and found.after_s and found.speedup == pytest.approx(found.before_s / found.after_s)
    assert len(found.before_samples_s) == 2

    other = runs(tmp_path, "other", "print('sum 1.6\\nPASS')")
    assert "another" in compare_programs(before, other, runs=1).reason
    fails = runs(tmp_path, "fails", "print('sum 1.5\\nFAIL')")
    assert compare_programs(before, fails, runs=1).verdict == "wrong"
    crashes = runs(tmp_path, "crashes", "raise SystemExit(3)")
    crashed = compare_programs(before, crashes, runs=1)
    assert crashed.verdict == "failed" and "status 3" in crashed.reason and crashed.speedup is None
    assert "original" in compare_programs(crashes, before, runs=1).reason
