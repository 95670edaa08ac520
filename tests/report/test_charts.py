"""Charts: scales and ticks, axes with units, real numbers under the roof."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.made import SUCCESS, make_success

from warpsight.nouns import Profile
from warpsight.report.bars import bounds_figure, stalls_figure
from warpsight.report.diff import changed, diff_table, heat, rows_of, shares_of
from warpsight.report.roof import roofline_figure
from warpsight.report.speed import speed_figure
from warpsight.report.story import Attempt, read_story
from warpsight.report.svg import Scale, decades, nice_ticks, short
from warpsight.runs.sqlite import SqliteStore

UNITS = {"duration_us": "us", "flops": "operations", "dram_bytes": "bytes", "instructions": "warps"}


def profile(**counters: float) -> Profile:
    units = {name: UNITS.get(name, "%") for name in counters}
    return Profile(
        kernel="k", device="virtual", source="simulated", gpu="a100", bound="DRAM bandwidth", counters=counters,
        units=units, sampled_blocks=1, total_blocks=1,
    )  # fmt: skip


def drawn(figure: str) -> ET.Element:
    xml = re.sub(r'<div class="tools">.*?</div>', "", figure)  # boxes to tick, which are HTML and no XML
    found = ET.fromstring(xml).find("svg")
    assert found is not None
    return found


def test_ticks_are_round_and_enclose() -> None:
    assert nice_ticks(1.58) == [0, 0.5, 1, 1.5, 2]
    assert nice_ticks(10.5)[-1] >= 10.5
    assert decades(0.03, 700) == [0.01, 0.1, 1, 10, 100, 1000]
    assert [short(x) for x in (0.5, 999, 12_500, 2e6, 1.5e9)] == ["0.5", "999", "12.5k", "2M", "1.5G"]


def test_scales_are_exact_at_their_ends() -> None:
    assert [Scale(0, 10, 50, 150)(x) for x in (0, 5, 10)] == [50, 100, 150]
    assert [Scale(1, 100, 0, 10, log=True)(x) for x in (1, 10, 100)] == [0, 5, 10]


def test_speed_has_one_mark_a_kernel_and_says_its_unit(tmp_path: Path) -> None:
    make_success(tmp_path)
    with SqliteStore(tmp_path) as store:
        attempts = read_story(store, SUCCESS).attempts
    figure = drawn(speed_figure(attempts, "simulated"))
    assert [a.get("href") for a in figure.findall("a")] == ["#a0", "#a1", "#a2"]
    labels = [t.text for t in figure.findall("text") if t.get("class") == "label"]
    assert labels == ["speed, times the given kernel", "attempt (0 is the given kernel)"]


@pytest.mark.parametrize(("flops", "unit", "x"), [(8e6, "FLOP", 2.0), (0, "warp instructions", 0.25)])
def test_roofline_places_kernels_by_what_they_did(flops: float, unit: str, x: float) -> None:
    made = profile(duration_us=10.0, flops=flops, dram_bytes=4e6, instructions=1e6)
    figure = roofline_figure([Attempt(0, "k", "", profile=made)], None)
    assert figure is not None
    texts = [t.text or "" for t in drawn(figure).iter("text")]
    assert f"{unit} per byte moved" in texts and f"10⁹ {unit} a second" in texts
    (title,) = drawn(figure).findall(".//a/title")  # of DRAM alone: the other levels were not counted
    rate = max(flops, 1e6 if not flops else 0) / 10 / 1000
    told = (
        f"given kernel, {Attempt(0, 'k', '').name}: 10 µs, {rate:.4g}·10⁹ {unit} a second at {x:.3g} per byte of DRAM"
    )
    assert (title.text or "").startswith(told)


def test_each_level_has_its_slope_and_its_points() -> None:
    made = profile(
        duration_us=10.0, flops=8e6, dram_bytes=4e6, l2_bytes=8e6, global_load_sectors=1e6, global_store_sectors=0
    )
    figure = roofline_figure([Attempt(0, "k", "", profile=made)], None)
    assert figure is not None
    levels = drawn(figure).findall(".//g[@class]")
    named = {g.get("class"): (g.findtext(".//title") or "") for g in levels if "level" in (g.get("class") or "")}
    assert list(named) == ["level dram", "level l2", "level l1"]
    assert [f"at {x} per byte of {name}" in said for (x, name), said in zip(
        (("2", "DRAM"), ("1", "L2"), ("0.25", "L1")), named.values(), strict=True)] == [True] * 3  # fmt: skip


def test_no_roofline_without_a_known_gpu_or_dram_traffic() -> None:
    made = profile(duration_us=10.0, flops=1.0, dram_bytes=0, instructions=1)
    assert roofline_figure([Attempt(0, "k", "", profile=made)], None) is None
    other = made.model_copy(update={"gpu": "no such gpu"})
    assert roofline_figure([Attempt(0, "k", "", profile=other)], None) is None
    assert roofline_figure([Attempt(0, "k", "")], None) is None


def test_bounds_are_microseconds_of_the_time_on_the_gpu() -> None:
    before = profile(duration_us=13.0, launch_overhead_us=3.0, busy_dram=50.0, busy_lsu=0.1, stall_wait=10.0)
    after = profile(duration_us=8.0, launch_overhead_us=3.0, busy_dram=100.0, busy_lsu=0.2, stall_wait=0.0)
    figure = bounds_figure(before, after)
    assert figure is not None
    said = drawn(figure).get("aria-label")
    assert (
        said
        == "Time and its bounds, microseconds: whole time 13 then 8; DRAM bandwidth 5 then 5; launch overhead 3 then 3"
    )
    assert stalls_figure(before, after) is not None and stalls_figure(profile(duration_us=1.0), None) is None


def test_diff_colours_lines_by_their_share_of_the_time() -> None:
    lines = [
        {"line": 1, "text": "a", "counters": {"stall_samples": 10}},
        {"line": 2, "text": "b", "counters": {"stall_samples": 90}},
    ]
    made = Profile.model_validate(
        {
            **profile(duration_us=1.0).model_dump(),
            "lines": lines,
            "units": {"duration_us": "us", "stall_samples": "samples"},
        }
    )
    shares = shares_of(made)
    assert shares == {1: 10.0, 2: 90.0}
    rows = rows_of("a\nb\nc", "a\nB\nc", shares, {2: 4.0})
    assert [(r.sign, r.old, r.new, r.share) for r in rows] == [
        (" ", 1, 1, None), ("-", 2, None, 90.0), ("+", None, 2, 4.0), (" ", 3, 3, None),
    ]  # fmt: skip
    assert changed(rows) == (1, 1) and [heat(x) for x in (None, 0.5, 4, 90)] == [0, 0, 2, 5]
    table = diff_table(rows, context=0)
    assert table.count('class="gap"') == 2 and table.count("<tr") == 5 and 'class="n h5">90.0<' in table


def test_a_kernel_without_a_profile_is_left_out_not_guessed() -> None:
    made = profile(duration_us=10.0, flops=8e6, dram_bytes=4e6)
    attempts = [Attempt(0, "k", "", profile=made), replace(Attempt(1, "l", ""), profile=None)]
    figure = roofline_figure(attempts, None)
    assert figure is not None and len(drawn(figure).findall(".//a")) == 1
