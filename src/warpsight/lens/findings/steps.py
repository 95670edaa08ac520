"""How far the address of an access goes from one turn of its loop to the next, read from machine code.

Registers are followed as `loops.py` follows them: through moves, sums, products with constants and shifts. What must
stay true: a step is told only where every part of it is a constant; anything else is unknown, never a guess.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

from warpsight.lens.findings.loops import loop_around
from warpsight.lens.findings.reading import Work, bytes_per_lane

SECTOR = 32
_DEEPEST = 24
_OPERAND = re.compile(r"(?P<minus>-)?(?P<register>U?R\d+)|(?P<number>-?0x[0-9a-f]+)|(?P<other>\S+)")
_TARGET = re.compile(r"(?:@!?U?P\w+\s+)?\S+\s+(U?R\d+)")
_ADDRESS = re.compile(r"(?:desc\[\S+?\])?\[(U?R\d+)[^\]+]*(?:\+(U?R\d+))?(?:\+(-?0x[0-9a-f]+))?\]")
_HALVES = re.compile(r"HFMA2\S* \S+, -RZ, RZ, (\S+), (\S+)")


class _Part(NamedTuple):
    """One register of a sum, and what it is multiplied with."""

    factor: int
    register: str


class _Sum(NamedTuple):
    """What an instruction computes, as registers and a constant; `more` where numbers are added that are not known
    here, but are the same in every turn."""

    parts: tuple[_Part, ...]
    constant: int
    more: bool = False


def step_of(w: Work, work: Sequence[Work]) -> int | None:
    """Bytes from the address of one turn to that of the next; None where it is not known, or not in a loop."""
    inside = loop_around(w, list(work))
    bases = _bases(w)
    place = next((k for k, v in enumerate(inside) if v is w), None)
    if place is None or not bases:
        return None
    steps = [_step(inside, work, place, base, ()) for base in bases]
    return None if None in steps else sum(step or 0 for step in steps)


def walks(w: Work, work: Sequence[Work]) -> bool:
    """Whether a lane goes on to a neighbouring element, or past a few, from one access of a loop to the next."""
    step = step_of(w, work)
    if not step:
        return False
    inside, bases = loop_around(w, list(work)), _bases(w)
    beside = sum(v.space == w.space and _bases(v) == bases for v in inside)
    return abs(step) <= max(SECTOR, 2 * bytes_per_lane(w)) * beside


def neighbours(w: Work, work: Sequence[Work]) -> int:
    """Accesses from the same address but for a constant of up to 128 bytes: the window that one lane reads."""
    bases, own = _bases(w), _offset(w)
    return sum(v.space == w.space and _bases(v) == bases and abs(_offset(v) - own) <= 4 * SECTOR for v in work)


def _bases(w: Work) -> tuple[str, ...]:
    found = _ADDRESS.search(w.at.text)
    return () if found is None else tuple(one for one in (found[1], found[2]) if one)


def _offset(w: Work) -> int:
    found = _ADDRESS.search(w.at.text)
    return int(found[3], 16) if found is not None and found[3] else 0


def _step(inside: Sequence[Work], work: Sequence[Work], place: int, register: str, path: tuple[int, ...]) -> int | None:
    """The same of a register, as it is before an instruction of the loop."""
    writer = _writer(inside, place, register)
    if writer is None:
        return 0  # what the loop does not write stays
    if len(path) > _DEEPEST or writer in path:
        return None
    around = _around(inside, work, writer, writer, 0, ())
    if around is not None:
        return around
    made = _sum(inside[writer], inside, work, writer)
    if made is None:
        return None
    steps = [(one.factor, _step(inside, work, writer, one.register, (*path, writer))) for one in made.parts]
    return None if any(step is None for _, step in steps) else sum(factor * (step or 0) for factor, step in steps)


def _around(
    inside: Sequence[Work], work: Sequence[Work], place: int, start: int, gathered: int, path: tuple[int, ...]
) -> int | None:
    """What a value that follows from itself gains in a turn; None where it does not, or by what is no constant."""
    made = None if place in path or len(path) > _DEEPEST else _sum(inside[place], inside, work, place)
    if made is None or made.more:
        return None
    for one in made.parts:
        writer = _writer(inside, place, one.register)
        if writer is None or one.factor != 1:
            continue
        total = gathered + made.constant
        found = total if writer == start else _around(inside, work, writer, start, total, (*path, place))
        if found is not None:
            others = [other for other in made.parts if other != one]
            return found if not others else None
    return None


def _writer(inside: Sequence[Work], place: int, register: str) -> int | None:
    """Which instruction of the loop wrote a register last before this place, the turn before included."""
    before = (*range(place - 1, -1, -1), *range(len(inside) - 1, place - 1, -1))
    return next((k for k in before if _writes(inside[k], register)), None)


def _writes(w: Work, register: str) -> bool:
    found = _TARGET.match(w.at.text)
    if found is None or w.space in ("global_store", "shared_store", "local_store"):
        return False
    if found[1] == register:
        return True
    wide = 4 if "128" in w.modifiers else 2 if {"WIDE", "64"} & set(w.modifiers) else 1
    kind, first = re.fullmatch(r"(U?R)(\d+)", found[1]).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return wide > 1 and register.startswith(kind) and 0 < int(register[len(kind) :]) - int(first) < wide


def _sum(w: Work, inside: Sequence[Work], work: Sequence[Work], place: int) -> _Sum | None:
    """What an instruction computes, where that is a sum of registers times constants."""
    found = _TARGET.match(w.at.text)
    if found is None:
        return None
    given = [one.strip().removesuffix(".reuse") for one in w.at.text[found.end() :].strip(" ,;").split(",")]
    given = [one for one in given if one and not re.fullmatch(r"!?U?P[T\d]", one)]
    kind = w.base.removeprefix("U")
    if kind == "MOV" or (kind == "IMAD" and "MOV" in w.modifiers):
        return _added(given[-1:])
    if kind in ("IADD3", "VIADD") and "X" not in w.modifiers:
        return _added(given[:3])
    if kind == "IMAD" and "HI" not in w.modifiers and "X" not in w.modifiers and len(given) >= 3:
        return _product(given[0], given[1], given[2], inside, work, place)
    if kind == "LEA" and "HI" not in w.modifiers and len(given) >= 3 and given[2].startswith("0x"):
        return _product(given[0], hex(1 << int(given[2], 16)), given[1], inside, work, place)
    if kind == "SHF" and "L" in w.modifiers and len(given) >= 2 and given[1].startswith("0x"):
        return _product(given[0], hex(1 << int(given[1], 16)), "RZ", inside, work, place)
    return None


def _product(one: str, other: str, added: str, inside: Sequence[Work], work: Sequence[Work], place: int) -> _Sum | None:
    factor, times = _constant(other, inside, work, place), one
    if factor is None:
        factor, times = _constant(one, inside, work, place), other
    rest, first = _added([added]), _added([times])
    if rest is None or first is None:
        return None
    if factor is None:  # of two registers: no more than that both stay can be told
        second = _added([other])
        if second is None or any(_writer(inside, place, part.register) is not None for part in second.parts):
            return None
        if any(_writer(inside, place, part.register) is not None for part in first.parts):
            return None
        return _Sum(rest.parts, rest.constant, more=True)
    scaled = tuple(_Part(part.factor * factor, part.register) for part in first.parts)
    return _Sum((*scaled, *rest.parts), first.constant * factor + rest.constant, first.more or rest.more)


def _added(given: Sequence[str]) -> _Sum | None:
    parts: list[_Part] = []
    constant, more = 0, False
    for word in given:
        found = _OPERAND.fullmatch(word)
        if found is None or word.startswith("~"):
            return None
        if found["register"]:
            parts.append(_Part(-1 if found["minus"] else 1, found["register"]))
        elif found["number"]:
            number = int(found["number"], 16)
            constant += number - (1 << 32) if number >= 1 << 31 else number
        elif re.fullmatch(r"-?c\[0x\w+\]\[0x\w+\]", word):
            more = True
        elif not re.fullmatch(r"-?U?RZ", word):
            return None
    return _Sum(tuple(parts), constant, more)


def _constant(word: str, inside: Sequence[Work], work: Sequence[Work], place: int) -> int | None:
    """A number in the instruction, or in a register that was set to it once."""
    if re.fullmatch(r"-?0x[0-9a-f]+", word):
        return int(word, 16)
    if word in ("RZ", "URZ"):
        return 0
    if not re.fullmatch(r"U?R\d+", word) or _writer(inside, place, word) is not None:
        return None
    before = [v for v in work if v.place < inside[0].place and _writes(v, word)]
    if not before:
        return None
    text = before[-1].at.text
    if halves := _HALVES.search(text):
        try:
            high, low = (struct.unpack("<H", struct.pack("<e", float(one.rstrip(";"))))[0] for one in halves.groups())
        except ValueError:
            return None
        return int(high) << 16 | int(low)
    found = re.search(r"MOV\S* U?R\d+, (?:RZ, RZ, )?(0x[0-9a-f]+)", text)
    return int(found[1], 16) if found else None
