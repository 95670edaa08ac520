"""Errors of times and pairs on made-up rows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from benchmarks.measured.errors import (
    Timed,
    errors_by,
    held_out,
    model_error,
    pairs_of,
    reliability,
    spread_by_size,
    widening,
)
from benchmarks.measured.trust import report_trust, write_tables

from warpsight.vgpu.model_error import ANY, parse


def _rows(name: str, spread: float, n: int = 40, shift: float = 0.0, seed: int = 1) -> list[Timed]:
    """Times over three octaves, with normal errors of this spread in log2, and a shift that all of a set share."""
    draw = np.random.default_rng(seed)
    times = 2.0 ** draw.uniform(5, 8, n)
    errors = 2.0 ** (shift + spread * draw.standard_normal(n))
    bounds = ("latency", "load/store unit", "L2 bandwidth")
    return [Timed(name, "card", bounds[at % 3], t, t * e) for at, (t, e) in enumerate(zip(times, errors, strict=True))]


def test_pairs_are_of_one_set_and_told_with_the_slower_above() -> None:
    rows = [Timed("a", "g", "latency", 1.0, 1.0), Timed("a", "g", "issue slots", 2.0, 8.0)]
    (pair,) = pairs_of([*rows, Timed("b", "g", "latency", 4.0, 4.0)])
    assert (pair.bound_slower, pair.bound_faster) == ("issue slots", "latency")
    assert (pair.predicted, pair.measured) == (1.0, 3.0)


def test_an_error_that_all_share_does_not_move_a_ratio() -> None:
    rows = _rows("a", 0.0, shift=1.0)
    found = model_error(rows)
    assert found.times[ANY].quantiles == pytest.approx([1.0] * 21)
    assert found.pairs[ANY, ANY].quantiles == pytest.approx([0.0] * 21)


def test_sets_count_alike() -> None:
    large, small = _rows("large", 0.0, n=60, shift=1.0), _rows("small", 0.0, n=6, shift=-1.0)
    table = model_error([*large, *small]).times[ANY]
    assert table.at(0.4) == pytest.approx(-1.0)
    assert table.at(0.6) == pytest.approx(1.0)


def test_near_one_the_error_goes_both_ways() -> None:
    table = model_error(_rows("a", 0.3, n=120)).pairs[ANY, "0"]
    assert table.at(0.5) == pytest.approx(0.0, abs=0.02)
    assert table.below(0.0) == pytest.approx(0.5, abs=0.02)


def test_coverage_by_sets_that_are_alike() -> None:
    rows = [row for at in range(4) for row in _rows(f"set {at}", 0.2, seed=at)]
    found = held_out(rows)
    assert np.mean([one.covered for one in found]) == pytest.approx(0.9, abs=0.05)
    assert np.mean([one.times_covered for one in found]) == pytest.approx(0.9, abs=0.07)
    assert all(one.called > 100 and one.right > 0.98 and one.brier < 0.1 for one in found)


def test_a_set_with_larger_errors_is_not_covered() -> None:
    rows = [*_rows("a", 0.1), *_rows("b", 0.1, seed=2), *_rows("wild", 1.0, seed=3)]
    found = {one.set: one for one in held_out(rows)}
    assert found["wild"].covered < 0.6 < found["a"].covered
    assert held_out(_rows("alone", 0.1)) == []


def test_sets_unlike_one_another_need_wider_tables() -> None:
    alike = [row for at in range(4) for row in _rows(f"set {at}", 0.2, seed=at)]
    unlike = [row for at in range(4) for row in _rows(f"set {at}", 0.1 * 2**at, seed=at)]
    assert widening(alike) < 1.3 < widening(unlike)
    narrow, wide = model_error(alike).pairs[ANY, ANY], model_error(alike, 2.0).pairs[ANY, ANY]
    assert wide.at(0.5) == pytest.approx(narrow.at(0.5))
    assert wide.at(0.9) - wide.at(0.5) == pytest.approx(2 * (narrow.at(0.9) - narrow.at(0.5)), abs=2e-4)


def test_reliability_grows_with_the_ratio() -> None:
    found = reliability(pairs_of(_rows("a", 0.5)), (1.0, 1.5, 3.0))
    assert [one.n for one in found] == sorted((one.n for one in found), reverse=True)
    assert found[0].faster < found[1].faster < found[2].faster <= found[2].not_slower


def test_tables_by_what_binds() -> None:
    rows = _rows("a", 0.2)
    assert set(errors_by(rows, "bound")) == {"latency", "load/store unit", "L2 bandwidth"}
    assert errors_by(rows, "gpu")["card"][0] == 40
    found = spread_by_size(pairs_of(rows))
    assert sum(n for (both, _), (n, *_) in found.items() if both == ANY) == 780


def test_what_is_written_is_what_the_library_reads(tmp_path: Path) -> None:
    rows = [*_rows("a", 0.2), *_rows("b", 0.4, seed=2)]
    file = tmp_path / "model_error.toml"
    write_tables(rows, "0123456789abcdef-and-more", file)
    document = tomllib.loads(file.read_text())
    assert (document["rows"], document["sets"], document["model"]) == (80, ["a", "b"], "0123456789abcdef")
    assert parse(document) == model_error(rows, document["widen"])
    said: list[str] = []
    report_trust(rows, said.append)
    assert any("2x or more" in line for line in said)
