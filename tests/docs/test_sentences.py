"""README and tutorials are read by people in a hurry: no sentence has more than 35 words."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.commands import ROOT
from tests.docs.sentences import sentences, too_long

TUTORIALS = ("speed-up-my-kernel", "use-with-my-coding-agent", "run-on-my-gpu", "train-a-model", "add-a-device")
SHORT_PAGES = ("README.md", *(f"docs/{name}.md" for name in (*TUTORIALS, "questions", "index")))


@pytest.mark.parametrize("page", SHORT_PAGES)
def test_sentences_are_short(page: str) -> None:
    assert too_long(ROOT / page) == []


def test_the_list_of_pages_leads_to_every_tutorial_first() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    tutorials = index.partition("## Tutorials")[2].partition("\n## ")[0]
    assert [name for name in TUTORIALS if f"]({name}.md)" not in tutorials] == []


def test_a_sentence_that_is_too_long_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    long = " ".join(["word"] * 36) + "."
    for text in (long, f"Short. {long}", f"- {long}", f"> {long}", f"1. A\n   [link](x.md). {long.capitalize()}"):
        page.write_text(text)
        assert len(too_long(page)) == 1, text
    page.write_text(f"```\n{long}\n```\n\n    {long}\n\n| {long} |\n\n# {long}\n\n<!-- {long} -->\n\nShort.\n")
    assert too_long(page) == []


def test_sentences_end_where_they_end() -> None:
    text = "One, e.g. this. `two` words; a [link to it](x.md)!\n- Three\n- Four: `a b c`\n  goes on."
    assert list(sentences(text)) == ["One, e.g. this.", "`code` words; a link to it!", "Three", "Four: `code` goes on."]
