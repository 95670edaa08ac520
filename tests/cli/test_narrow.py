"""Narrow terminals: nothing is cut off, the same things are said, verbs stay under their headings."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from warpsight.cli.app import GROUPS, VERBS, build_app
from warpsight.cli.text.gpus import render_all
from warpsight.cli.text.runs import render
from warpsight.cli.text.timing import render_comparison
from warpsight.nouns import Check, Evaluation, Timing, WorkloadResult
from warpsight.runs.store import RunSummary
from warpsight.verbs.bench import plain_weights_words
from warpsight.vgpu.gpus import known_gpus


def help_of(width: int, *words: str) -> str:
    argv = [*words, "--help"]
    made = CliRunner().invoke(build_app(argv), argv, env={"COLUMNS": str(width)}, terminal_width=width)
    assert made.exit_code == 0, made.output
    return made.output


@pytest.mark.parametrize("width", [50, 80])
def test_help_is_grouped_and_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = help_of(width)
    assert "…" not in said and "--install-completion" in said
    assert all(group in said for group in GROUPS) and all(verb.name in said for verb in VERBS)


@pytest.mark.parametrize("width", [50, 80])
@pytest.mark.parametrize("verb", ["optimize", "guard", "bench", "compare"])
def test_help_of_a_verb_is_whole(verb: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = " ".join(help_of(width, verb).replace("│", " ").split())
    assert "…" not in said and "Page: " in said
    if verb == "optimize":
        assert "calls=20, tokens=100000, seconds=900, usd=0.50" in said, "the syntax of a budget can be read"
        assert "--kernel" in said and "--candidate" in said


def test_tables_keep_names_whole() -> None:
    for width in (50, 80, 120):
        console = Console(width=width, record=True, file=StringIO())
        render_all(console, list(known_gpus().values()))
        said = console.export_text()
        assert all(gpu.key in said for gpu in known_gpus().values()) and "…" not in said
        assert max(map(len, said.splitlines()[:-1])) <= width


def test_a_long_or_strange_model_does_not_widen_the_list(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "id": "20260101-small-a", "task": "small", "model": "scripted:\x1b[31m" + "x" * 400, "device": "virtual",
        "started_at": "", "parent": None, "outcome": None, "reason": "", "steps": 1, "spent": {},
        "best_ratio": None, "best_source": None,
    }  # fmt: skip
    console = Console(width=80, record=True, file=StringIO())
    render(console, [RunSummary.model_validate(fields)], str(tmp_path))
    said = console.export_text()
    assert "20260101-small-a" in said and "\x1b" not in said and max(map(len, said.splitlines())) < 140


def test_a_winner_without_a_ledger_is_told_how_to_get_its_certificate() -> None:
    ran = WorkloadResult(workload="small", hidden=False, seed=1, ok=True)
    check = Check(verdict="right", reason="", workloads=(ran,))
    timing = Timing(
        source="simulated", device="virtual", method="simulated", samples_us=(1.0,), baseline_us=(3.0,), ratio=3.0,
        interval=(3.0, 3.0), decision="FASTER",
    )  # fmt: skip
    found = Evaluation(candidate_sha256="0" * 64, check=check, timing=timing)
    told: list[str] = []
    for booked, file in ((False, None), (True, "certificates/a.json")):
        console = Console(width=50, record=True, file=StringIO())
        render_comparison(console, found, "a against b", file, booked=booked)
        told.append(" ".join(console.export_text().split()))
    assert "with --ledger FOLDER writes one" in told[0] and "certificate: certificates/a.json" in told[1]


def test_a_bench_says_which_weights_it_measures() -> None:
    assert plain_weights_words("rival:any", None) == "" == plain_weights_words("local", Path("adapter"))
    told = plain_weights_words("local", None)
    assert "no --adapter was given" in told and "before any training" in told
