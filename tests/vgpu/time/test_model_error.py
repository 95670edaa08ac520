"""Intervals of ratios from tables of errors."""

from __future__ import annotations

import math

import pytest

from warpsight.vgpu.model_error import (
    ANY,
    LEAST_PAIRS,
    QUANTILES,
    ErrorTable,
    ErrorTables,
    binding_of,
    binding_of_pair,
    bucket_of,
    built_in,
    parse,
    ratio_interval,
    time_interval,
)

FLAT = ErrorTable(1000, tuple(2.0 * q - 1.0 for q in QUANTILES))  # errors spread evenly from -1 to 1
TIGHT = ErrorTable(1000, tuple(0.1 * (2.0 * q - 1.0) for q in QUANTILES))
FEW = ErrorTable(LEAST_PAIRS - 1, TIGHT.quantiles)


def _of(**pairs: ErrorTable) -> ErrorTables:
    named = {(key.replace("_", "+"), ANY): table for key, table in pairs.items()}
    return ErrorTables({(ANY, ANY): FLAT, **named}, {ANY: FLAT, "unit": TIGHT})


def test_an_interval_of_even_errors() -> None:
    low, high, faster = _of().ratio_interval(2.0, "latency", "latency", 0.9)
    assert (math.log2(low), math.log2(high)) == (pytest.approx(0.1), pytest.approx(1.9))
    assert faster == pytest.approx(0.995)  # all of the table lies above: its end stands
    assert _of().ratio_interval(2.0**0.5, "latency", "latency", 0.9).probability_faster == pytest.approx(0.75)


def test_a_ratio_and_its_inverse_say_the_same() -> None:
    there, back = (_of().ratio_interval(r, "latency", "L2 bandwidth", 0.8) for r in (1.3, 1 / 1.3))
    assert back.low == pytest.approx(1 / there.high)
    assert back.high == pytest.approx(1 / there.low)
    assert back.probability_faster == pytest.approx(1 - there.probability_faster)


def test_equal_times_are_a_coin() -> None:
    low, high, faster = _of().ratio_interval(1.0, "latency", "latency")
    assert faster == pytest.approx(0.5)
    assert low == pytest.approx(1 / high)


def test_wider_levels_hold_narrower_ones() -> None:
    narrow, wide = (_of().ratio_interval(1.5, "latency", "latency", level) for level in (0.5, 0.95))
    assert wide.low < narrow.low < 1.5 < narrow.high < wide.high


def test_the_narrowest_table_with_enough_pairs_is_asked() -> None:
    some = _of(unit_unit=TIGHT, latency_unit=FEW)
    assert some.pair_table(0.3, "load/store unit", "issue slots") is TIGHT
    assert some.pair_table(0.3, "load/store unit", "latency") is FLAT
    assert some.time_interval(8.0, "FP64 pipe", 0.5) == (pytest.approx(8 * 2**-0.05), pytest.approx(8 * 2**0.05))
    assert some.time_interval(8.0, "latency", 0.5) == (pytest.approx(8 * 2**-0.5), pytest.approx(8 * 2**0.5))


def test_what_binds_and_how_far() -> None:
    assert [binding_of(b) for b in ("DRAM bandwidth", "latency", "tensor pipe")] == ["memory", "latency", "unit"]
    assert binding_of_pair("tensor pipe", "L2 bandwidth") == binding_of_pair("L2 bandwidth", "tensor pipe")
    assert [bucket_of(size) for size in (0.0, 0.09, 0.1, -0.3, 7.0)] == ["0", "0", "0.1", "0.25", "1"]


@pytest.mark.parametrize(("ratio", "level"), [(0.0, 0.9), (-1.0, 0.9), (math.inf, 0.9), (1.5, 0.0), (1.5, 1.0)])
def test_what_is_no_ratio_or_level(ratio: float, level: float) -> None:
    with pytest.raises(ValueError, match="expected a"):
        _of().ratio_interval(ratio, "latency", "latency", level)


def test_a_file_without_all_its_tables_is_refused() -> None:
    entry = {"binding": ANY, "bucket": ANY, "n": 9, "quantiles": list(FLAT.quantiles)}
    assert parse({"pairs": [entry], "times": [entry]}).pairs[ANY, ANY].n == 9
    with pytest.raises(ValueError, match="all pairs"):
        parse({"pairs": [], "times": [entry]})
    with pytest.raises(ValueError, match="rising"):
        parse({"pairs": [{**entry, "quantiles": [1.0]}], "times": [entry]})


def test_the_tables_that_ship() -> None:
    assert built_in().pairs[ANY, ANY].n > 1000
    sure, close = (ratio_interval(r, "load/store unit", "load/store unit") for r in (8.0, 1.01))
    assert sure.probability_faster > 0.9 > close.probability_faster > 0.4
    assert sure.low < 8.0
    low, high = time_interval(100.0, "latency")
    assert low < high
