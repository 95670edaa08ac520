"""The guard's verdict on thirty commits with known effects: ten slower, ten neutral, ten faster."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guard.commits import NEUTRAL, ORDERED, judge_neutral, judge_ordered


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDERED)
def test_slower_and_faster_commits(name: str, tmp_path: Path) -> None:
    for one in judge_ordered(name, tmp_path):
        assert one.right, one


@pytest.mark.slow
@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_commits(name: str, tmp_path: Path) -> None:
    one = judge_neutral(name, tmp_path)
    assert one.right, one
    assert (one.row.detail == "the same machine code") == NEUTRAL[name][2], one
    assert not one.row.fails(strict=True)
