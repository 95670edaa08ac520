"""Takes the names of local folders out of text that leaves the jail, because it may be shown to a model or published.

Covers the folders this program knows of: where Python and its packages lie, the home, the working and temporary
folders; and control characters, which a terminal would obey. Does not look for other secrets: a worker has none.
"""

from __future__ import annotations

import functools
import re
import sys
import tempfile
from pathlib import Path

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@functools.cache
def _known() -> tuple[tuple[str, str], ...]:
    package = Path(__file__).resolve().parents[1]
    folders = {
        str(package): "<warpsight>",
        str(package.parent): "<source>",
        sys.prefix: "<python>",
        sys.base_prefix: "<python>",
        tempfile.gettempdir(): "<tmp>",
    }
    for path, name in ((_home(), "<home>"), (_here(), "<here>")):
        if path is not None and len(path.parts) > 1:
            folders[str(path)] = name
    usable = [(folder, name) for folder, name in folders.items() if folder not in ("/", "/usr", "/tmp")]
    return tuple(sorted(usable, key=lambda pair: -len(pair[0])))


def scrubbed(text: str) -> str:
    """The text with local folders replaced by what they are, longest first, and nothing in it that moves a cursor."""
    text = _CONTROL.sub("?", text.replace("\r\n", "\n"))
    for folder, name in _known():
        text = re.sub(rf"(?<![\w.]){re.escape(folder)}(?![\w-])", lambda _, name=name: name, text)
    return text


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None
