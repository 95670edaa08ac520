"""PTX literals to the bits of a type: integers in any base, hexadecimal and decimal floats. Pure, memoised."""

from __future__ import annotations

import re
import struct
from functools import cache

from warpsight.vgpu.bytecode import T
from warpsight.vgpu.ptx.decode import BYTES, PtxRefused

_INTEGER = re.compile(r"([-+~]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_DECIMAL = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?$")
_FLOAT_BITS = re.compile(r"(-?)0([fFdD])([0-9a-fA-F]+)$")


@cache
def integer(text: str) -> int | None:
    if text == "WARP_SZ":
        return 32
    m = _INTEGER.match(text)
    if m is None:
        return None
    digits = m[2]
    value = int(digits, 8) if len(digits) > 1 and digits[0] == "0" and digits.isdigit() else int(digits, 0)
    return -value if m[1] == "-" else ~value if m[1] == "~" else value


def _real(text: str) -> float | None:
    if m := _FLOAT_BITS.match(text):
        wide = m[2] in "dD"
        if len(m[3]) != (16 if wide else 8):
            return None
        value = struct.unpack(">d" if wide else ">f", bytes.fromhex(m[3]))[0]
        return -value if m[1] else value
    return float(text) if _DECIMAL.match(text) else None


@cache
def bits(text: str, t: T) -> int | None:
    """The literal as an unsigned integer of the type's width, or None when the text is no literal."""
    width = 8 * BYTES.get(int(t), 4)
    exact = _FLOAT_BITS.match(text)
    if exact and not exact[1] and len(exact[3]) * 4 == width:
        return int(exact[3], 16)
    value = integer(text)
    if value is not None:
        if t in (T.F32, T.F64) and not text.lower().startswith("0x"):
            return _pack(float(value), t)
        return value & ((1 << width) - 1)
    real = _real(text)
    return None if real is None else _pack(real, t)


def _pack(value: float, t: T) -> int:
    if t in (T.F64, T.B64):
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if t in (T.F32, T.B32, T.TF32):
        try:
            return struct.unpack("<I", struct.pack("<f", value))[0]
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    if t is T.F16:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    raise PtxRefused(f"a float literal does not go with .{t.name.lower()}")
