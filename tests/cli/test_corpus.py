"""`warpsight corpus`: what is printed about a file and a family; text and JSON. The building is tests/corpus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpsight.corpus.build import CorpusRow
from warpsight.corpus.specs import Spec
from warpsight.corpus.truth import Truth

Command = Callable[..., Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    spec = Spec(
        family="saxpy",
        defects=("scalar_access", "too_few_blocks"),
        constants=("256",),
        size={"N": 65536},
        gpu="a100",
        style_seed=7,
    )
    truth = Truth(
        time_us=6.0,
        without_us={"scalar_access": 5.9, "too_few_blocks": 4.0},
        fast_us=3.7,
        right=("too_few_blocks",),
        decisions={"scalar_access": "SAME", "too_few_blocks": "FASTER"},
    )
    written = tmp_path / "rows.jsonl"
    row = CorpusRow(number=0, draw=0, split="train", seed=0, spec=spec, truth=truth)
    written.write_text(row.model_dump_json() + "\n")
    return written


def test_show_one_task(command: Command, file: Path) -> None:
    ran = command("corpus", "show", str(file), "0")
    assert ran.code == 0
    assert "grid=(16)" in ran.out and "right to recommend: too_few_blocks" in ran.out
    assert command("corpus", "show", str(file), "0", "--json").document()["gain"] == 1.5


def test_a_number_beyond_the_file_is_told(command: Command, file: Path) -> None:
    ran = command("corpus", "show", str(file), "5")
    assert ran.code != 0 and "expected a number below 1" in ran.err


def test_stats(command: Command, file: Path) -> None:
    ran = command("corpus", "stats", str(file))
    assert ran.code == 0 and "does not matter: 100%" in ran.out
    assert "1.50x (median), 1.50x (geometric mean), simulated" in ran.out and "all defects removed: 1.62x" in ran.out
    found = command("corpus", "stats", str(file), "--json").document()
    assert found["answers"] == {"too_few_blocks": 1}
    assert (found["geomean_gain"], found["geomean_gain_of_all"]) == pytest.approx((1.5, 6.0 / 3.7))


@pytest.mark.parametrize("verb", ["stats", "show"])
def test_a_file_that_is_no_corpus_is_told(verb: str, command: Command, file: Path) -> None:
    ran = command("corpus", verb, "none.jsonl")
    assert ran.code == 2 and "could not read none.jsonl: No such file" in ran.err and not ran.out
    file.write_text(file.read_text() + "garbage\n")
    ran = command("corpus", verb, str(file))
    assert ran.code == 2 and f"{file}:2: expected a row of a corpus, found 'garbage'" in ran.err
    file.write_text("")
    ran = command("corpus", verb, str(file))
    assert ran.code == 2 and f"no tasks in {file}" in ran.err


def test_an_unknown_family_is_told(command: Command) -> None:
    ran = command("corpus", "try", "nonsense")
    assert ran.code != 0 and "expected a family" in ran.err


@pytest.mark.slow
def test_try_a_family(command: Command) -> None:
    trials = command("corpus", "try", "points", "--gpu", "a100", "--json").document()["trials"]
    by_defect = {trial["defects"][0]: trial["ratios"] for trial in trials}
    assert max(by_defect["too_few_blocks"].values()) > 1.1
