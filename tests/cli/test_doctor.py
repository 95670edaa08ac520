"""The command line from outside: help, exit codes, doctor in text and JSON."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.cli import output
from warpsight.cli.app import VERBS
from warpsight.errors import BrokenMachine, DeviceError, TaskError, ToolchainError, ToolMissing, UsageError


def warpsight(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "warpsight.cli.app", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


def test_help_lists_every_verb() -> None:
    shown = warpsight("--help")
    assert shown.returncode == 0
    for verb in VERBS:
        assert verb.name in shown.stdout and verb.help.split()[0] in shown.stdout


@pytest.mark.parametrize("module", [verb.module or verb.name for verb in VERBS])
def test_every_verb_has_its_module(module: str) -> None:
    assert hasattr(importlib.import_module(f"warpsight.cli.{module}"), module)


@pytest.mark.parametrize("words", [("nonsense",), ("doctor", "--nonsense"), ("--nonsense",)])
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...]) -> None:
    run = warpsight(*words)
    assert run.returncode == 2 and run.stdout == "" and "nonsense" in run.stderr


def test_doctor_json(tmp_path: Path) -> None:
    run = warpsight("doctor", "--json", WARPSIGHT_CACHE=str(tmp_path))
    document = json.loads(run.stdout)
    probes = {probe["name"]: probe for probe in document["probes"]}
    for part in ("python", "cpu", "cuda packages", "compiler", "disassembler", "native core", "cache"):
        assert probes[part]["state"] == "ok", probes[part]
    assert str(tmp_path) in probes["cache"]["detail"]
    assert run.returncode == 0 and document["fine"] is True
    for probe in document["probes"]:
        if probe["name"].startswith("extra ") and probe["state"] == "absent":
            assert probe["fix"].startswith("pip install 'warpsight[")


def test_doctor_text(tmp_path: Path) -> None:
    run = warpsight("doctor", WARPSIGHT_CACHE=str(tmp_path), COLUMNS="200")
    assert run.returncode == 0, run.stdout
    assert "nvrtc 13." in run.stdout and "nvdisasm 13." in run.stdout and "native core" in run.stdout
    assert "kernels run on: the virtual GPU (simulated)" in run.stdout and "all that is needed is here" in run.stdout


def test_doctor_names_a_cache_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = warpsight("doctor", "--json", WARPSIGHT_CACHE=str(tmp_path / "file"))
    (cache,) = [probe for probe in json.loads(run.stdout)["probes"] if probe["name"] == "cache"]
    assert run.returncode == 5 and cache["state"] == "broken" and "WARPSIGHT_CACHE" in cache["fix"]


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (UsageError("x", hint="try y"), 2),
        (TaskError(file="task.toml", key="axes", expected="a", found="b"), 2),
        (ToolMissing("x"), 3),
        (ToolchainError("x"), 5),
        (DeviceError("x"), 5),
        (BrokenMachine("x"), 5),
        (KeyError("an unforeseen fault"), 5),
    ],
)
def test_errors_become_exit_codes(problem: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert output.fail(problem, as_json=True) == code
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"]["exit_code"] == code
    assert "error: " in shown.err
    assert output.fail(problem, as_json=False) == code
    assert capsys.readouterr().out == ""
