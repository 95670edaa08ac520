"""Launch lines with a known sign: the table is complete and can be read; the slow run holds the gate to all of it."""

from __future__ import annotations

import pytest
from benchmarks.launch_lines import SIGNS, TASKS, LaunchPair, agrees, compare_lines, is_right, load_lines
from tests.model_errors import likely

from warpsight.nouns import Timing
from warpsight.tasks import evaluate_launch, read_task

PAIRS = load_lines()


def test_every_pair_has_a_reason_and_differs_only_in_its_launch() -> None:
    assert len(PAIRS) >= 20
    for pair in PAIRS:
        task = read_task(TASKS / pair.task)
        first, second = pair.candidates(task)
        assert pair.why and evaluate_launch(second, task.workloads[0].axes)
        assert first.source.splitlines()[1:] == second.source.splitlines()[1:]


def test_signs_are_read_off_the_ratio_of_times() -> None:
    wanted = {0.5: "slower, not faster", 1.0: "not faster, same, not slower", 2.0: "not slower, faster"}
    for ratio, signs in wanted.items():
        assert {sign for sign in SIGNS if agrees(sign, ratio)} == set(signs.split(", "))


def test_likely_faster_is_faster() -> None:
    sure = Timing(
        source="simulated", device="d", method="m", samples_us=(1.0,), baseline_us=(1.5,), ratio=1.5,
        interval=(1.5, 1.5), decision="FASTER",
    )  # fmt: skip
    for sign in SIGNS:
        pair = LaunchPair(name="p", task="t", candidate="", sign=sign, why="")
        assert is_right(pair, likely(sure)) == is_right(pair, sure) == (sign in ("faster", "not slower"))


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_gate_says_the_known_sign(pair: LaunchPair) -> None:
    timing = compare_lines(pair)
    assert is_right(pair, timing), f"{pair.why}: {timing.ratio} {timing.decision} {timing.detail}"
