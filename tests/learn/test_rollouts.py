"""Where the tools of a rollout run: in this process, or on an executor while it lasts."""

from __future__ import annotations

import pytest
from tests.learn.rows import small_row

from warpsight.learn.config import Rl
from warpsight.processes.executor import Processes
from warpsight.short.box import SmallBox
from warpsight.short.box_elsewhere import BoxElsewhere

pytest.importorskip("trl")


def test_the_tools_run_where_the_file_says() -> None:
    from warpsight.learn.rl import Rollouts

    row = small_row(0, "saxpy", ("uncoalesced",))
    config = Rl(corpus="train.jsonl", output="out", suite="optimize")
    assert "on" not in config.model_dump(mode="json"), "what was begun before there was the key goes on"
    rollouts = Rollouts(config, [row], None, Processes(1))
    here = rollouts.box_of(row)
    assert type(here) is SmallBox
    with rollouts.tools_at_work():
        there = rollouts.box_of(row)
        assert isinstance(there, BoxElsewhere)
        found = there.call("profile", {})
    assert found.text == here.call("profile", {}).text
    assert type(rollouts.box_of(row)) is SmallBox
