"""`docs`: the pages that come along with the package, by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from warpsight.bundled import bundled
from warpsight.errors import ToolMissing, UsageError
from warpsight.session.opening import near

_QUOTED = re.compile(r" ?<!-- (?:result|n|record):\S+ -->")  # marks of quoted numbers, for tests and not for readers


class DocsPage(NamedTuple):
    """One page: its name without an ending, its file and its text."""

    name: str
    file: Path
    text: str


def titles() -> dict[str, str]:
    """Every page with its first heading."""
    found = {file.stem: file.read_text(encoding="utf-8").lstrip() for file in sorted(_folder().glob("*.md"))}
    return {name: text.partition("\n")[0].lstrip("# ") for name, text in found.items()}


def read_page(word: str) -> DocsPage:
    """The page of this name; `docs/NAME.md` will do too."""
    name = word.removeprefix("docs/").removesuffix(".md")
    known = titles()
    if name not in known:
        raise UsageError(f"no page {word!r}", hint=near(name, list(known)))
    file = _folder() / f"{name}.md"
    return DocsPage(name, file, _QUOTED.sub("", file.read_text(encoding="utf-8")))


def _folder() -> Path:
    folder = bundled("docs")
    if folder is None:
        raise ToolMissing("expected the pages beside the package, they are not there", hint="install the wheel again")
    return folder
