"""The report of a real run: real compiles, the virtual GPU, the gate and its certificate, by the user's commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import command as command
from tests.report.made import Outline

from warpsight.report.certificates import find_certificate
from warpsight.report.story import read_story
from warpsight.runs.sqlite import SqliteStore

Command = Callable[..., Any]


@pytest.mark.usefixtures("exact_model")
def test_optimize_then_report_shows_speed_roof_reasons_and_certificate(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    ran = command(
        "optimize", "transpose", "--model", "scripted:demo", "--out", str(tmp_path / "new.cu"), "--json", "-q"
    )
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    file = tmp_path / "report.html"
    said = command("report", "last", "--out", str(file), "--json").document()
    assert said["run"] == result["run"]["id"] and said["bytes"] == file.stat().st_size < 1 << 20
    found = Outline(file.read_text(encoding="utf-8"))
    assert found.ids["card-ratio"].startswith(f"{result['ratio']:.2f}×")
    assert found.ids["card-certificate"].startswith(result["certificate"][:12])
    for certified in (result["certificate"], result["kernel_sha256"]):
        assert certified in found.ids["environment"]
    charts = found.ids["charts"]
    assert "warp instructions per byte moved" in charts and "launch overhead" in charts
    assert "bank_conflicts" in found.ids["a1"] and "FASTER" in found.ids["a2"]
    assert "uncoalesced" in found.ids["findings"] and "gone in the new kernel" in found.ids["findings"]
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    certificate_is_found_for_a_kernel_that_was_never_submitted(tmp_path / "data", result["run"]["id"])


def certificate_is_found_for_a_kernel_that_was_never_submitted(folder: Path, run_id: str) -> None:
    """By its text and the text it was compared with, since then the run itself does not name it."""
    with SqliteStore(folder) as store:
        story = read_story(store, run_id, folder)
    assert story.final is not None and story.final.certificate == story.certificate_sha256
    unnamed = story.final.model_copy(update={"certificate": None})
    found = find_certificate(folder, unnamed, story.given.sha256)
    assert found is not None and found.sha256 == story.certificate_sha256
    assert find_certificate(folder, unnamed, "0" * 64) is None
    assert find_certificate(folder / "elsewhere", unnamed, story.given.sha256) is None


def test_report_of_a_run_that_is_not_there_says_what_to_do(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    ran = command("view", "--no-open")
    assert ran.code == 2 and "warpsight optimize" in ran.err
    ran = command("report", "nothing")
    assert ran.code == 2 and "no run has been made yet" in ran.err


def test_the_report_of_a_search_by_rule_has_the_kernel_that_it_made(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    folder = Path(__file__).parents[2] / "examples" / "kernels" / "parse_digits"
    ran = command("optimize", str(folder), "--model", "guided", "--out", str(tmp_path / "new.cu"), "--json", "-q")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    with SqliteStore(tmp_path / "data") as store:
        story = read_story(store, result["run"]["id"], tmp_path / "data")
    assert story.winner is not None and story.winner.number == 1 and story.winner.came_from == 0
    assert story.winner.text == (tmp_path / "new.cu").read_text()
    assert story.winner.evaluation is not None and story.winner.profile is not None
    file = tmp_path / "report.html"
    command("report", "last", "--out", str(file), "--json").document()
    page = file.read_text(encoding="utf-8")
    assert "text_chunks" in page and "made from" in page


def test_a_folder_is_no_place_for_the_kernel(command: Command, tmp_path: Path) -> None:
    ran = command("optimize", "transpose", "--model", "guided", "--out", str(tmp_path))
    assert ran.code == 2 and "expected a file" in ran.err
