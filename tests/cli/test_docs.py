"""`docs` prints the pages; where they cannot be read as files, errors and help name the command that prints them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpsight.cli.app import main
from warpsight.cli.output import fail
from warpsight.errors import UsageError

DOCS = Path(__file__).parents[2] / "docs"


def test_pages_are_listed_with_their_headings(command: Callable[..., Any]) -> None:
    listed = command("docs", "--json").document()["pages"]
    assert set(listed) == {page.stem for page in DOCS.glob("*.md")} and listed["toolchain"] == "Toolchain"
    shown = command("docs").out
    assert all(name in shown for name in listed)


def test_marks_of_quoted_numbers_are_not_shown(command: Callable[..., Any]) -> None:
    assert "<!-- result:" in (DOCS / "timing.md").read_text()
    shown = command("docs", "timing").out
    assert "<!--" not in shown and "0 of 300 comparisons" in shown.replace("\n", " ")


@pytest.mark.parametrize("word", ["tasks", "tasks.md", "docs/tasks.md"])
def test_a_page_is_printed_as_it_is(command: Callable[..., Any], word: str) -> None:
    assert command("docs", word).out == (DOCS / "tasks.md").read_text()


def test_a_page_that_is_not_there_is_refused_with_those_like_it(command: Callable[..., Any]) -> None:
    ran = command("docs", "task")
    assert ran.code == 2 and "no page 'task'" in ran.err and "tasks" in ran.err


def test_elsewhere_an_error_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fail(UsageError("what?"), as_json=True, verb="bench")
    shown = capsys.readouterr()
    assert shown.err == "error: what?\n  read: warpsight docs bench\n"
    assert '"page": "warpsight docs bench"' in shown.out
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bench.md").touch()  # somebody else's page is not ours
    fail(UsageError("what?"), as_json=False, verb="bench")
    assert "read: warpsight docs bench" in capsys.readouterr().err


def test_elsewhere_help_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for words, told in ((["--help"], "Pages: warpsight docs"), (["check", "--help"], "Page: warpsight docs gate")):
        with pytest.raises(SystemExit):
            main(words)
        assert told in capsys.readouterr().out
