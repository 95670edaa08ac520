"""Server-sent events out of chunks of bytes, as the HTML standard has them: an empty line ends one.

Chunks may be cut anywhere, also inside a character or between CR and LF. An event that is not ended by an empty line is
not an event: a stream that was cut gives no half events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class ServerEvent:
    name: str
    data: str


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines without their ends; what follows the last line end is dropped."""
    rest: list[bytes] = []
    for chunk in chunks:
        if b"\n" not in chunk and b"\r" not in chunk:
            rest.append(chunk)  # joined once, so that a long line in small chunks costs no more than its length
            continue
        text = b"".join([*rest, chunk])
        # A CR at the very end may be half of CR LF: it waits for the next chunk.
        held = text[-1:] == b"\r"
        parts = _LINE_END.split(text[:-1] if held else text)
        yield from parts[:-1]
        rest = [parts[-1] + (b"\r" if held else b"")]
    if rest and rest[-1].endswith(b"\r"):
        yield b"".join(rest)[:-1]


def events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """The events of a stream. UnicodeDecodeError when one is not UTF-8."""
    name, data = "", list[str]()
    for line in lines(chunks):
        if not line:
            if data:
                yield ServerEvent(name or "message", "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.decode().partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
