"""Events: one line each on stderr when asked for, nothing otherwise, and never in the way of a result."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.events import LOGGER, event, line_of

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \d+ (compile|cache_hit|worker_start|launch)( \w+=\S.*)$")


def asked(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WARPSIGHT_CACHE": str(tmp_path / "cache"), "COLUMNS": "200"}
    environment.pop("WARPSIGHT_VERBOSE", None)
    argv = [sys.executable, "-m", "warpsight.cli.app", *words]
    return subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=250)


def test_a_line_can_be_read_back_by_its_pairs() -> None:
    values = {"source": "kernel.cu", "ok": True, "seconds": 0.123456, "name": "the CUDA compiler", "empty": ""}
    assert line_of("compile", values) == (
        'compile source=kernel.cu ok=True seconds=0.123 name="the CUDA compiler" empty=""'
    )


def test_who_listens_gets_the_values_too(caplog: pytest.LogCaptureFixture) -> None:
    event("compile", seconds=1.0)
    assert not caplog.records and not LOGGER.isEnabledFor(logging.INFO)
    with caplog.at_level(logging.INFO, logger="warpsight"):
        event("compile", name="kernel.cu", seconds=1.0)
    (record,) = caplog.records
    assert vars(record)["event"] == "compile" and vars(record)["values"] == {"name": "kernel.cu", "seconds": 1.0}


@pytest.mark.parametrize("words", [("-v", "check", "saxpy", "--json"), ("check", "saxpy", "--json", "--verbose")])
def test_events_go_to_stderr_and_leave_the_result_alone(tmp_path: Path, words: tuple[str, ...]) -> None:
    first = asked(tmp_path, *words)
    assert first.returncode == 0 and json.loads(first.stdout)["verdict"] == "right"
    lines = [line for line in first.stderr.splitlines() if LINE.match(line)]
    kinds = {line.split()[2] for line in lines}
    assert {"compile", "worker_start", "launch"} <= kinds
    (compiled,) = [line for line in lines if " compile " in line]
    assert "source=kernel.cu arch=sm_80 ok=True" in compiled
    again = asked(tmp_path, *words)
    assert " cache_hit kind=builds " in again.stderr and " compile " not in again.stderr


def test_without_the_word_there_are_no_events(tmp_path: Path) -> None:
    done = asked(tmp_path, "check", "saxpy", "--json")
    assert done.returncode == 0 and not [line for line in done.stderr.splitlines() if LINE.match(line)]
