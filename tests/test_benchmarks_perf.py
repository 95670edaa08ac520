"""The table of `make perf`: a row for every number that a release keeps, and none that nobody measures unseen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import conversation
from benchmarks.perf import KEPT, PARTS, ROWS, main, table


def test_each_row_has_a_kept_number_and_a_part_that_measures_it() -> None:
    kept = json.loads(KEPT.read_text())["numbers"]
    assert list(kept) == [row.name for row in ROWS]
    assert {row.part for row in ROWS if row.part} == set(PARTS)


def test_a_row_has_the_ratio_to_what_was_kept_or_says_that_it_was_not_measured() -> None:
    head, *lines = table({"profile": 0.75, "check": 2.0}, {"profile": 1.5})
    assert head.split() == ["kept", "now", "now", "/", "kept"]
    assert lines[0].split()[-3:] == ["1.50", "0.75", "0.50"]
    assert lines[1].split()[-3:] == ["-", "2.00", "-"]
    assert all(line.endswith("not measured") for line in lines[2:])


def test_a_part_that_is_none_is_refused_before_anything_runs() -> None:
    with pytest.raises(SystemExit, match=r"profile, check, .* 'fast' came"):
        main("fast")


def test_without_a_kept_conversation_its_row_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conversation, "KEPT", tmp_path / "none.jsonl")
    assert conversation.main() == {} and "conversation:record" in capsys.readouterr().out
