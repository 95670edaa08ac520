"""A helper process: it works, says what it does, stops or is killed, and another takes its place."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator
from typing import NoReturn

import pytest

from warpsight.errors import BrokenMachine, TaskError
from warpsight.processes.helper import Helper, WorkStopped

Say = Callable[[str], None]


def never() -> bool:
    return False


def quiet(_text: str) -> None:
    return None


def double(say: Say, number: int) -> int:
    say(f"doubling {number}")
    return 2 * number


def until_stopped(say: Say) -> NoReturn:
    while True:
        say("still here")
        time.sleep(0.01)


def deaf(say: Say) -> None:
    say("deaf")
    signal.pause()


def die(_say: Say) -> None:
    os._exit(3)


def whose(_say: Say) -> int:
    return os.getpid()


def fail(_say: Say) -> NoReturn:
    raise TaskError(file="f", key="k", expected="this", found="that")


@pytest.fixture(scope="module")
def helper() -> Generator[Helper]:
    made = Helper()
    yield made
    made.close()


def test_it_answers_and_says_what_it_does(helper: Helper) -> None:
    said: list[str] = []
    assert helper.call(double, 4, say=said.append, stopped=never) == 8 and said == ["doubling 4"]
    with pytest.raises(BrokenMachine, match="expected this, found that"):  # it cannot be sent as it is, its words can
        helper.call(fail, say=quiet, stopped=never)


def test_work_that_hears_is_stopped_and_the_process_goes_on(helper: Helper) -> None:
    before = helper.call(whose, say=quiet, stopped=never)
    said: list[str] = []
    with pytest.raises(WorkStopped):
        helper.call(until_stopped, say=said.append, stopped=lambda: len(said) > 3)
    assert helper.call(whose, say=quiet, stopped=never) == before


def test_work_that_does_not_hear_is_killed_and_another_process_goes_on(helper: Helper) -> None:
    before, said = helper.call(whose, say=quiet, stopped=never), list[str]()
    with pytest.raises(WorkStopped):
        helper.call(deaf, say=said.append, stopped=lambda: bool(said))
    assert helper.pid is None
    assert helper.call(whose, say=quiet, stopped=never) != before


def test_a_process_that_dies_is_told_and_replaced(helper: Helper) -> None:
    with pytest.raises(BrokenMachine, match="ended from outside"):
        helper.call(die, say=quiet, stopped=never)
    assert helper.call(double, 1, say=quiet, stopped=never) == 2


def test_a_process_that_has_grown_is_replaced() -> None:
    small = Helper(most_bytes=1)
    try:
        first = small.call(whose, say=quiet, stopped=never)
        assert small.pid is None and small.call(whose, say=quiet, stopped=never) != first
    finally:
        small.close()
