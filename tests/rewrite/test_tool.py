"""The tool: rewrites go through the gate, wrong ones are never handed out, and no time is told where times are off."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.rewrite.kernels import COPY_LOOP, kernel

from warpsight.causes import causes, defects
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns import Task, kernel_id
from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job
from warpsight.reason.loop import run_loop
from warpsight.reason.opening import opening_of
from warpsight.reason.replay import replay
from warpsight.rewrite import CAUSES
from warpsight.runs.memory import MemoryStore
from warpsight.tools.open import open_box
from warpsight.tools.rewrite import Rewritten, changed_lines
from warpsight.tools.task_box import TaskBox, specs

CROSSED = kernel(
    "    __shared__ float t[256];\n"
    "    int first = blockIdx.x * 256;\n"
    "    t[threadIdx.x] = first + threadIdx.x < N ? x[first + threadIdx.x] : 0.0f;\n"
    "    __syncthreads();\n"
    "    int other = threadIdx.x ^ 32;\n"
    "    if (first + other < N) {\n        y[first + other] = 2.0f * t[other];\n    }"
)


@pytest.fixture(scope="module")
def box(twice: Task) -> TaskBox:
    return open_box(twice, seed=3, cores=1)


def asked(box: TaskBox, cause: str, text: str | None = None) -> tuple[Rewritten, str]:
    found = box.call("rewrite", {"cause": cause, **({} if text is None else {"kernel": text})})
    assert not found.is_error, found.text
    return Rewritten.model_validate_json(json.dumps(found.data)), found.text


def test_every_kind_of_defect_can_be_named() -> None:
    never_planted = {"one_output_a_thread", "thread_per_row", "serial_loop", "overlapping_reads"}
    assert set(CAUSES) == {*defects(), *never_planted}
    assert set(CAUSES) <= set(causes())


def test_a_rewrite_is_right_faster_and_can_be_named_afterwards(box: TaskBox) -> None:
    found, text = asked(box, "too_few_blocks", COPY_LOOP)
    assert found.found and found.ratio is not None and found.ratio > 1.05 and found.decision in IMPROVEMENTS
    assert "simulated" in text and any(line.startswith("+// launch: grid=(") for line in found.changes)
    assert box.kernels()["current"] == box.kernels()[found.kernel] == box.kernels()["best"] != COPY_LOOP
    timed = box.call("time", {"base": found.kernel})
    assert timed.data["ratio_to_given"] == pytest.approx(found.ratio_to_given)
    again, told = asked(box, "too_few_blocks", COPY_LOOP)
    assert (again, told) == (found, text)


def test_what_a_finding_is_called_is_taken_and_old_names_too(box: TaskBox) -> None:
    found, _ = asked(box, "double_precision", COPY_LOOP)
    assert found.cause == "accidental_double" and found == asked(box, "accidental_double", COPY_LOOP)[0]
    found, _ = asked(box, "tail", COPY_LOOP)
    assert found.cause == "tail" and found.tried, "what is often behind it is tried"


def test_a_barrier_that_is_needed_stays(box: TaskBox) -> None:
    assert box.call("check", {"kernel": CROSSED}).data["verdict"] == "right"
    found, text = asked(box, "needless_barriers", CROSSED)
    assert not found.found and found.tried and not found.kernel, text
    assert {one.outcome for one in found.tried} <= {"fault", "wrong", "not faster, not checked"}


def test_where_times_are_off_none_is_told(twice: Task) -> None:
    quiet = open_box(twice, seed=3, cores=1, feedback="none")
    found, text = asked(quiet, "accidental_double", COPY_LOOP)
    assert found.found and found.ratio is None and found.ratio_to_given is None and found.decision == ""
    assert "times are off" in text and "us" not in text.replace("just", "").split() and "x the speed" not in text


def test_no_rule_no_kernel(box: TaskBox) -> None:
    found, text = asked(box, "missing_tile", COPY_LOOP)
    assert not found.found and "no known rewrite" in text
    found, text = asked(box, "at_roofline", COPY_LOOP)
    assert not found.found and "no known rewrite" in text, "a finding that asks for no change"
    refused = box.call("rewrite", {"cause": "cosmic_rays", "kernel": COPY_LOOP})
    assert refused.is_error and "expected a cause" in refused.text


def test_changes_are_lines_that_went_and_came() -> None:
    assert changed_lines("a\nb\nc\n", "a\nd\nc\n") == ("-b", "+d")
    long = changed_lines("", "\n".join(map(str, range(40))), most=3)
    assert long == ("+0", "+1", "+2", "... and 37 lines more")


@pytest.mark.slow
def test_the_loop_goes_on_with_the_kernel_that_was_made(twice: Task) -> None:
    box, store = open_box(twice, seed=3, cores=1), MemoryStore()
    asked_for = Job(
        id="rewritten", task=twice.name, model="scripted", device="virtual", tools=specs(),
        opening=opening_of(twice, specs()), budget=Budget(tool_calls=4),
    )  # fmt: skip
    turns = (
        ScriptedTurn(text="", calls=(ScriptedCall(name="rewrite", arguments={"cause": "too_few_blocks"}),)),
        ScriptedTurn(text="", calls=(ScriptedCall(name="submit", arguments={"cause": "too few blocks"}),)),
    )
    run = run_loop(asked_for, ScriptedModel(turns), box, store)
    assert run.outcome == "submitted" and run.submitted is not None and run.best is not None
    assert run.submitted.candidate_sha256 == run.best.candidate_sha256 != box.session.given.sha256
    assert replay(store, run.id).same


@pytest.mark.slow
def test_the_command_ranks_causes_and_writes_the_best(twice: Task, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "warpsight.cli.app", "rewrite", str(twice.folder), "too_few_blocks", "--json"]
    done = subprocess.run(
        [*words, "--out", str(tmp_path / "best.cu")], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["best"] == "too_few_blocks" and document["causes"]["too_few_blocks"]["ratio"] > 1.05
    written = (tmp_path / "best.cu").read_text()
    assert kernel_id(written) in {one["kernel"] for one in document["causes"]["too_few_blocks"]["tried"]}
