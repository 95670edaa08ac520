"""Feedback modes: what each shows, that nothing leaks through another tool, and that `wrong` stays in the bench."""

from __future__ import annotations

import pytest
from pydantic import JsonValue
from tests.tools.kernels import PADDED, ROOT, call, opened, transpose

from warpsight.errors import UsageError
from warpsight.nouns import Task
from warpsight.session.feedback import OFFERED, Feedback, require_offered
from warpsight.tasks import read_task
from warpsight.tools.task_box import TaskBox

COUNTERS = ("sectors", "stall", "busy_", "uncoalesced", "efficiency", "bound by")


@pytest.fixture(scope="module")
def boxes() -> dict[str, TaskBox]:
    return {mode: opened(feedback=mode) for mode in OFFERED}


def test_verdicts_are_the_same_in_every_mode(boxes: dict[str, TaskBox]) -> None:
    assert {call(box, "check", kernel=PADDED).text for box in boxes.values()} == {
        call(boxes["raw"], "check", kernel=PADDED).text
    }
    ratios: set[float | None] = set()
    for box in boxes.values():
        found = call(box, "time", kernel=PADDED, against="given").evaluation
        assert found is not None and found.timing is not None
        ratios.add(found.timing.ratio)
    assert len(ratios) == 1


def test_each_mode_shows_what_it_says(boxes: dict[str, TaskBox]) -> None:
    profiles = {mode: call(box, "profile", base="given") for mode, box in boxes.items()}
    assert "uncoalesced" in profiles["curated"].text and profiles["curated"].data["counters"] == {}
    assert "global_store_sectors sectors 1048576" in profiles["raw"].text and profiles["raw"].data["findings"] == []
    assert "uncoalesced" not in profiles["raw"].text
    for mode in ("none", "time"):
        assert "profiles are off" in profiles[mode].text and not profiles[mode].artefacts
    times = {mode: call(box, "time", kernel=PADDED, against="given") for mode, box in boxes.items()}
    assert "times are off" in times["none"].text and times["none"].data["ratio_to_given"] is None
    assert len({times[mode].text for mode in ("time", "raw", "curated")}) == 1 and "FASTER" in times["time"].text


@pytest.mark.parametrize("mode", ["none", "time"])
def test_no_other_tool_tells_what_is_off(boxes: dict[str, TaskBox], mode: str) -> None:
    for name, arguments in (
        ("profile", {}),
        ("compare", {"against": "given"}),
        ("inspect", {"view": "hot"}),
        ("inspect", {"view": "sass"}),
        ("time", {"against": "given"}),
        ("submit", {"cause": "c"}),
    ):
        found = call(boxes[mode], name, kernel=PADDED, **arguments)
        said = f"{found.text} {_values(found.data)}"
        assert not [word for word in COUNTERS if word in said], (name, said)
        if mode == "none" and name != "submit":
            assert "FASTER" not in said and "duration" not in said


def _values(data: JsonValue) -> str:
    """What a record holds, without the names of its fields."""
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else None
    return str(data) if parts is None else " ".join(map(_values, parts))


def test_wrong_needs_the_bench() -> None:
    with pytest.raises(UsageError, match="outside the bench"):
        require_offered("wrong")
    with pytest.raises(UsageError, match="for the bench alone"):
        opened(feedback="wrong")
    with pytest.raises(UsageError, match="expected feedback"):
        require_offered("helpful")


def test_wrong_is_a_true_diagnosis_of_another_kernel() -> None:
    decoys: tuple[Task, ...] = tuple(read_task(ROOT / "tasks" / name) for name in ("saxpy", "reduce_sum", "transpose"))
    mode: Feedback = "wrong"
    box, other = opened(feedback=mode, decoys=decoys), opened(feedback=mode, decoys=decoys)
    found = call(box, "profile", base="given")
    assert "uncoalesced" not in found.text and found.data["findings"]
    assert found.text.split(": ", 1)[1].startswith(transpose().entry), "it goes by the name of the kernel asked about"
    assert call(other, "profile", base="given").text == found.text, "always the same one"
    true = found.profiled[box.session.given.sha256]
    assert true.counters["global_store_sectors"] == 1048576, "predictions are held to the truth"
    assert "FASTER" in call(box, "time", kernel=PADDED, against="given").text
