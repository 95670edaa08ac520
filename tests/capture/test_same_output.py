"""Two runs print the same: lines about time aside, and numbers up to their last digits."""

from __future__ import annotations

import pytest

from warpsight.capture.same_output import compare_outputs, own_check


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("sum 12\nPASS\n", "sum 12\nPASS\n", "exact"),
        ("time: 3.5 ms\nsum 12\n", "time: 1.5 ms\nsum 12\n", "exact"),
        ("Average kernel execution time 10.0 (us)\nx\n", "Average kernel execution time 9 (us)\nx\n", "exact"),
        ("sum 1.000001\n", "sum 1.000002\n", "close"),
        ("sum 12\n", "sum 13\n", "different"),
        ("sum 1.0\n", "sum 1.1\n", "different"),
        ("a\n", "a\nb\n", "different"),
        ("sum nan\n", "sum 1.0\n", "different"),
    ],
)
def test_same(before: str, after: str, same: str) -> None:
    assert compare_outputs(before, after).same == same


@pytest.mark.parametrize(
    ("output", "said"),
    [("PASS\n", "passed"), ("FAIL\n", "failed"), ("done\n", "none"), ("0 mismatches, PASSED\n", "passed"),
     ("PASS\n3 mismatches\n", "failed"), ("results are correct\n", "passed"), ("incorrect\n", "failed")],
)  # fmt: skip
def test_own_check(output: str, said: str) -> None:
    assert own_check(output) == said
