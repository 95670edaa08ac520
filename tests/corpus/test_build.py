"""Building: resumable to the byte, balanced, and honest about what the text alone gives away."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.corpus.build import PATIENCE, CorpusRow, balanced, build_corpus, read_rows, truth_or_reason
from warpsight.corpus.specs import Spec
from warpsight.corpus.stats import summarise
from warpsight.corpus.truth import Truth
from warpsight.errors import UsageError


def row(number: int, right: tuple[str, ...], *, gpu: str = "a100", traps: bool = False) -> CorpusRow:
    spec = Spec(family="saxpy", defects=("a", "b"), constants=(), size={"N": 4}, gpu=gpu, style_seed=number)
    truth = Truth(time_us=2.0, without_us={"a": 1.0, "b": 2.0 if traps else 1.5}, fast_us=1.0, right=right)
    return CorpusRow(number=number, draw=number, split="train", seed=0, spec=spec, truth=truth)


def test_a_build_goes_on_after_a_cut_line_and_gives_the_same_file(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    rows = build_corpus(whole, seed=1, split="test", count=2)
    text = whole.read_text()
    cut.write_text(text[: text.rindex("\n", 0, -1) + 40])  # the process was killed while it wrote the second row
    before = cut.read_bytes()
    assert len(read_rows(cut)) == 1 and cut.read_bytes() == before, "reading cuts nothing"
    assert build_corpus(cut, seed=1, split="test", count=2) == rows
    assert cut.read_text() == text


def test_a_build_begins_where_there_is_no_file_or_no_row_yet(tmp_path: Path) -> None:
    none, empty = tmp_path / "folder" / "none.jsonl", tmp_path / "empty.jsonl"
    empty.write_text('{"number": 0, "dr')  # killed while it wrote its first row
    for file, told in ((none, "could not read"), (empty, "no tasks in")):
        with pytest.raises(UsageError, match=told):
            read_rows(file)
        assert build_corpus(file, seed=1, split="test", count=1) == read_rows(file)
    assert none.read_text() == empty.read_text()


def test_a_line_that_is_no_row_is_told_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(row(0, ("a",)).model_dump_json() + "\n{}\n")
    before = file.read_bytes()
    with pytest.raises(UsageError, match=rf"{file}:2: expected a row of a corpus, found '{{}}' \(number: Field"):
        read_rows(file)
    with pytest.raises(UsageError, match=rf"{file}:2: expected a row"):
        build_corpus(file, seed=0, split="train", count=3)
    assert file.read_bytes() == before


@pytest.mark.slow
def test_several_cores_give_the_same_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    build_corpus(one, seed=1, split="test", count=3)
    build_corpus(two, seed=1, split="test", count=3, cores=2)
    assert one.read_text() == two.read_text()


def test_a_task_that_cannot_be_has_a_reason() -> None:
    spec = row(0, ("a",)).spec.model_copy(update={"defects": ("scalar_access", "uncoalesced"), "constants": ("256",)})
    reason = truth_or_reason(spec)
    assert isinstance(reason, str) and "cannot be planted together" in reason


def test_another_seed_is_not_mixed_in(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(row(0, ("a",)).model_dump_json() + "\n")
    with pytest.raises(UsageError, match="another seed"):
        build_corpus(file, seed=1, split="train", count=2)


def test_a_common_answer_waits_until_others_have_come() -> None:
    rows = [row(number, ("a",)) for number in range(10)]
    truth = rows[0].truth
    new = rows[0].spec.model_copy(update={"defects": ("a",)})
    assert not balanced(rows, 10, new, truth)
    assert balanced(rows, 10, new, truth.model_copy(update={"right": ("b",)}))
    assert balanced(rows, 10 + PATIENCE, new, truth), "never forever"


def test_a_text_that_comes_again_with_the_same_answer_is_mostly_left_out() -> None:
    rows = [row(0, ("a",))]
    other = rows[0].truth.model_copy(update={"right": ("b",)})
    again = [rows[0].spec.model_copy(update={"style_seed": seed, "gpu": "t4"}) for seed in range(6)]
    assert [balanced(rows, 1, spec, rows[0].truth) for spec in again] == [True, False, False] * 2
    assert all(balanced(rows, 1, spec, other) for spec in again)


def test_stats_say_what_the_text_alone_gives_away() -> None:
    same = summarise([row(0, ("a",)), row(1, ("a",), gpu="t4")])
    assert (same.text_decides, same.text_carries) == (1.0, 1.0)
    differ = summarise([row(0, ("a",)), row(1, ("b",), gpu="t4", traps=True)])
    assert (differ.text_decides, differ.text_carries) == (0.5, 0.0)
    assert differ.with_trap == 0.5
    assert differ.most_common_answer == 0.5


def test_stats_take_geometric_means_over_all_tasks() -> None:
    helped, slower = row(0, ("a",)), row(1, ("nothing",))
    worse = Truth(time_us=2.0, without_us={"a": 4.0, "b": 4.0}, fast_us=0.25, right=("nothing",))
    found = summarise([helped, slower.model_copy(update={"truth": worse})])
    assert found.geomean_gain == pytest.approx(1.0), "2x and 0.5x"
    assert found.geomean_gain_of_all == pytest.approx(4.0), "2x and 8x"
    assert summarise([]).geomean_gain == summarise([]).geomean_gain_of_all == 1.0
