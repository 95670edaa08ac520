"""Pages lead to one another: every link has its end, every page is in the list, and the README has its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.commands import PAGES, ROOT, refusal

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_has_its_end(page: str) -> None:
    text = (ROOT / page).read_text()
    ends = [found for found in LINK.findall(text.replace("\n", " ")) if not found.startswith(("http:", "https:"))]
    missing = [end for end in ends if not ((ROOT / page).parent / end).exists()]
    assert not missing, f"{page} links to {missing}"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_into_a_page_has_its_heading(page: str) -> None:
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text.replace("\n", " "))
    inner = [
        (ROOT / page if not end else (ROOT / page).parent / end, anchor) for end, anchor in links if ":" not in end
    ]
    missing = [f"{end.name}#{anchor}" for end, anchor in inner if end.suffix == ".md" and anchor not in anchors(end)]
    assert not missing, f"{page} links to {missing}"


def anchors(page: Path) -> set[str]:
    """The anchors that its headings get."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_list() -> None:
    listed = set(LINK.findall((ROOT / "docs/index.md").read_text()))
    assert {Path(page).name for page in PAGES if page.startswith("docs/")} - {"index.md"} <= listed


def test_the_readme_has_a_picture_that_is_light() -> None:
    (name,) = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    picture = (ROOT / name).read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n") and 20_000 < len(picture) < 200_000


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["chek", "saxpy"], "no command"),
        (["bench", "rn", "a", "b"], "no command"),
        (["check", "saxpy", "--no-such-thing"], "No such option"),
        (["check"], "Missing argument"),
        (["bench", "run", "a.jsonl", "b.jsonl", "--count", "few"], "Invalid value"),
        (["bench"], "sub-command"),
    ],
)
def test_a_command_that_is_out_of_date_would_be_seen(words: list[str], why: str) -> None:
    told = refusal(words, whole=True)
    assert told is not None and why.lower() in told.lower(), told


@pytest.mark.parametrize(
    "words",
    [["doctor"], ["mcp", "--http"], ["mcp", "config", "codex"], ["--help"], ["check", "--help"], ["gpus", "a100"]],
)
def test_a_command_that_is_right_is_taken(words: list[str]) -> None:
    assert refusal(words, whole=True) is None
