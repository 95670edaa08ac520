"""Published numbers stand once: docs/results.md is what the records say, and every quote is what its record says.

A quote is a number with the marker of its record after it: `2.27x<!-- result:demo-speedup -->`. The n of a record is
quoted with `<!-- n:demo-speedup -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import page
from benchmarks.outcomes import value_of_outcomes
from benchmarks.published import FOLDER, published, topics
from benchmarks.quotes import MARKER, Shown, requoted, shown, shown_on
from tests.docs.commands import PAGES, ROOT


def wrong_quotes(text: str) -> list[str]:
    """Markers without a record, and those that stand after something else than their record's value."""
    known, wrong = published(), list[str]()
    for found in MARKER.finditer(text):
        before = " ".join(text[: found.start()].split())
        if (record := known.get(found[2])) is None:
            wrong.append(f"there is no record {found[2]}")
            continue
        quotes = shown(record).quotes(found[1])
        if not before.endswith(quotes):
            wrong.append(f"{found[2]}: expected {' or '.join(quotes)}, found ...{before[-30:]!r}")
    return wrong


def test_the_page_is_what_the_records_say() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "make results-page"


@pytest.mark.parametrize("name", [one for one in PAGES if one != "docs/results.md"])
def test_every_quote_is_what_its_record_says(name: str) -> None:
    assert wrong_quotes((ROOT / name).read_text(encoding="utf-8")) == []


def test_a_quote_that_is_out_of_date_would_be_seen() -> None:
    (told,) = wrong_quotes("it is 2.26x<!-- result:demo-speedup --> as fast")
    assert told.startswith("demo-speedup: expected 2.27x, found")
    assert wrong_quotes("it is 2.27x<!-- result:demo-speedup --> as fast") == []
    assert wrong_quotes("1<!-- result:nothing -->") == ["there is no record nothing"]
    assert wrong_quotes("1 kernel<!-- n:demo-speedup -->") == [] and wrong_quotes("2<!-- n:demo-speedup -->") != []


def test_the_page_tells_what_each_record_was() -> None:
    assert shown_on(page.page()) == {name: shown(record) for name, record in published().items()}


def test_quotes_follow_a_record_that_changed() -> None:
    before = {"a": Shown("1.95x", "1.72 to 2.23", "150 tasks"), "b": Shown("2 s", "", "3 runs")}
    now = {"a": Shown("2.01x", "1.80 to 2.25", "151 tasks"), "b": Shown("3 s", "2 to 4", "3 runs")}
    text = (
        "1.95x<!-- result:a --> or 1.95x (1.72\nto 2.23)<!-- result:a -->, 150 tasks<!-- n:a -->, 2 s<!-- result:b -->"
    )
    assert requoted(text, before, now) == (
        "2.01x<!-- result:a --> or 2.01x (1.80 to 2.25)<!-- result:a -->, 151 tasks<!-- n:a -->, "
        "3 s (2 to 4)<!-- result:b -->"
    )
    odd = "9x<!-- result:a -->, 11.95x<!-- result:a -->, 1.95x"
    assert requoted(odd, before, now) == odd and requoted(text, before, before) == text


def test_every_row_of_the_readme_is_quoted() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    results = text.partition("| what | result")[2].partition("\n\n")[0].splitlines()[2:]
    assert 5 <= len(results) <= 7
    assert [row for row in results if MARKER.search(row) is None] == []


def test_every_record_says_when_and_at_which_commit() -> None:
    assert len(published()) > 100
    for record in published().values():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", record.date) and re.fullmatch(r"[0-9a-f]{7}", record.commit), record
        assert record.n and record.value and record.what, record


def test_numbers_with_outcomes_follow_from_them() -> None:
    found = value_of_outcomes("optimize tools:curated 150", "accuracy")
    assert found == {"value": "62.7 %", "interval": "54.7 to 70.0", "n": "150 tasks"}
    with pytest.raises(ValueError, match="expected the first 40 tasks"):
        value_of_outcomes("optimize tools:none 40", "speed")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('value = "2.27x"', 'valeu = "2.27x"'), "expected the keys"),
        (('how = "simulated"\nmachine', 'how = "guessed"\nmachine'), "expected how to be one of"),
        (('name = "demo-before"', 'name = "demo-after"'), "comes twice"),
        (('value = "2.27x"', 'file = "README.md", pattern = "no such text"'), "has nothing like"),
    ],
)
def test_a_record_that_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], why: str) -> None:
    text = (FOLDER / "demo.toml").read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / "demo.toml").write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=why):
        published(tmp_path)


def test_topics_come_in_their_order() -> None:
    orders = [topic.order for topic in topics()]
    assert orders == sorted(orders) and len(set(orders)) == len(orders)
