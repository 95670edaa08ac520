"""An opcode string such as `ld.global.nc.v4.f32` to a Form, once per spelling.

Each mnemonic has one decoder (`@decodes("ld")`) that takes its modifiers one by one; a modifier nobody took is
refused. Nothing is skipped in silence: words that cannot change a result are named by their decoder. A Form knows
how to lower one instruction of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from warpsight.vgpu.bytecode import OPS, TYPE_BYTES, Mod, Round, T

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

X = TypeVar("X")

TYPES: dict[str, T] = {t.name.lower(): t for t in T}
BYTES: dict[int, int] = {int(t): n for t, n in TYPE_BYTES.items()}
FLOATS = frozenset((T.F16, T.BF16, T.F32, T.F64, T.F16X2, T.BF16X2, T.TF32))
HALVES = frozenset((T.F16, T.F16X2))
BHALVES = frozenset((T.BF16, T.BF16X2))
SIGNED = frozenset((T.S8, T.S16, T.S32, T.S64))
IEEE_ROUNDINGS = {"rn": Round.RN, "rz": Round.RZ, "rm": Round.RM, "rp": Round.RP}
ROUNDINGS = {"rn": Round.RN, "rz": Round.RZ, "rm": Round.RM, "rp": Round.RP, "rna": Round.RNA}


class PtxRefused(Exception):
    """This instruction is not understood; the text says which part. The body adds instruction and line."""


@dataclass(frozen=True, slots=True)
class Form:
    """A decoded opcode. `head` is the start of the bytecode record (op .. pad), `srcs` the types of the sources."""

    lower: Callable[[PtxBody, Form, Sequence[str], int], None]
    head: tuple[int, ...] = (0,) * 9
    dst: T = T.B32
    srcs: tuple[T, ...] = ()
    imm: int = 0
    extra: Any = None


def head(
    op: str, sub: int = 0, ta: int = 0, tb: int = 0, mod: int = 0, width: int = 0, vec: int = 0, flags: int = 0
) -> tuple[int, ...]:
    return (OPS[op].number, int(sub), int(ta), int(tb), int(mod), int(width), int(vec), int(flags), 0)


class Mods:
    """The modifiers of one opcode, taken away as they are understood."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)

    def flag(self, name: str) -> bool:
        if name in self.words:
            self.words.remove(name)
            return True
        return False

    def one(self, table: Mapping[str, X], default: X | None = None) -> X:
        for word in self.words:
            if word in table:
                self.words.remove(word)
                return table[word]
        if default is None:
            raise PtxRefused(f"one of {', '.join('.' + k for k in table)} is expected")
        return default

    def drop(self, names: frozenset[str]) -> None:
        self.words = [word for word in self.words if word not in names]

    def types(self) -> list[T]:
        found = [TYPES[word] for word in self.words if word in TYPES]
        self.words = [word for word in self.words if word not in TYPES]
        return found

    def type(self, *allowed: T) -> T:
        found = self.types()
        if len(found) != 1 or (allowed and found[0] not in allowed):
            raise PtxRefused(f"type {'/'.join(t.name.lower() for t in found) or 'none'} is not supported here")
        return found[0]

    def float_mod(self, t: T) -> int:
        """Rounding, .ftz and .sat of float arithmetic."""
        mod = int(self.one(IEEE_ROUNDINGS, Round.RN))
        if self.flag("ftz"):
            if t not in (T.F32, T.F16, T.F16X2):
                raise PtxRefused(f".ftz does not go with .{t.name.lower()}")
            mod |= Mod.FTZ
        if self.flag("sat"):
            mod |= Mod.SAT
        return mod

    def done(self) -> None:
        if self.words:
            raise PtxRefused(f"modifier .{self.words[0]} is not known")


Decoder = Callable[[str, Mods], Form]
DECODERS: dict[str, Decoder] = {}


def decodes(*names: str) -> Callable[[Decoder], Decoder]:
    def register(decoder: Decoder) -> Decoder:
        for name in names:
            DECODERS[name] = decoder
        return decoder

    return register


@cache
def decode(opcode: str) -> Form:
    base, *words = opcode.split(".")
    decoder = DECODERS.get(base)
    if decoder is None:
        raise PtxRefused(f"instruction {base} is not known")
    mods = Mods(words)
    form = decoder(base, mods)
    mods.done()
    return form
