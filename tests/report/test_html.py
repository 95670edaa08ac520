"""Markup is escaped by construction, whatever the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.report.made import HARM, Outline

from warpsight.report.html import Html, join, tag, text


@given(st.text(), st.text())
def test_any_text_stays_one_text(inside: str, value: str) -> None:
    page = tag("p", inside, title=value, id="one")
    found = Outline(page)
    assert found.tags == ["p"] and found.acting == []
    assert page.encode().decode() == page
    plain = all(c.isascii() and c.isprintable() for c in inside)
    assert not plain or found.ids["one"] == inside


def test_text_that_hides_or_reorders_is_shown_as_what_it_is() -> None:
    assert text("a\x00b\u202ec\ud800") == "a⟨U+0000⟩b⟨U+202E⟩c⟨U+D800⟩"
    assert text("tab\tand\nline") == "tab\tand\nline"


def test_attributes_cannot_be_left() -> None:
    made = tag("a", "x", href=HARM, class_="plain", open=True, hidden=False, title=None)
    assert made.count("<") == 2 and made.startswith('<a href="') and ' class="plain" open>' in made


def test_only_markup_is_markup() -> None:
    assert join("<b>", Html("<b>"), None, ["<i>", [tag("br")]]) == "&lt;b&gt;<b>&lt;i&gt;<br>"
