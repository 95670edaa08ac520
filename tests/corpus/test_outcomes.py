"""Tables of outcomes: every try measured once, resumed by line, the same wherever it is measured, of one version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.learn.rows import small_row

from warpsight.causes import NOTHING
from warpsight.cli.app import main
from warpsight.corpus import outcomes
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.outcomes import (
    OutcomeTable,
    build_outcomes,
    change_values,
    is_within,
    kernel_at,
    read_table_lines,
)
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import UsageError
from warpsight.nouns import kernel_id
from warpsight.nouns.timing import IMPROVEMENTS


def two_rows() -> list[CorpusRow]:
    return [small_row(0, "saxpy", ("accidental_double",)), small_row(1, "points", ("block_too_small",))]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measured once for all tests here."""
    file = tmp_path_factory.mktemp("outcomes") / "table.jsonl"
    build_outcomes(two_rows(), file, steps=2)
    return file


def test_every_try_of_a_task_is_measured_and_a_gain_is_the_gates_word(table: Path) -> None:
    lines = read_table_lines(table)
    assert [(len(line.way), line.row) for line in lines] == sorted((len(line.way), line.row) for line in lines)
    given = [line for line in lines if not line.way]
    assert [line.row for line in given] == [0, 1] and all(line.look is not None and line.truth for line in given)
    tries = [one for line in lines for one in line.tries]
    assert len(tries) > 6 and all(one.speed == 1.0 or one.by == "gate" for one in tries)
    assert all(one.decision not in IMPROVEMENTS or one.verdict == "right" for one in tries)
    for line in lines:  # the text at the end of each way is the one that was measured
        row = two_rows()[line.row]
        plain = plain_of(row.spec)[0]
        for one in line.tries[:2]:
            text = kernel_at(plain, (*line.way, one.name), task_of(row.spec, plain))
            assert kernel_id(text) == one.kernel


def test_a_table_goes_on_by_line_and_gives_the_same_file(table: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    first, second, *_ = table.read_text().splitlines(keepends=True)
    cut.write_text(first + '{"row": 1, "ta')
    seen: list[tuple[int, int]] = []
    build_outcomes(two_rows(), cut, steps=1, progress=lambda done, all_: seen.append((done, all_)))
    assert cut.read_text() == first + second
    assert seen == [(1, 2), (2, 2)]


def test_a_table_of_another_version_is_not_gone_on_with(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {**outcomes.outcomes_version(), "gate": "another"}
    monkeypatch.setattr(outcomes, "outcomes_version", lambda: told)
    before = table.read_bytes()
    with pytest.raises(UsageError, match="another gate"):
        build_outcomes(two_rows(), table, steps=2)
    assert table.read_bytes() == before


def test_more_tries_reach_faster_kernels_and_a_change_within_a_tenth_is_as_good(table: Path) -> None:
    known = OutcomeTable.read(table)
    for line in known.given():
        speeds = [known.best_speed(line.task, tries) for tries in (1, 2, 4, 8)]
        assert speeds == sorted(speeds) and speeds[-1] == known.best_speed(line.task)
        assert speeds[0] == max(one.speed for one in line.tries)
        values = change_values(line)
        best = max(values, key=lambda answer: values[answer])
        assert is_within(line, best) and values[NOTHING] == 1.0
        assert is_within(line, NOTHING) == (values[best] <= 1.1) and not is_within(line, "no such cause")


def test_the_command_says_how_many_tries_and_of_which_version(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in two_rows()))
    with pytest.raises(SystemExit) as ended:
        main(["corpus", "outcomes", str(corpus), str(table), "--json", "--quiet"])
    assert not ended.value.code
    told = json.loads(capsys.readouterr().out)
    assert told["tasks"] == 2 and told["version"] == outcomes.outcomes_version() and told["best_speedup"] >= 1.0
