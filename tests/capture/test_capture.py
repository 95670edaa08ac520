"""One launch of a program becomes a task: the original is right in it, mistakes are not, and it says its origin."""

from __future__ import annotations

import pytest
from tests.capture.conftest import SOURCES, Capture

from warpsight.capture.recording import CannotCapture
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError, UsageError
from warpsight.gate.check import check_candidate
from warpsight.nouns import Check, Task
from warpsight.tasks import generate_inputs, read_candidate, read_task
from warpsight.verbs.capture import CaptureQuestion, capture
from warpsight.verbs.run_program import ProgramQuestion


def checked(task: Task, old: str = "", new: str = "") -> Check:
    text = task.kernel.replace(old, new) if old else task.kernel
    assert not old or text != task.kernel
    return check_candidate(task, read_candidate(text, task), VirtualGpu())


def roles(task: Task) -> dict[str, tuple[str, str | None]]:
    return {a.name: (a.role, a.fill) for a in task.arguments}


def test_a_template_with_constants(captured: Capture) -> None:
    task = captured("weighted")
    assert roles(task) == {"in": ("in", "uniform"), "out": ("out", None), "n": ("scalar", None)}
    assert "{1.0f, -2.0f, 0.5f, 4.0f}" in task.kernel
    assert checked(task).verdict == "right"
    assert checked(task, "FACTOR 3", "FACTOR 4").verdict == "wrong"
    assert checked(task, "-2.0f", "2.0f").verdict == "wrong"
    assert checked(task, "i < n ?", "i + 1 < n ?").verdict == "wrong"


def test_it_says_where_it_came_from(captured: Capture) -> None:
    task = captured("weighted")
    assert task.captured is not None
    assert (task.captured.program, task.captured.arguments, task.captured.file) == (
        "kernels.cu",
        ("500",),
        "kernels.cu",
    )
    assert (task.captured.line, task.captured.grid, task.captured.block) == (8, (4, 1, 1), (128, 1, 1))
    assert read_task(task.folder) == task


def test_rows_and_indices_keep_their_order(captured: Capture) -> None:
    task = captured("rows")
    found = roles(task)
    assert found["starts"] == ("in", "csr_rows") and found["columns"] == ("in", "integers")
    fresh = next(w for w in task.workloads if not w.recorded)
    inputs = generate_inputs(task, fresh, 5)
    assert (inputs["starts"][1:] >= inputs["starts"][:-1]).all() and inputs["starts"][-1] == inputs["columns"].size
    assert inputs["columns"].min() >= 0 and inputs["columns"].max() < 500
    assert checked(task, "sum += values[k]", "sum -= values[k]").verdict == "wrong"


def test_counters_start_as_they_were(captured: Capture) -> None:
    task = captured("count")
    assert roles(task)["bins"][0] == "inout"
    assert checked(task, "], 1)", "], 2)").verdict == "wrong"


def test_structs_of_one_type(captured: Capture) -> None:
    task = captured("pairs")
    (first, *_) = task.arguments
    assert (first.dtype, first.fill) == ("float32", "uniform")
    assert checked(task, "in[i].second", "in[i].first").verdict == "wrong"


def test_structs_and_null_pointers_keep_what_they_held(captured: Capture) -> None:
    task = captured("scaled")
    assert [a.name for a in task.arguments] == ["in", "out", "n"]
    assert "__constant__ __align__(16) unsigned options_given[6] = {0x3fc00000u, 4u, 0u, 0u, 0u, 0u};" in task.kernel
    assert "Options options = *reinterpret_cast<const Options *>(options_given);" in task.kernel
    assert "const float * bias = *reinterpret_cast<const float * const *>(bias_given);" in task.kernel
    assert checked(task).verdict == "right"
    assert checked(task, "* options.scale", "+ options.scale").verdict == "wrong"
    assert checked(task, "i >= range.x", "i > range.x").verdict == "wrong"


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("first_come", "order in which blocks run"),
        ("timed", "depend on time"),
        ("root", "are NaN"),
    ],
)
def test_what_has_no_right_answer_is_refused(captured: Capture, kernel: str, why: str) -> None:
    with pytest.raises(CannotCapture, match=why):
        captured(kernel)


def test_an_unknown_kernel_names_the_known_ones(captured: Capture) -> None:
    with pytest.raises(UsageError, match="expected the kernel 'nobody'") as refused:
        captured("nobody")
    assert "weighted (1)" in (refused.value.hint or "")


def test_more_than_the_cap_is_refused(captured: Capture, tmp_path: object) -> None:
    del captured
    question = CaptureQuestion(ProgramQuestion(SOURCES / "kernels.cu", ("500",)), "weighted", cap_bytes=1000)
    with pytest.raises(CannotCapture, match="at most 1,000 are recorded") as refused:
        capture(question, SOURCES / "never", output=lambda _: None, errors=lambda _: None, say=lambda _: None)
    assert "--cap-mb" in (refused.value.hint or "") and not (SOURCES / "never").exists()


def test_contents_that_were_changed_are_refused(captured: Capture, tmp_path: object) -> None:
    task = captured("pairs")
    sha256 = task.arguments[0].recorded
    place = task.folder / "recorded" / f"{sha256}.z"
    kept = place.read_bytes()
    other = next(p for p in sorted(captured("rows").folder.glob("recorded/*.z")) if p.read_bytes() != kept)
    from warpsight.tasks import recorded

    try:
        place.write_bytes(other.read_bytes())
        recorded._body.cache_clear()
        with pytest.raises(TaskError, match="the bytes that were recorded"):
            generate_inputs(task, task.workloads[0], 0)
    finally:
        place.write_bytes(kept)
        recorded._body.cache_clear()
