"""From a simulated ratio to the measured one: which winners are FASTER, and which are only likely so."""

from __future__ import annotations

import pytest
from tests.model_errors import EXACT, ROUGH, even_errors

from warpsight.gate.compare_pair import held_to_roof, simulated_timing
from warpsight.gate.likely import chance_words, decide, interval_words, likelihood_of, range_words
from warpsight.nouns import Timing
from warpsight.nouns.timing import Roof
from warpsight.vgpu.model_error import ErrorTables

ROOF = Roof(floor_us=1.0, compulsory_bytes=1, launch_us=1.0, source="test")
ONE = even_errors(1.0)  # 90 % of the measured ratios lie within 2**0.9 = 1.87 times the simulated one


def compared(ratio: float, errors: ErrorTables = ONE, mine_us: float = 10.0, spread: float = 0.0) -> Timing:
    mine, theirs = (mine_us, mine_us), (ratio * mine_us, ratio * mine_us)
    said = likelihood_of(theirs[0] / mine[0], "latency", "DRAM bandwidth", errors)
    return simulated_timing("virtual:a100", "profile", mine, theirs, ROOF, spread=spread, likelihood=said)


@pytest.mark.parametrize(
    ("ratio", "decision"),
    [
        (3.0, "FASTER"),
        (1.9, "FASTER"),
        (1.8, "LIKELY_FASTER"),
        (1.03, "LIKELY_FASTER"),
        (1.01, "SAME"),
        (1.0, "SAME"),
        (0.9, "SLOWER"),
        (0.1, "SLOWER"),
    ],
)
def test_a_simulated_winner_is_faster_only_beyond_the_errors(ratio: float, decision: str) -> None:
    assert compared(ratio).decision == decision


def test_likely_faster_is_part_of_what_was_faster() -> None:
    """Errors never make a winner of anything, and change no decision but FASTER."""
    for ratio in (0.5, 0.97, 0.99, 1.0, 1.015, 1.025, 1.5, 4.0):
        for spread in (0.0, 0.01, 0.1):
            said = compared(ratio, EXACT, spread=spread).decision
            for errors in (EXACT, ONE, ROUGH):
                found = compared(ratio, errors, spread=spread).decision
                assert found == said or (said, found) == ("FASTER", "LIKELY_FASTER")


def test_the_likely_range_holds_the_simulated_interval() -> None:
    found = compared(1.5, even_errors(0.001), spread=0.1)
    assert found.simulated_interval == (1.5 * 0.9, 1.5 * 1.1) == found.interval, "the model's own is wider here"
    wide = compared(1.5)
    assert wide.interval is not None and wide.interval[0] == pytest.approx(1.5 / 2**0.9)
    assert wide.interval[1] == pytest.approx(1.5 * 2**0.9)


def test_the_probability_is_that_of_the_tables() -> None:
    found = compared(2.0**0.5)
    assert found.likelihood is not None and found.likelihood.probability_faster == pytest.approx(0.75)
    assert found.likelihood.tables == ONE.id != ROUGH.id
    assert chance_words(found) == "75 % of such pairs were measured faster"
    assert interval_words(found) == "likely 0.76 to 2.64 when measured"
    assert range_words(found) == "the ratio is at the boost clock; the range has 90 % of such pairs in it"
    assert chance_words(compared(3.0)) == chance_words(compared(1.0)) == ""


def test_without_a_likelihood_the_simulation_decides() -> None:
    assert decide(1.1, (1.05, 1.2), None) == ("FASTER", (1.05, 1.2))
    old = simulated_timing("virtual:a100", "profile", (10.0, 10.0), (11.0, 11.0), ROOF)
    assert old.decision == "FASTER" and old.interval == (1.1, 1.1) and old.likelihood is None
    assert interval_words(old) == "1.100 to 1.100 between boost and base clock"


def test_a_likely_winner_is_held_to_the_roof() -> None:
    found = compared(1.5, mine_us=0.5)
    assert (found.decision, found.reason) == ("REJECTED", "faster_than_roofline")
    assert held_to_roof(found) == found
