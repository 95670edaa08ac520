"""`warpsight runs`, `show`, `resume`, `replay`, `export` on a real store."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.reason.small_box import GOOD, KERNEL, SmallBox, job

from warpsight.cli import resume as resume_verb
from warpsight.models.scripted import ScriptedModel
from warpsight.reason.job import Job
from warpsight.reason.loop import run_loop
from warpsight.reason.resume import OpenedBox
from warpsight.runs.sqlite import SqliteStore

Command = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def script(tmp_path: Path) -> str:
    """The good script as a file, as a user would give it."""
    file = tmp_path / "script.json"
    file.write_text(json.dumps([turn.model_dump(mode="json") for turn in GOOD]))
    return f"scripted:{file}"


def make(data: Path, turns: int, run_id: str = "20260101-small-aa", **changes: Any) -> None:
    with SqliteStore(data) as store:
        run_loop(job(run_id, **changes), ScriptedModel(GOOD[:turns]), SmallBox(), store)


def test_runs_lists_what_is_there(command: Command, data: Path) -> None:
    assert "no such runs" in command("runs").out
    make(data, 6)
    make(data, 2, "20260102-small-bb")
    lines = command("runs").out.splitlines()
    assert lines[1].split()[:4] == ["20260102-small-bb", "small", "scripted", "stopped"]
    assert lines[2].split()[:6] == ["20260101-small-aa", "small", "scripted", "submitted", "4.50x", "simulated"]
    found = command("runs", "--outcome", "submitted", "--json").document()
    assert [line["id"] for line in found["runs"]] == ["20260101-small-aa"]


def test_show_tells_the_run_and_gives_its_kernel(command: Command, data: Path) -> None:
    make(data, 6)
    out = command("show", "last").out
    assert "4 result profile" in out and "1.00x (simulated), uncoalesced" in out
    assert "best: 4.500x (simulated on small, 4.500 to 4.500 between boost and base clock)" in out
    assert "predicted sectors_per_request down: 32 to 4, right" in out
    assert command("show", "aa", "--kernel").out == KERNEL.replace("stride = 32", "stride = 1")
    assert command("show", "last", "--json").document()["submitted"]["check"]["verdict"] == "right"
    missing = command("show", "nothing")
    assert missing.code == 2 and "the latest are 20260101-small-aa" in missing.err


def test_an_ambiguous_beginning_is_refused(command: Command, data: Path) -> None:
    make(data, 1, "20260101-small-aa")
    make(data, 1, "20260101-small-ab")
    assert "means 2 runs" in command("show", "20260101").err
    assert command("show", "20260101-small-ab").code == 0


def test_resume_goes_on_with_what_the_job_says(
    command: Command, data: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = SmallBox()

    def open_box(_: Job) -> OpenedBox:
        return OpenedBox(box, lambda kernel, note: job().opening)

    monkeypatch.setitem(resume_verb.BOXES, "tiny", open_box)
    make(data, 3, model=script, settings={"box": "tiny"})
    done = command("resume", "last", "--json")
    assert done.code == 0, done.err[-3000:]
    assert done.document()["outcome"] == "submitted"
    assert box.called == ["profile", "check", "submit"], "the three that were recorded are not run again"
    again = command("resume", "last")
    assert again.code == 2 and "has ended (submitted)" in again.err


def test_resume_refuses_tools_it_cannot_open(command: Command, data: Path) -> None:
    make(data, 2)
    refused = command("resume", "last")
    assert refused.code == 2 and "tool box" in refused.err


def test_replay_needs_nothing_but_the_store(data: Path) -> None:
    """In a process of its own, in which no device, compiler or network client can be loaded."""
    make(data, 6)
    code = """
import sys
for name in ("numpy", "cuda", "torch", "httpx", "httpx2", "warpsight.devices", "warpsight.vgpu", "warpsight.toolchain"):
    sys.modules[name] = None
from warpsight.cli.app import main
main(["replay", "last", "--json"])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["same"] and found["steps"] == 20 and len(found["transcript_sha256"]) == 64


def test_replay_sees_a_changed_record(command: Command, data: Path) -> None:
    make(data, 6)
    assert command("replay", "last").out.startswith("same: 20 steps to the byte")
    db = sqlite3.connect(data / "runs.db")
    db.execute("DROP TRIGGER records_no_update")
    db.execute("UPDATE records SET body = replace(body, '1.00x', '9.00x') WHERE step = 4")
    db.commit()
    db.close()
    changed = command("replay", "last")
    assert changed.code == 1 and "differs at step 4" in changed.out


def test_export_writes_both_forms(command: Command, data: Path, tmp_path: Path) -> None:
    make(data, 6)
    file = tmp_path / "out.json"
    assert command("export", "last", "--format", "atif", "--output", str(file)).code == 0
    assert json.loads(file.read_text())["schema_version"] == "ATIF-v1.7"
    row = command("export", "last", "--format", "hf").out
    assert row.count("\n") == 1 and json.loads(row)["messages"][0]["role"] == "system"
