"""What if a cause were gone: the simulated time without it, beside the time of the kernel that exists."""

from pathlib import Path

import pytest

from warpsight.causes import causes
from warpsight.errors import UsageError
from warpsight.lens.what_if import SCENARIOS
from warpsight.session.session import Session
from warpsight.tools.task_box import TaskBox
from warpsight.vgpu.what_if import WhatIf

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def test_a_change_that_says_nothing_changes_nothing() -> None:
    with Session(KERNELS / "softmax_rows", cores=1) as session:
        simulator = session.simulator
        assert simulator is not None
        parts = (session.build(), session.task.entry, session._values, session.launch())
        plain = simulator.what_if_us(*parts, WhatIf())  # pyright: ignore[reportAttributeAccessIssue]
        assert plain == pytest.approx(session.counters().counters["duration_us"])
        split = simulator.what_if_us(*parts, WhatIf(split=2))  # pyright: ignore[reportAttributeAccessIssue]
        assert split < plain


def test_the_cause_that_a_good_version_removes_is_worth_about_what_it_gains() -> None:
    with Session(KERNELS / "softmax_rows", cores=1) as session:
        found = session.what_if("thread_per_row")
        good = session.foretold_us((KERNELS / "softmax_rows" / "good.cu").read_text())
        assert good is not None and found.time_us / good / 2 < found.gain < found.time_us / good * 2
        assert found.without_us < found.time_us and "lanes" in found.assumes
        assert session.what_if("thread_per_row") is found  # kept


def test_double_precision_is_taken_away() -> None:
    with Session(KERNELS / "gelu_bias", cores=1) as session:
        assert session.what_if("accidental_double").gain > 2


def test_what_cannot_be_simulated_away_is_told() -> None:
    assert set(SCENARIOS) <= set(causes())
    with Session(KERNELS / "gelu_bias", cores=1) as session:
        with pytest.raises(UsageError, match="simulated away"):
            session.what_if("launch_overhead")
        with pytest.raises(UsageError, match="expected a cause"):
            session.what_if("bad_karma")


def test_the_tool_asks_for_each_finding_and_tells_the_largest_gain_first() -> None:
    with Session(KERNELS / "gelu_bias", cores=1) as session:
        answer = TaskBox(session).call("what_if", {})
        assert not answer.is_error and "at best" in answer.text and "(simulated)" in answer.text
        gains = [one["time_us"] / one["without_us"] for one in answer.data["without"]]  # pyright: ignore
        assert gains == sorted(gains, reverse=True) and gains[0] > 2
        assert TaskBox(session).call("what_if", {"cause": "launch_overhead"}).is_error
    with Session(KERNELS / "gelu_bias", cores=1, feedback="time") as session:
        assert "at best" not in TaskBox(session).call("what_if", {}).text
