"""Renderings for a model: never over their budget, always the same, and every number from a counter."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsight.errors import UsageError
from warpsight.lens.render import NOTHING, curated, gain_note, number, raw, tokens
from warpsight.nouns import Evidence, Finding, LineCounters, Profile

words = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=80)
names = st.from_regex(r"[a-z_]{1,24}", fullmatch=True)
values = st.one_of(st.integers(0, 10**15), st.floats(0, 1e12, allow_nan=False))


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    counters = draw(st.dictionaries(names, values, max_size=40)) | {"stall_samples": 3}
    lines = [
        LineCounters(line=n, text=draw(words), counters={"stall_samples": draw(st.integers(0, 9))})
        for n in range(1, draw(st.integers(0, 6)) + 1)
    ]
    return Profile(
        kernel="k", device="virtual", source="simulated", gpu="a100", counters=counters,
        units=dict.fromkeys(counters, "%"), lines=tuple(lines), sampled_blocks=1, total_blocks=1,
    )  # fmt: skip


findings = st.lists(
    st.builds(
        Finding,
        name=names,
        message=words,
        evidence=st.lists(
            st.builds(Evidence, counter=names, value=values, unit=st.just("%"), line=st.none() | st.integers(1, 9)),
            min_size=1,
            max_size=3,
        ).map(tuple),
        estimated_gain=st.none() | st.floats(1, 100),
        suggestion=words,
        should_move=st.dictionaries(names, st.sampled_from(("up", "down")), max_size=3),
    ),
    max_size=6,
)


@settings(deadline=None)
@given(profiles(), findings, st.integers(1, 900))
def test_renderings_never_exceed_their_budget_and_do_not_change(
    profile: Profile, found: list[Finding], budget: int
) -> None:
    for text, again in (
        (raw(profile, budget), raw(profile, budget)),
        (curated(profile, found, budget), curated(profile, found, budget)),
    ):
        assert tokens(text) <= budget and text == again


@settings(deadline=None)
@given(profiles())
def test_every_number_of_raw_stands_beside_the_name_of_its_counter(profile: Profile) -> None:
    head, *rows = raw(profile, 10**9).split("\n")
    shown = [row.split(" ") for row in rows if not row.startswith("line ")]
    assert {name: text for name, _, text in shown} == {n: number(v) for n, v in profile.counters.items() if v}
    samples = {line.line: line.counters["stall_samples"] for line in profile.lines}
    for row in (row for row in rows if row.startswith("line ")):
        found = re.match(r"line (\d+): stall_samples (\d+) \|", row)
        assert found is not None and samples[int(found[1])] == int(found[2])
    assert head.startswith("k on a100, simulated")


def small() -> Profile:
    counters = {"duration_us": 12.5, "busy_dram": 31.0, "flops": 0, "stall_samples": 40}
    lines = (LineCounters(line=7, text="y[i] = x[i];", counters={"stall_samples": 40}),)
    return Profile(
        kernel="copy", device="virtual", source="simulated", gpu="a100", bound="latency", counters=counters,
        units={"duration_us": "us", "busy_dram": "%", "flops": "operations", "stall_samples": "samples"},
        lines=lines, sampled_blocks=1, total_blocks=1,
    )  # fmt: skip


def waiting() -> Finding:
    return Finding(
        name="exposed_latency", message="warps wait", suggestion="load earlier", estimated_gain=1.5,
        evidence=(Evidence(counter="stall_samples", value=40, unit="samples", line=7),),
        should_move={"stall_samples": "down"},
    )  # fmt: skip


def test_raw_lists_the_counters_that_are_not_zero_with_their_units() -> None:
    assert raw(small()).splitlines() == [
        "copy on a100, simulated; duration_us 12.5; bound by latency",
        "duration_us us 12.5",
        "busy_dram % 31",
        "stall_samples samples 40",
        "line 7: stall_samples 40 | y[i] = x[i];",
    ]


@pytest.mark.usefixtures("exact_model")
def test_curated_shows_gain_evidence_source_line_and_what_to_try() -> None:
    assert curated(small(), [waiting()]).splitlines() == [
        "copy on a100, simulated; duration_us 12.5; bound by latency",
        "gains are estimated: of kernels simulated 1.50x apart, 99 % were measured in that order",
        "1. exposed_latency [about 1.50x faster without it]: warps wait",
        "   evidence: stall_samples = 40 samples at line 7",
        "   line 7: y[i] = x[i];",
        "   try: load earlier",
        "   should move: stall_samples down",
    ]
    assert NOTHING in curated(small(), [])


def test_a_likely_range_stands_beside_the_time() -> None:
    counters = dict(small().counters) | {"duration_us_low": 9.125, "duration_us_high": 20.0}
    units = dict(small().units) | {"duration_us_low": "us", "duration_us_high": "us"}
    found = small().model_copy(update={"counters": counters, "units": units})
    assert curated(found, []).startswith("copy on a100, simulated; duration_us 12.5, likely 9.12 to 20 when measured;")


def test_gains_of_a_measured_profile_have_no_note() -> None:
    assert gain_note(small(), [waiting()]).startswith("of kernels simulated 1.50x apart, ")
    assert gain_note(small().model_copy(update={"source": "measured"}), [waiting()]) == gain_note(small(), []) == ""


def test_findings_are_shown_whole_or_counted_as_left_out() -> None:
    text = curated(small(), [waiting()] * 9, budget_tokens=150)
    assert tokens(text) <= 150
    shown = len(re.findall(r"^\d\. exposed", text, re.MULTILINE))
    assert 0 < shown < 9 and text.count("try: load earlier") == shown
    assert text.endswith(f"({9 - shown} more left out)")


def test_numbers_keep_what_counts() -> None:
    assert [number(v) for v in (4, 4.0, 12.345678, 0.1, 123456789)] == ["4", "4", "12.3457", "0.1", "123456789"]


def test_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1 token, found 0"):
        raw(small(), 0)


def test_without_counters_nothing_is_said_about_what_is_worth_changing() -> None:
    timed = Profile(
        kernel="k",
        device="opencl",
        source="measured",
        counters={"duration_us": 12.5},
        units={"duration_us": "us"},
        sampled_blocks=1,
        total_blocks=1,
        not_measured=("dram_bytes",),
    )
    text = curated(timed, ())
    assert "only the time was measured" in text and "nothing worth changing" not in text
