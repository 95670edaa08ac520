"""The GitHub action, each step run as the runner's shell would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from tests.guard.repository import honest, make_repository

ROOT = Path(__file__).parents[2]


def run_action(folder: Path, place: Path, **given: str) -> tuple[int, dict[str, str]]:
    """Exit code, and what the runner would have read afterwards: summary and outputs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: given.get(name.replace("-", "_"), one["default"]) for name, one in action["inputs"].items()}
    files = {name: place / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for file in files.values():
        file.touch()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    runner = {
        **os.environ,
        "PATH": path,
        "RUNNER_TEMP": str(place),
        **{name: str(file) for name, file in files.items()},
    }
    code = 0
    for step in action["runs"]["steps"]:
        if step.get("if") == "inputs.install != ''" and not inputs["install"]:
            continue
        assert "${{" not in step["run"], "what a stranger gives never stands in a script"
        own = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], text)
            for name, text in step["env"].items()
        }
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        code = subprocess.run(argv, cwd=folder, env={**runner, **own}, timeout=240, check=False).returncode
    return code, {name: file.read_text() for name, file in files.items()}


def test_the_action_passes_and_fails_with_the_guard(tmp_path: Path) -> None:
    made = make_repository(tmp_path / "repository", "transpose")
    slow = made.kernel("transpose").read_text()
    made.commit("transpose", honest("transpose__padded_tile"))
    made.accept()
    place = tmp_path / "runner"
    place.mkdir()
    code, files = run_action(made.folder, place, install="")
    assert code == 0 and "none fails" in files["GITHUB_STEP_SUMMARY"]
    made.commit("transpose", slow)
    code, files = run_action(made.folder, place, install="", strict="true", max_regression="5%")
    assert code == 1 and "transpose" in files["GITHUB_STEP_SUMMARY"]
    named = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].splitlines())
    assert Path(named["sarif"]).is_file() and Path(named["junit"]).is_file()


def test_the_hook_calls_a_command_that_is_there() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    ended = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", *hook["entry"].split()[1:], "--help"],
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0
