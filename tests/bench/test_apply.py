"""Recommendations applied: typed once by rule, the same for all who gave them, never better than the gate says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.learn.rows import small_row

from warpsight.bench.apply import Applied, apply_answers, as_optimized, read_applied
from warpsight.bench.suite import read_outcomes
from warpsight.bench.units import Outcome, Unit
from warpsight.cli.app import main
from warpsight.corpus.build import Row


def outcome(row: Row, answer: str | None, model: str = "m") -> Outcome:
    unit = Unit(suite="recommend", model=model, feedback="curated", row=row.number)
    return Outcome(unit=unit, task=row.spec.key, answer=answer, right_answers=row.truth.right)


def test_an_answer_that_no_rule_can_type_leaves_the_given_kernel() -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    for answer, applied in ((None, None), ("nothing", None), ("missing_tile", Applied(row=0, answer="missing_tile"))):
        made = as_optimized(outcome(row, answer), applied)
        assert made.unit.suite == "optimize" and made.speed == 1.0 and made.is_right


def test_a_kernel_that_the_gate_refuses_is_no_speed_up() -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    slower = Applied(row=0, answer="accidental_double", verdict="right", decision="AMBIGUOUS", ratio=1.4)
    assert as_optimized(outcome(row, "accidental_double"), slower).speed == 1.0


def test_a_pair_is_tried_once_and_kept(tmp_path: Path) -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    corpus, tried = tmp_path / "corpus.jsonl", tmp_path / "tried.jsonl"
    corpus.write_text(row.model_dump_json() + "\n")
    asked = [outcome(row, "accidental_double"), outcome(row, "accidental_double", "other"), outcome(row, "nothing")]
    seen: list[tuple[int, int]] = []
    made = apply_answers(corpus, asked, tried, progress=lambda done, todo: seen.append((done, todo)))
    assert seen == [(0, 1), (1, 1)] and len(read_applied(tried)) == 1
    assert made[0].ratio == made[1].ratio and made[2].ratio == 1.0
    tried.write_bytes(tried.read_bytes() + b'{"row": 0, "ans')
    seen.clear()
    again = apply_answers(corpus, asked, tried, progress=lambda done, todo: seen.append((done, todo)))
    assert seen == [(0, 0)] and again == made


def test_only_the_answers_that_are_asked_for_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = small_row(0, "saxpy", ("accidental_double",))
    corpus, file, tried, out = (tmp_path / name for name in ("c.jsonl", "asked.jsonl", "tried.jsonl", "out.jsonl"))
    corpus.write_text(row.model_dump_json() + "\n")
    asked = [outcome(row, "nothing", "text"), outcome(row, "shared_hog", "other")]
    file.write_text("".join(one.model_dump_json() + "\n" for one in asked))
    words = ["bench", "apply", str(corpus), str(file), str(tried), "--out", str(out)]
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--model", "text"])
    assert {one.unit.model for one in read_outcomes(out)} == {"text", "always-right"}
    assert read_applied(tried) == [], "only `other` had an answer that can be tried"
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--model", "nobody"])
    assert "no answers of nobody" in capsys.readouterr().err
