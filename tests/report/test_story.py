"""The kernels of a run, what led to each and what came of it, read from the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.made import (
    FAILURE,
    HOSTILE,
    MANY,
    RESUMED,
    SUCCESS,
    make_failure,
    make_hostile,
    make_many,
    make_resumed,
    make_success,
)

from warpsight.report.speed import state_of
from warpsight.report.story import Story, read_story
from warpsight.runs.sqlite import SqliteStore


def story(folder: Path, run_id: str) -> Story:
    with SqliteStore(folder) as store:
        return read_story(store, run_id, folder)


def test_each_kernel_with_what_led_to_it(tmp_path: Path) -> None:
    make_success(tmp_path)
    found = story(tmp_path, SUCCESS)
    assert [state_of(a) for a in found.attempts] == ["given", "faster", "faster"]
    assert [(a.came_from, a.step) for a in found.attempts[1:]] == [(0, 6), (1, 15)]
    assert [[look.tool for look in a.looks] for a in found.attempts[1:]] == [["profile"], ["check", "time", "profile"]]
    assert found.attempts[1].looks[0].saw == "1.00x (simulated), uncoalesced"
    assert "stride = 4" in found.attempts[1].text and "stride = 1\n" in found.attempts[2].text
    assert found.winner is not None and found.winner.number == 2
    assert found.given.findings is not None and found.given.findings[0].name == "uncoalesced"
    assert found.attempt_of_step[SUCCESS, 4] == 0 and found.attempt_of_step[SUCCESS, 16] == 2


def test_a_failure_has_no_winner(tmp_path: Path) -> None:
    make_failure(tmp_path)
    found = story(tmp_path, FAILURE)
    assert found.final is None and found.winner is None
    assert state_of(found.attempts[-1]) == "wrong"


def test_a_resumed_run_reads_as_one_that_was_not(tmp_path: Path) -> None:
    make_success(tmp_path)
    make_resumed(tmp_path)
    one, other = story(tmp_path, SUCCESS), story(tmp_path, RESUMED)
    assert [(a.text, a.step, a.came_from) for a in one.attempts] == [
        (a.text, a.step, a.came_from) for a in other.attempts
    ]


def test_calls_that_were_refused_make_no_kernel(tmp_path: Path) -> None:
    make_hostile(tmp_path)
    assert [a.number for a in story(tmp_path, HOSTILE).attempts] == [0, 1]


@pytest.mark.parametrize("name", ["best-of-n", "refine"])
def test_attempts_of_a_strategy_are_read_together(tmp_path: Path, name: str) -> None:
    make_many(tmp_path, name)
    found = story(tmp_path, MANY)
    assert [part.id for part in found.parts] == [f"{MANY}.1", f"{MANY}.2"]
    assert found.winner is not None and found.winner.run_id == f"{MANY}.1"
