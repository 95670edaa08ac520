"""One line of machine code as a record: guard, operation, modifiers, operands, and the control bits of its encoding.

Reads the text that nvdisasm prints; float immediates are taken from the encoding, which has all their bits. Says
nothing about what an operation means. Must stay true: text that is not understood is refused, never guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import UnsupportedInstruction
from warpsight.nouns import SassInstruction

Kind = Literal["r", "ur", "p", "up", "imm", "float", "const", "mem", "special", "b", "other"]

SCHED = np.dtype(
    [
        ("address", "<u4"),
        ("stall", "u1"),
        ("yield", "u1"),
        ("write_bar", "u1"),
        ("read_bar", "u1"),
        ("wait_mask", "u1"),
        ("reuse", "u1"),
    ]
)
"""The schedule in the machine code: stall cycles, yield hint, scoreboards set (7: none) and waited for, reuse."""

_COMMENT = re.compile(r"\s*\(\*.*?\*\)")
_GUARD = re.compile(r"^@(!?)(U?P(?:\d+|T))\s+")
_REGISTER = re.compile(r"^(UR|R)(\d+|Z)((?:\.\w+)*)$")
_PREDICATE = re.compile(r"^(!?)(UP|P)(\d|T)$")
_INTEGER = re.compile(r"^(-?)0x([0-9a-f]+)$")
_FLOAT = re.compile(r"^[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|INF|QNAN|SNAN|NAN)$", re.IGNORECASE)
_CONST = re.compile(r"^c\[(0x[0-9a-f]+|UR\d+)\]\s*\[(.*)\]((?:\.\w+)*)$")
_MEMORY = re.compile(r"^(?:desc\[(UR\d+|URZ)\])?\[(.*)\]((?:\.\w+)*)$")


class Operand(NamedTuple):
    """One operand. `number` is the register, predicate or barrier number (255 the zero register, 7 true), or a value.

    For `const` and `mem`: `base` and `uniform` are register numbers (-1: none), `offset` is in bytes.
    """

    kind: Kind
    text: str
    number: int = 0
    negative: bool = False
    inverted: bool = False
    absolute: bool = False
    mods: tuple[str, ...] = ()
    bank: int = -1
    base: int = -1
    base_mods: tuple[str, ...] = ()
    uniform: int = -1
    offset: int = 0

    @property
    def is_zero(self) -> bool:
        return (self.kind == "r" and self.number == 255) or (self.kind == "ur" and self.number == 63)


@dataclass(frozen=True)
class SassLine:
    """One instruction, read."""

    text: str
    address: int
    line: int | None
    guard: Operand | None
    op: str
    mods: tuple[str, ...]
    operands: tuple[Operand, ...]
    word_lo: int
    word_hi: int

    @property
    def imm32(self) -> int:
        """The 32-bit immediate of the encoding."""
        return self.word_lo >> 32 & 0xFFFFFFFF

    def has(self, *names: str) -> bool:
        return any(name in self.mods for name in names)


def _register_number(name: str, file: str) -> int:
    return (63 if file == "UR" else 255) if name == "Z" else int(name)


def _split(text: str) -> list[str]:
    parts, depth, start = list[str](), 0, 0
    for i, ch in enumerate(text):
        depth += (ch in "[(") - (ch in "])")
        if ch == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _inside(text: str) -> tuple[int, tuple[str, ...], int, int]:
    """Base register and its modifiers, uniform register, offset of the inside of an address."""
    base, mods, uniform, offset = -1, tuple[str, ...](), -1, 0
    for term in re.sub(r"\+-", "+@", text).split("+"):
        term = term.strip().replace("@", "-")
        if found := _REGISTER.match(term):
            number = _register_number(found[2], found[1])
            suffix = tuple(m for m in found[3].split(".") if m and m != "reuse")
            if found[1] == "UR" and (base >= 0 or not suffix) and uniform < 0:
                uniform = number
                mods += tuple(f"U:{m}" for m in suffix)
            elif found[1] == "UR":
                uniform, mods = number, mods + tuple(f"U:{m}" for m in suffix)
            else:
                base, mods = number, suffix
        elif number := _INTEGER.match(term):
            offset += int(number[2], 16) * (-1 if number[1] else 1)
        elif term:
            raise ValueError(term)
    return base, mods, uniform, offset


def read_operand(text: str) -> Operand:
    """One operand of the text; what has no known shape becomes `other`, which no lowering accepts by accident."""
    plain = text.replace(".reuse", "").strip()
    if found := _PREDICATE.match(plain):
        number = 7 if found[3] == "T" else int(found[3])
        return Operand("p" if found[2] == "P" else "up", text, number, negative=bool(found[1]))
    if found := _INTEGER.match(plain):
        return Operand("imm", text, int(found[2], 16) * (-1 if found[1] else 1))
    if _FLOAT.match(plain):
        return Operand("float", text)
    sign = plain[0] if plain[:1] in "-~+" else ""
    body = plain[len(sign) :]
    bars = re.match(r"^\|(.*)\|((?:\.\w+)*)$", body)
    body = bars[1] + bars[2] if bars else body
    negative, inverted, absolute = sign == "-", sign == "~", bars is not None
    if found := _REGISTER.match(body):
        mods = tuple(m for m in found[3].split(".") if m)
        kind, number = "ur" if found[1] == "UR" else "r", _register_number(found[2], found[1])
        return Operand(kind, text, number, negative, inverted, absolute, mods)
    try:
        if found := _CONST.match(body):
            base, mods, uniform, offset = _inside(found[2])
            suffix = tuple(m for m in found[3].split(".") if m)
            bank = int(found[1], 16) if found[1].startswith("0x") else -2
            return Operand("const", text, 0, negative, inverted, absolute, suffix, bank, base, mods, uniform, offset)
        if found := _MEMORY.match(body):
            base, mods, uniform, offset = _inside(found[2])
            return Operand("mem", text, base=base, base_mods=mods, uniform=uniform, offset=offset)
    except ValueError:
        return Operand("other", text)
    if body.startswith("SR"):
        return Operand("special", body)
    if found := re.match(r"^(?:SB|B)(\d+)$", body):
        return Operand("b", text, int(found[1]))
    return Operand("other", text)


def read_line(raw: SassInstruction) -> SassLine:
    text = _COMMENT.sub("", raw.text).strip()
    guard = None
    if found := _GUARD.match(text):
        guard = read_operand(found[1] + found[2])
        text = text[found.end() :]
    name, _, rest = text.partition(" ")
    if not name or not re.match(r"^[A-Z]", name):
        raise UnsupportedInstruction(raw.text, line=raw.line)
    op, *mods = name.split(".")
    parts = _split(rest)
    # A few forms separate the last operand by a space: `RET.REL.NODEC R4 0x0`, `BRX R4 -0x6d0`.
    if parts and (tail := re.match(r"^(U?R\w+)\s+(-?0x[0-9a-f]+|`\(.*\))$", parts[-1])):
        parts[-1:] = [tail[1], tail[2]]
    operands = tuple(read_operand(part) for part in parts)
    return SassLine(raw.text, raw.address, raw.line, guard, op, tuple(mods), operands, raw.word_lo, raw.word_hi)


def schedule(raws: list[SassInstruction]) -> NDArray[np.void]:
    """The control bits of each instruction."""
    out = np.zeros(len(raws), SCHED)
    for i, raw in enumerate(raws):
        high = raw.word_hi
        out[i] = (
            raw.address,
            high >> 41 & 15,
            high >> 45 & 1,
            high >> 46 & 7,
            high >> 49 & 7,
            high >> 52 & 63,
            high >> 58 & 15,
        )
    return out
