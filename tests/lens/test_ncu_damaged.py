"""Damaged reports: whatever they make the reader do, the command goes on, with one error in words.

The reader here is one of our own that misbehaves on purpose, in the real jail; NVIDIA's is fed damaged files where both
it and real reports are at hand.
"""

from __future__ import annotations

import importlib
import random
from pathlib import Path

import pytest
from tests.lens.test_ncu import EMPTY, HAS_READER, REPORTS

from warpsight.errors import UsageError
from warpsight.jail import Limits
from warpsight.lens import find_findings, ncu_report
from warpsight.lens.ncu_report import read_report

READER = """
class Metric:
    def __init__(self, value): self._value = value
    def value(self, k=None): return self._value
    def unit(self): return "us"
    def num_instances(self): return 0
class Action:
    metrics = {"gpu__time_duration.sum": 2.0, "launch__grid_size": 4}
    def name(self): return "kernel"
    def metric_names(self): return list(self.metrics)
    def __getitem__(self, name): return Metric(self.metrics[name])
    def source_files(self): return {}
class Part:
    def num_actions(self): return 1
    def action_by_idx(self, k): return Action()
def load_report(path):
    {behaviour}
    return [Part()]
"""
BEHAVIOURS = {
    "crash": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "leave": "import os; os._exit(0)",
    "exit": "raise SystemExit(3)",
    "raise": "raise SystemError('no such field')",
    "hang": "import time; time.sleep(60)",
    "spin": "while True: pass",
    "memory": "x = bytearray(1 << 40)",
    "flood": "print('x' * 10_000_000)",
    "no name": "Action.name = lambda self: 1 / 0",
    "nan": "Action.metrics = {'gpu__time_duration.sum': float('nan')}",
    "infinite grid": "Action.metrics = {'launch__grid_size': float('inf')}",
    "bad lines": "Action.source_files = lambda self: 7",
    "negative": "Action.metrics = {'launch__grid_size': -4, 'gpu__time_duration.sum': -1.0}",
}


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "packages" / "ncu_report"
    package.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(ncu_report, "LIMITS", Limits(wall_s=2, cpu_s=2, memory_bytes=1 << 30, log_bytes=1 << 16))
    importlib.invalidate_caches()
    return package / "__init__.py"


def report_in(folder: Path) -> Path:
    path = folder / "x.ncu-rep"
    path.write_bytes(EMPTY)
    return path


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_reader_that_fails_is_an_error_in_words(name: str, reader: Path, tmp_path: Path) -> None:
    reader.write_text(READER.replace("{behaviour}", BEHAVIOURS[name]))
    with pytest.raises(UsageError, match=r"x\.ncu-rep cannot be read as a report of Nsight Compute: ") as told:
        read_report(report_in(tmp_path))
    assert told.value.hint


def test_a_reader_that_works_is_believed(reader: Path, tmp_path: Path) -> None:
    reader.write_text(READER.replace("{behaviour}", "pass"))
    found = read_report(report_in(tmp_path))
    assert found.kernel == "kernel" and found.total_blocks == 4


@pytest.mark.slow
def test_damaged_copies_of_real_reports_are_read_or_refused(tmp_path: Path) -> None:
    files = sorted(REPORTS.glob("*.ncu-rep"))
    if not HAS_READER or not files:
        pytest.skip("needs the package ncu-report and reports (WARPSIGHT_NCU_REPORTS)")
    dice, path = random.Random(5), tmp_path / "damaged.ncu-rep"
    for _ in range(60):
        content = bytearray(dice.choice(files).read_bytes())
        for _ in range(dice.choice((1, 2, 5, 20, 200))):
            content[dice.randrange(len(content))] = dice.randrange(256)
        path.write_bytes(content)
        try:
            find_findings(read_report(path, 0))
        except UsageError as told:
            assert told.hint
