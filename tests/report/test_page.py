"""The page of a run: its main facts, its links, its policy, its size, and that harmful text is text."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.made import (
    FAILURE,
    HOSTILE,
    MANY,
    RESUMED,
    SUCCESS,
    Outline,
    make_failure,
    make_hostile,
    make_long,
    make_many,
    make_resumed,
    make_success,
)

from warpsight.nouns import Check, Profile, WorkloadResult
from warpsight.report.bars import bounds_figure
from warpsight.report.findings import counters_section, no_counters
from warpsight.report.page import report_page
from warpsight.report.result import failure_words, time_words
from warpsight.report.story import read_story
from warpsight.report.write import write_report
from warpsight.runs.sqlite import SqliteStore

MEGABYTE = 1 << 20


def page(folder: Path, run_id: str) -> str:
    with SqliteStore(folder) as store:
        size = write_report(store, run_id, folder / "out" / "report.html")
    found = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert size == len(found.encode())
    return found


def test_success_says_what_came_of_it(tmp_path: Path) -> None:
    make_success(tmp_path)
    found = Outline(page(tmp_path, SUCCESS))
    assert found.ids["card-ratio"].startswith("4.50×") and "simulated" in found.ids["card-ratio"]
    assert found.ids["card-interval"].startswith("4.50 to 4.50FASTER")
    assert found.ids["card-right"].startswith("right on 1 workloads")
    assert found.ids["card-certificate"].startswith("no certificate")
    assert "predicted sectors_per_request down: right (32 to 4)" in found.ids["result"]
    assert "Speed over attempts" in found.ids["charts"] and "microseconds" in found.ids["charts"]
    assert "stride = 32" in found.ids["change"] and "uncoalesced" in found.ids["findings"]
    assert "sectors_per_request" in found.ids["counters"] and "0.125×" in found.ids["counters"]


def test_failure_says_so_plainly(tmp_path: Path) -> None:
    make_failure(tmp_path)
    found = Outline(page(tmp_path, FAILURE))
    assert found.ids["card-ratio"].startswith("No kernel was found that is right and faster")
    assert (
        "What was submitted is wrong: workload small, declared inputs: wrong_values, 32 of 32 elements"
        in found.ids["result"]
    )
    assert "change" not in found.ids


def test_resumed_run_has_all_its_steps(tmp_path: Path) -> None:
    run = make_resumed(tmp_path)
    found = Outline(page(tmp_path, RESUMED))
    assert found.ids["card-ratio"].startswith("4.50×")
    assert [f"s{step.index}" in found.ids for step in run.steps] == [True] * len(run.steps)


@pytest.mark.parametrize("make", [make_success, make_failure, make_hostile])
def test_every_link_stays_on_the_page_and_leads_somewhere(tmp_path: Path, make: object) -> None:
    run = make(tmp_path)  # type: ignore[operator]
    found = Outline(page(tmp_path, run.id))
    assert found.links and all(link.startswith("#") and link[1:] in found.ids for link in found.links)


def test_harmful_text_is_shown_as_text(tmp_path: Path) -> None:
    make_hostile(tmp_path)
    found = Outline(page(tmp_path, HOSTILE))
    assert found.acting == [] and len(found.scripts) == 1 and found.tags.count("style") == 1
    assert not {"img", "iframe", "base", "object", "embed", "link"} & set(found.tags)
    assert "window.harmed" not in found.scripts[0]
    for place in ("s2", "s6", "transcript", "change", "result"):
        assert "<script>window.harmed = 1</script>" in found.ids[place]
    assert "⟨U+202E⟩" in found.text and "\u202e" not in found.text


def test_the_policy_names_this_style_and_this_script_and_nothing_else(tmp_path: Path) -> None:
    make_success(tmp_path)
    text = page(tmp_path, SUCCESS)
    found = Outline(text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    allowed = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style[1], found.scripts[0])
    ]
    assert found.policy == (
        f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "http://" not in text and "https://" not in text and "url(" not in text and "@import" not in text


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    make_success(tmp_path)
    assert page(tmp_path, SUCCESS) == page(tmp_path, SUCCESS)


def test_a_run_of_500_steps_stays_light(tmp_path: Path) -> None:
    run = make_long(tmp_path, 500)
    assert len(run.steps) >= 500
    text = page(tmp_path, run.id)
    found = Outline(text)
    assert len(text.encode()) < 3 * MEGABYTE
    assert f"s{len(run.steps) - 1}" in found.ids and "more characters" in found.text


def test_attempts_of_a_strategy_are_one_page(tmp_path: Path) -> None:
    make_many(tmp_path, "best-of-n")
    found = Outline(page(tmp_path, MANY))
    assert found.ids["card-ratio"].startswith("4.50×")
    assert "s1-4" in found.ids and "s2-4" in found.ids
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)


def test_of_hidden_workloads_only_that_they_failed() -> None:
    def result(hidden: bool) -> WorkloadResult:
        return WorkloadResult(
            workload="secret-odd", hidden=hidden, seed=7, ok=False, reason="wrong_values", detail="N=13",
            wrong_elements=3, total_elements=9,
        )  # fmt: skip

    told = [
        failure_words(Check(verdict="wrong", reason="secret-odd (N=13) is wrong", workloads=(result(hidden),)))
        for hidden in (True, False)
    ]
    assert told == ["a hidden workload failed", "workload secret-odd, declared inputs: wrong_values, 3 of 9 elements"]


def test_what_the_reader_need_not_know_is_not_there(tmp_path: Path) -> None:
    """The seed of a run's hidden inputs and folders of this machine stay in the store."""
    from tests.reason.small_box import GOOD
    from tests.report.made import play

    play(
        tmp_path, SUCCESS, GOOD, settings={"seed": 987654321987, "folder": "/home/someone/task", "feedback": "curated"}
    )
    text = page(tmp_path, SUCCESS)
    assert "987654321987" not in text and "/home/someone" not in text and "curated" in text


def test_a_device_that_counts_nothing_has_no_empty_charts() -> None:
    only_time = Profile(
        kernel="k", device="opencl", source="measured", isa="native", counters={"duration_us": 1.9e6},
        units={"duration_us": "us"}, sampled_blocks=1, total_blocks=1,
    )  # fmt: skip
    assert no_counters(only_time) and bounds_figure(only_time, None) is None
    assert counters_section(only_time, None) is None


def test_times_are_told_in_the_unit_they_are_read_in() -> None:
    assert [time_words(us) for us in (8.3954, 9999.0, 52_300.0, 1.9477e6)] == [
        "8.395 µs",
        "9999 µs",
        "52.3 ms",
        "1.948 s",
    ]


def test_a_run_that_has_not_ended_says_so_and_tells_no_cost(tmp_path: Path) -> None:
    make_success(tmp_path)
    with SqliteStore(tmp_path) as store:
        story = read_story(store, SUCCESS)
    cut = replace(story, run=story.run.model_copy(update={"outcome": None, "submitted": None}), final=None)
    found = Outline(report_page(cut))
    assert "can be resumed" in found.ids["card-ratio"]
    assert (
        "tool calls" not in found.ids["environment"] and "tool calls" in Outline(report_page(story)).ids["environment"]
    )
