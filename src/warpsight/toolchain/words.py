"""Machine words to their texts: many words by one nvdisasm process, each word once.

What nvdisasm prints for a word depends on the word alone, but for jumps, whose target it works out from where they
stand. So each word is printed at two places: texts that are equal hold anywhere, texts whose last number moved along
are jumps and are kept by their distance. What must stay true: any other difference is no text at all, and whoever asks
takes the slower way, a listing of the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpsight.toolchain import packages
from warpsight.toolchain.process import run_to_end

DEADLINE_S = 60.0
OUTPUT_CAP_BYTES = 256 << 20
MOST_KNOWN = 400_000
MOST_AT_ONCE = 60_000
BASE = 1 << 24  # of the first word: backward jumps of any kernel stay above zero
WORD_BYTES = 16
ARCHITECTURES = frozenset((75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121))
_CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_SECOND = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_NUMBER = re.compile(r"\b0x[0-9a-f]+\b")
_REGISTER_JUMPS = re.compile(r"^(?:@\S+\s+)?(?:BRX|BRXU|JMX|JMXU)\b")  # a listing adds where they may go


@dataclass(frozen=True)
class WordText:
    """What a word reads as. A jump has a gap where its target stands, and `distance` to it from the word's address."""

    text: str
    distance: int | None = None

    def at(self, address: int) -> str:
        """The text of the word where it stands at this address of its function."""
        return self.text if self.distance is None else self.text.replace("\0", hex(address + self.distance))


Texts = dict[bytes, WordText | None]
"""By the 16 bytes of a word; None for one whose text takes a listing of its file."""
_known: dict[int, Texts] = {}


def words_of(code: bytes) -> list[bytes]:
    return [code[at : at + WORD_BYTES] for at in range(0, len(code), WORD_BYTES)]


def texts_of(architecture: int, words: Iterable[bytes]) -> Texts:
    """The texts of all these words; one process for those that are not known yet."""
    known = _known.setdefault(architecture, {})
    if len(known) > MOST_KNOWN:
        known.clear()
    wanted = dict.fromkeys(words)
    new = [word for word in wanted if word not in known]
    for at in range(0, len(new), MOST_AT_ONCE):
        known.update(_printed(architecture, new[at : at + MOST_AT_ONCE]))
    return {word: known[word] for word in wanted}


def _printed(architecture: int, words: Sequence[bytes]) -> Texts:
    program = packages.program("nvdisasm", packages.DISASSEMBLER)
    argv = [program, "-b", f"SM{architecture}", "-base", str(BASE), "-ndf", "-hex", "code.bin"]
    once = b"".join(words)
    output = run_to_end(
        argv, "nvdisasm", deadline_s=DEADLINE_S, cap_bytes=OUTPUT_CAP_BYTES, file=("code.bin", once + once)
    )
    rows = _rows(output.decode(errors="replace"))
    apart = len(once)
    return {
        word: _text(rows.get((BASE + at, word)), rows.get((BASE + at + apart, word)), BASE + at, apart)
        for at, word in zip(range(0, apart, WORD_BYTES), words, strict=True)
    }


def _rows(listing: str) -> dict[tuple[int, bytes], str]:
    """Texts by address and word: a row that shows another word than the one that was asked for is not found."""
    found: dict[tuple[int, bytes], str] = {}
    first: tuple[int, str, int] | None = None
    for line in listing.split("\n"):
        if code := _CODE.match(line):
            first = (int(code[1], 16), code[2].rstrip("; \t").strip(), int(code[3], 16))
        elif first and (second := _SECOND.match(line)):
            word = first[2].to_bytes(8, "little") + int(second[1], 16).to_bytes(8, "little")
            found[first[0], word] = first[1]
            first = None
    return found


def _text(here: str | None, there: str | None, address: int, apart: int) -> WordText | None:
    if here is None or there is None or _REGISTER_JUMPS.match(here) or "\0" in here:
        return None
    if here == there:
        return WordText(here)
    numbers = list(_NUMBER.finditer(here))
    if not numbers:
        return None
    last = numbers[-1]
    target = int(last[0], 16)
    gap = here[: last.start()] + "\0" + here[last.end() :]
    if gap.replace("\0", hex(target + apart)) != there:
        return None
    return WordText(gap, target - address)
