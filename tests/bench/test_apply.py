"""Recommendations applied: typed once by rule, the same for all who gave them, never better than the gate says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.learn.rows import small_row

from warpsight.bench.apply import Applied, apply_answers, as_optimized, read_applied
from warpsight.bench.suite import read_outcomes
from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.cli.app import main
from warpsight.corpus.build import CorpusRow
from warpsight.errors import UsageError


def outcome(row: CorpusRow, answer: str | None, model: str = "m") -> BenchOutcome:
    unit = BenchUnit(suite="recommend", model=model, feedback="curated", row=row.number)
    return BenchOutcome(unit=unit, task=row.spec.key, answer=answer, right_answers=row.truth.right)


def test_an_answer_that_no_rule_can_type_leaves_the_given_kernel() -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    for answer, applied in ((None, None), ("nothing", None), ("missing_tile", Applied(row=0, answer="missing_tile"))):
        made = as_optimized(outcome(row, answer), applied)
        assert made.unit.suite == "optimize" and made.speed == 1.0 and made.is_right


def test_a_kernel_that_the_gate_refuses_is_no_speed_up() -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    slower = Applied(row=0, answer="accidental_double", verdict="right", decision="AMBIGUOUS", ratio=1.4)
    assert as_optimized(outcome(row, "accidental_double"), slower).speed == 1.0


def test_a_kernel_that_was_typed_has_its_share_of_the_roofline(tmp_path: Path) -> None:
    row = small_row(0, "saxpy", ("block_too_large",))
    corpus, tried = tmp_path / "corpus.jsonl", tmp_path / "tried.jsonl"
    corpus.write_text(row.model_dump_json() + "\n")
    typed, given = apply_answers(corpus, [outcome(row, "block_too_large"), outcome(row, "nothing")], tried)
    share = read_applied(tried)[0].roofline_share
    assert typed.speed > 1 and share is not None and 0 < share <= 1
    assert typed.roofline_share == share
    assert given.roofline_share is None, "nothing was timed"


def test_a_line_from_before_shares_of_the_roofline_is_read(tmp_path: Path) -> None:
    file = tmp_path / "tried.jsonl"
    file.write_text('{"row": 0, "answer": "spills", "verdict": "right", "decision": "FASTER", "ratio": 2.0}\n')
    made = as_optimized(outcome(small_row(0, "saxpy", ("accidental_double",)), "spills"), read_applied(file)[0])
    assert made.speed == 2.0 and made.roofline_share is None


def test_a_pair_is_tried_once_and_kept(tmp_path: Path) -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    corpus, tried = tmp_path / "corpus.jsonl", tmp_path / "tried.jsonl"
    corpus.write_text(row.model_dump_json() + "\n")
    asked = [outcome(row, "accidental_double"), outcome(row, "accidental_double", "other"), outcome(row, "nothing")]
    seen: list[tuple[int, int]] = []
    made = apply_answers(corpus, asked, tried, progress=lambda done, todo: seen.append((done, todo)))
    assert seen == [(0, 1), (1, 1)] and len(read_applied(tried)) == 1
    assert made[0].ratio == made[1].ratio and made[2].ratio == 1.0
    whole = tried.read_bytes()
    tried.write_bytes(whole + b'{"row": 0, "ans')
    assert len(read_applied(tried)) == 1 and tried.read_bytes() != whole, "reading cuts nothing"
    seen.clear()
    again = apply_answers(corpus, asked, tried, progress=lambda done, todo: seen.append((done, todo)))
    assert seen == [(0, 0)] and again == made and tried.read_bytes() == whole


def test_a_file_of_another_kind_is_not_added_to(tmp_path: Path) -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    corpus, garbage = tmp_path / "corpus.jsonl", tmp_path / "garbage.jsonl"
    corpus.write_text(row.model_dump_json() + "\n")
    garbage.write_text(Applied(row=0, answer="spills").model_dump_json() + "\ngarbage\n")
    for file, line in ((corpus, 1), (garbage, 2)):
        before = file.read_bytes()
        with pytest.raises(UsageError, match=rf"{file}:{line}: expected an answer that `bench apply` tried"):
            apply_answers(corpus, [outcome(row, "accidental_double")], file)
        assert file.read_bytes() == before


def test_only_the_answers_that_are_asked_for_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    corpus, file, tried, out = (tmp_path / name for name in ("c.jsonl", "asked.jsonl", "tried.jsonl", "out.jsonl"))
    corpus.write_text(row.model_dump_json() + "\n")
    asked = [outcome(row, "nothing", "text"), outcome(row, "shared_hog", "other")]
    file.write_text("".join(one.model_dump_json() + "\n" for one in asked) + '{"unit": {"sui')
    before = file.read_bytes()
    words = ["bench", "apply", str(corpus), str(file), str(tried), "--out", str(out)]
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--model", "text"])
    assert {one.unit.model for one in read_outcomes(out)} == {"text", "always-right"}
    assert file.read_bytes() == before, "the answers are only read"
    assert read_applied(tried) == [], "only `other` had an answer that can be tried"
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--model", "nobody"])
    assert "no answers of nobody" in capsys.readouterr().err
