"""Work ahead: what is foreseen is there and the same, what is not wanted is given up, a busy machine is left alone."""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.tools.kernels import opened

from warpsight.tools import ahead
from warpsight.tools.ahead import WorkAhead, is_idle
from warpsight.tools.task_box import TaskBox

GIVEN = {"base": "given"}
LONG_S = 300.0


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Generator[TaskBox]:
    """A box on a machine that says that it has nothing to do, with no patience."""
    monkeypatch.setattr(ahead, "PATIENCE_S", 0.0)
    monkeypatch.setattr(ahead, "is_idle", lambda: True)
    made = opened()
    made.ahead = WorkAhead(made.session)
    yield made
    made.close()


def wait_for(work: WorkAhead, count: int) -> None:
    ends_at = time.monotonic() + LONG_S
    while len(work.done) < count and time.monotonic() < ends_at:
        time.sleep(0.02)


def test_what_is_foreseen_is_kept_and_is_what_the_call_would_give(box: TaskBox) -> None:
    work = box.ahead
    assert work is not None
    assert not box.call("compile", GIVEN).is_error
    wait_for(work, 1)
    assert [one.what for one in work.done[:1]] == ["profile"]
    session = box.session  # gives up what is under way
    kept, given = session._profiles, session.given
    assert kept.get((given.sha256, None)) is not None
    plain = opened()
    assert box.call("profile", GIVEN).text == plain.call("profile", GIVEN).text
    plain.close()


def test_who_wants_the_session_has_it_alone(box: TaskBox) -> None:
    work = box.ahead
    assert work is not None
    said: list[str] = []
    box.session.say = said.append
    box.call("compile", GIVEN)
    told = list(said)
    session = box.session
    assert work._thread is None, "given up before the session is handed out"
    assert said == told, "work ahead says nothing"
    done = len(work.done)
    assert session.check().verdict == "right" and len(work.done) == done


def test_it_can_be_switched_off(box: TaskBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSIGHT_AHEAD", "off")
    box.call("compile", GIVEN)
    assert box.ahead is not None and box.ahead._thread is None


def test_a_model_that_answers_at_once_costs_nothing(box: TaskBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "PATIENCE_S", LONG_S)
    for _ in range(3):
        box.call("compile", GIVEN)
    assert box.ahead is not None
    box.ahead.end()
    assert box.ahead.done == []


def test_a_machine_with_work_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "loadavg"
    monkeypatch.setattr(ahead, "RUNNING", told)
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    for running, idle in (("1/90", True), ("2/90", True), ("3/90", False), ("?", False)):
        told.write_text(f"0.10 0.20 0.30 {running} 1234\n")
        assert is_idle() is idle
    told.unlink()
    assert not is_idle(), "a system that does not say is taken for a busy one"
