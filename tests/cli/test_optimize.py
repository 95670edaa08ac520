"""`warpsight optimize` with the scripted model: the same numbers as from the loop, a clean stop, and going on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue
from tests.cli.conftest import ROOT, Ran
from tests.report.made import Outline

from warpsight.errors import UsageError
from warpsight.gate.certificate import read_certificate
from warpsight.models.open import open_model
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns import kernel_id
from warpsight.nouns.run import Run
from warpsight.reason.optimize import open_tools, opened_box, outcome_of, plan
from warpsight.reason.replay import replay
from warpsight.reason.resume import run_job
from warpsight.reason.transcript import transcript_bytes
from warpsight.runs.memory import MemoryStore
from warpsight.runs.sqlite import SqliteStore
from warpsight.tasks import read_task

Command = Callable[..., Ran]
DEMO = ("optimize", "transpose", "--model", "scripted:demo")


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.usefixtures("exact_model")
def test_a_slow_kernel_becomes_a_certified_faster_one_from_both_doors(command: Command, tmp_path: Path) -> None:
    done = command(*DEMO, "--out", str(tmp_path / "new.cu"), "--json")
    assert done.code == 0, done.err
    found = done.document()
    assert found["faster"] and found["decision"] == "FASTER" and found["source"] == "simulated"
    assert [p["verdict"] for p in found["run"]["submission"]["predictions"]] == ["right"] * 3
    assert found["findings_gone"] == ["uncoalesced_access"]
    moved = {m["counter"]: (m["before"], m["after"]) for m in found["moved"]}
    assert moved["global_store_sectors"] == (1048576, 131072)
    certificate, *_ = read_certificate(Path(found["certificate_file"]).read_bytes())
    assert certificate.candidate.text == (tmp_path / "new.cu").read_text()
    assert certificate.timing.ratio == found["ratio"]

    store, task = MemoryStore(), read_task(ROOT / "tasks" / "transpose")
    job = plan(task, "scripted:demo")
    box = open_tools(job, store, tmp_path / "ledger")
    run = run_job(job, open_model(job.model), opened_box(job, box), store)
    mine = outcome_of(run, box, store)
    assert mine.final is not None and mine.final.timing is not None and mine.final.certificate is not None
    assert mine.final.candidate_sha256 == found["kernel_sha256"]
    assert (mine.final.timing.ratio, list(mine.final.timing.interval or ())) == (found["ratio"], found["interval"])
    assert replay(store, job.id).same


@pytest.mark.usefixtures("rough_model")
def test_text_says_where_numbers_come_from_and_what_is_only_likely(command: Command, tmp_path: Path) -> None:
    done = command(*DEMO, "--out", str(tmp_path / "new.cu"), "--quiet")
    assert done.code == 0 and done.err == "" and (tmp_path / "new.cu").is_file()
    assert "simulated" in done.out and "certificate: " in done.out and f"kernel: {tmp_path / 'new.cu'}" in done.out
    assert "global_store_sectors 1048576 -> 131072" in done.out
    shown = command("replay", "last")
    assert shown.code == 0 and shown.out.startswith("same: ")
    assert "the gate: right, LIKELY_FASTER: " in done.out and " % of such pairs were measured faster" in done.out
    assert "certificate: none, since the kernel is likely faster" in done.out
    page = Outline(next((tmp_path / "data").rglob("*.html")).read_text(encoding="utf-8"))
    assert "LIKELY_FASTER, likely range when measured" in page.ids["card-interval"]
    assert page.ids["card-certificate"].startswith("no certificatethe kernel is likely faster")
    assert "right, likely faster" in page.ids["tried"]


def test_a_run_that_finds_nothing_says_so(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "nothing.json"
    script.write_text(json.dumps([{"calls": [{"name": "submit", "arguments": {"base": "given", "cause": "none"}}]}]))
    done = command("optimize", "transpose", "--model", f"scripted:{script}", "--out", str(tmp_path / "new.cu"))
    assert done.code == 1 and "no kernel was found that is right and faster" in done.out
    assert not (tmp_path / "new.cu").exists()
    assert "best so far: none yet; left: 24 tool calls" in done.err, "plain lines where there is no terminal"


@pytest.mark.usefixtures("exact_model")
def test_a_best_kernel_that_was_never_submitted_is_certified(command: Command, tmp_path: Path) -> None:
    tiled = (ROOT / "tasks/transpose/faster/tiled.cu").read_text()
    turns = [{"calls": [{"name": "time", "arguments": {"kernel": tiled}}]}, {"text": "I stop here."}]
    script = tmp_path / "roof.json"
    script.write_text(json.dumps(turns))
    done = command("optimize", "transpose", "--model", f"scripted:{script}", "--out", str(tmp_path / "n.cu"), "--json")
    found = done.document()
    assert found["run"]["outcome"] == "at_roofline" and found["certificate_file"] is not None, found
    assert (tmp_path / "n.cu").read_text() == tiled
    assert found["run"]["id"] in Path(found["report_file"]).read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--feedback", "wrong"), "refused outside the bench"),
        (("--budget", "calls=0"), "greater than zero"),
        (("--strategy", "best-of-n"), "needs attempts that differ"),
        (("--device", "opencl", "--gpu", "a100"), "OpenCL"),
        (("--gpu", "nothing"), "nothing"),
        (("--model", "guess:x"), "expected a model as"),
    ],
)
def test_what_makes_no_sense_is_refused(command: Command, words: tuple[str, ...], told: str) -> None:
    done = command("optimize", "transpose", *(() if "--model" in words else ("--model", "scripted:demo")), *words)
    assert done.code == 2 and told in done.err, done.err


def test_a_model_that_cannot_be_had_has_a_code_of_its_own(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "short.json"
    script.write_text("[]")
    done = command("optimize", "transpose", "--model", f"scripted:{script}", "--out", str(tmp_path / "new.cu"))
    assert done.code == 6, done.err
    assert command("show", "last", "--json").document()["outcome"] == "stopped", "it can be gone on with"


def test_a_wrong_kernel_is_no_start(command: Command, changed: Callable[[str, str, str], str]) -> None:
    done = command(*DEMO, "--kernel", changed("transpose", "= x[", "= 2.0f * x["))
    assert done.code == 2 and "expected a right kernel to begin with" in done.err


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_run_goes_on(command: Command, tmp_path: Path, own_store: Path) -> None:
    whole = command(*DEMO, "--out", str(tmp_path / "whole.cu"), "--json").document()
    program = [sys.executable, "-m", "warpsight.cli.app", *DEMO, "--out", str(tmp_path / "new.cu")]
    with subprocess.Popen(
        program, cwd=ROOT, env=dict(os.environ), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if " time;" in line:
                child.send_signal(signal.SIGINT)
        assert child.wait(timeout=120) == 130
    stopped = command("show", "last", "--json").document()
    assert stopped["outcome"] == "stopped" and not (tmp_path / "new.cu").exists()
    done = command("resume", "last", "--out", str(tmp_path / "new.cu"), "--json")
    assert done.code == 0, done.err
    found = done.document()
    assert found["kernel_sha256"] == whole["kernel_sha256"] and found["ratio"] == whole["ratio"]
    with SqliteStore(own_store) as store:
        one, other = (store.read(document["run"]["id"]) for document in (whole, found))
    assert _without_hashes(transcript_bytes(one.steps)) == _without_hashes(transcript_bytes(other.steps))


def _without_hashes(transcript: bytes) -> list[str]:
    """The steps without the certificate's hash: each submission draws a seed of its own."""
    lines = [json.loads(line) for line in transcript.splitlines()]
    return [line["content"].partition("\ncertificate ")[0] for line in lines]


def test_a_resumed_run_knows_the_kernels_and_pages_of_before(tmp_path: Path) -> None:
    """In a new process nothing is in memory: ids come from the records, long results from the store."""
    tiled = (ROOT / "tasks/transpose/faster/tiled.cu").read_text()
    store, task = MemoryStore(), read_task(ROOT / "tasks" / "transpose")
    job = plan(task, "scripted")
    first = turn("inspect", kernel=tiled, view="sass")

    def attempt(*turns: ScriptedTurn) -> Run:
        box = open_tools(job, store, tmp_path / "ledger", require_right=False)
        return run_job(job, ScriptedModel(turns), opened_box(job, box), store)

    stopped = attempt(first)
    assert stopped.outcome == "stopped"
    handle = re.findall(r'handle="(\w+)", page=2', stopped.steps[-1].content)[0]
    last = turn("submit", base=kernel_id(tiled), cause="stores")
    run = attempt(first, turn("more", handle=handle, page=2), turn("compile", base="given"), last)
    assert run.outcome == "submitted" and run.submitted is not None, run.reason
    page = next(step for step in run.steps if step.kind == "result" and step.tool == "more")
    assert not page.is_error and "[page 2 of " in page.content
    assert run.submitted.candidate_sha256 == hashlib.sha256(tiled.encode()).hexdigest()
    assert replay(store, job.id).same


def test_a_changed_task_is_not_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "transpose"
    shutil.copytree(ROOT / "tasks" / "transpose", folder)
    job = plan(read_task(folder), "scripted:demo")
    (folder / "task.toml").write_text((folder / "task.toml").read_text().replace("rtol = 0.0", "rtol = 1.0"))
    with pytest.raises(UsageError, match="is not the one that it began with"):
        open_tools(job, MemoryStore(), tmp_path / "ledger")


def turn(tool: str, **arguments: JsonValue) -> ScriptedTurn:
    return ScriptedTurn(text=tool, calls=(ScriptedCall(name=tool, arguments=arguments),))
