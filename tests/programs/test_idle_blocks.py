"""Grids larger than the work: the blocks that work are found by a few looks, and nothing is made of other patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from warpsight.programs.idle_blocks import busy_blocks
from warpsight.vgpu.sample import Tracer


def tracer(did: Callable[[int], int], looked: list[int]) -> Tracer:
    def run(blocks: Sequence[int], steps: int) -> Any:
        looked.extend(blocks)
        return SimpleNamespace(warp_instructions=sum(did(block) for block in blocks))

    return cast("Tracer", run)


@pytest.mark.parametrize("busy", [1, 391, 512, 99_000])
def test_the_boundary_is_found(busy: int) -> None:
    looked: list[int] = []
    assert busy_blocks(tracer(lambda block: 500 if block < busy else 10, looked), (100_000, 1, 1)) == busy
    assert len(looked) < 60


@pytest.mark.parametrize(
    "did",
    [
        lambda block: 100,
        lambda block: 10 if block < 5000 else 500,  # the last ones work
        lambda block: 500 if block % 7 < 3 and block < 5000 else 10,  # not a stretch
        lambda block: 1000 - block // 20,  # they do less and less
        lambda block: 0,
        lambda block: 500 if block != 9_999 else 3,  # only the last one is partial
    ],
)
def test_another_pattern_is_left_alone(did: Callable[[int], int]) -> None:
    assert busy_blocks(tracer(did, []), (10_000, 1, 1)) == 10_000


def test_small_and_square_grids_are_left_alone() -> None:
    looked: list[int] = []
    run = tracer(lambda block: 500 if block < 10 else 1, looked)
    assert (busy_blocks(run, (100, 1, 1)), busy_blocks(run, (1000, 2, 1)), looked) == (100, 2000, [])
