"""Conversions between integers and floats, roundings to integral values, packing of two floats in halves."""

from __future__ import annotations

from warpsight.vgpu.bytecode import Mod, Round, T
from warpsight.vgpu.sass.body import SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_float import ROUNDINGS, modifiers
from warpsight.vgpu.sass.lower_integer import allow
from warpsight.vgpu.sass.read import Operand, SassLine

_INTEGERS = {"U8": T.U8, "S8": T.S8, "U16": T.U16, "S16": T.S16, "U32": T.U32, "S32": T.S32, "U64": T.U64, "S64": T.S64}
_FLOATS = {"F16": T.F16, "BF16": T.BF16, "F32": T.F32, "F64": T.F64}
_INTEGRAL = {"FLOOR": Round.RM, "CEIL": Round.RP, "TRUNC": Round.RZ, "ROUND": Round.RN, "RN": Round.RN}
_EIGHTS = {"E4M3": T.E4M3X2, "E5M2": T.E5M2X2}
_PACKINGS = ("PACK_AB", "PACK_B", "MERGE_C", "UNPACK_B", "PACK_AB_MERGE_C", "UNPACK_B_MERGE_C")
_WIDE = (T.U64, T.S64, T.F64)


def _ftz(line: SassLine) -> int:
    return Mod.FTZ if line.has("FTZ") else 0


def _small(body: SassBody, o: Operand, t: T) -> int:
    """An integer source, perhaps one byte or half of a register."""
    row = body.integer(o._replace(mods=()), 2 if t in _WIDE else 1)
    shift = {"B1": 8, "B2": 16, "B3": 24, "H1": 16, "H1_H1": 16}.get(o.mods[0] if o.mods else "", 0)
    return body.hide("SHR", ta=T.U32, a=row, b=body.word(shift)) if shift else row


def _real(body: SassBody, o: Operand, t: T) -> int:
    """A float source; a half may be the upper one of its register."""
    row = body.row(o, 2 if t is T.F64 else 1)
    if t is T.F16 and o.mods and o.mods[0].startswith("H1"):
        row = body.hide("SHR", ta=T.U32, a=row, b=body.word(16))
    if o.kind == "float":
        return row
    if o.absolute:
        row = body.hide("ABS", ta=t, a=row)
    return body.hide("NEG", ta=t, a=row) if o.negative else row


@lowers("I2F", "I2FP", "I2F_RN")
def i2f(body: SassBody, line: SassLine) -> None:
    allow(line, *_INTEGERS, *_FLOATS, *ROUNDINGS)
    target = next((_FLOATS[m] for m in line.mods if m in _FLOATS), T.F32)
    source = next((_INTEGERS[m] for m in line.mods if m in _INTEGERS), T.S32)
    d, a = line.operands
    body.emit("CVT", ta=target, tb=source, mod=modifiers(line), d0=body.dest(d), a=_small(body, a, source))


@lowers("F2I", "F2IP")
def f2i(body: SassBody, line: SassLine) -> None:
    if line.op == "F2IP":
        raise SassRefused("F2IP")
    allow(line, *_INTEGERS, *_FLOATS, *_INTEGRAL, "FTZ", "NTZ")
    target = next((_INTEGERS[m] for m in line.mods if m in _INTEGERS), T.S32)
    source = next((_FLOATS[m] for m in line.mods if m in _FLOATS), T.F32)
    mode = next((int(_INTEGRAL[m]) for m in line.mods if m in _INTEGRAL), 0)
    d, a = line.operands
    small = target in (T.U8, T.S8, T.U16, T.S16)
    body.emit(
        "CVT",
        ta=target,
        tb=source,
        mod=mode | _ftz(line),
        vec=4 if small else 0,
        d0=body.dest(d),
        a=_real(body, a, source),
    )


@lowers("FRND")
def frnd(body: SassBody, line: SassLine) -> None:
    allow(line, *_FLOATS, *_INTEGRAL, "FTZ")
    t = next((_FLOATS[m] for m in line.mods if m in _FLOATS), T.F32)
    mode = next((int(_INTEGRAL[m]) for m in line.mods if m in _INTEGRAL), 0)
    d, a = line.operands
    body.emit("CVT", sub=1, ta=t, tb=t, mod=mode | _ftz(line), d0=body.dest(d), a=_real(body, a, t))


@lowers("F2F")
def f2f(body: SassBody, line: SassLine) -> None:
    allow(line, *_FLOATS, *ROUNDINGS, "FTZ", "SAT")
    kinds = [_FLOATS[m] for m in line.mods if m in _FLOATS]
    if len(kinds) != 2:
        raise SassRefused("two types are expected")
    d, a = line.operands
    body.emit("CVT", ta=kinds[0], tb=kinds[1], mod=modifiers(line), d0=body.dest(d), a=_real(body, a, kinds[1]))


@lowers("F2FP")
def f2fp(body: SassBody, line: SassLine) -> None:
    allow(line, "F16", "F32", "BF16", *_EIGHTS, *_PACKINGS, *ROUNDINGS, "RELU", "FTZ", "SATFINITE")
    if line.has(*_EIGHTS):
        _eights(body, line)
    elif line.has("SATFINITE"):
        raise SassRefused("halves kept finite")
    elif line.has("MERGE_C"):
        _one_half(body, line)
    else:
        operands = list(line.operands)
        if len(operands) == 4 and operands[3].is_zero:
            operands.pop()
        d, a, b = operands
        t = T.BF16X2 if line.has("BF16") else T.F16X2
        body.emit("CVT2", ta=t, tb=T.F32, mod=modifiers(line), d0=body.dest(d), a=body.real(a), b=body.real(b))


def _one_half(body: SassBody, line: SassLine) -> None:
    """F2FP.RELU.MERGE_C R0, c[0x0][0x170], RZ: one float to the low half. Only a merge with zero is seen."""
    d, a, c = line.operands
    if not c.is_zero:
        raise SassRefused("a half merged with a register")
    t = T.BF16 if line.has("BF16") else T.F16
    body.emit("CVT", ta=t, tb=T.F32, mod=modifiers(line), d0=body.dest(d), a=body.real(a))


def _eights(body: SassBody, line: SassLine) -> None:
    """To and from pairs of 8-bit floats; the type of the result is named first."""
    t, mod, d = next(_EIGHTS[m] for m in line.mods if m in _EIGHTS), modifiers(line), line.operands[0]
    if mod & ~Mod.RELU:
        raise SassRefused("8-bit floats with another rounding")
    if line.has("UNPACK_B"):  # F2FP.F16.E4M3.UNPACK_B R0, R2.H1
        if line.has("SATFINITE") or not line.has("F16"):
            raise SassRefused("8-bit floats to what is not halves")
        _, a = line.operands
        body.emit("CVT", ta=T.F16X2, tb=t, mod=mod, d0=body.dest(d), a=_half_word(body, a))
    elif not line.has("SATFINITE"):
        raise SassRefused("8-bit floats that need not be finite")
    elif line.has("UNPACK_B_MERGE_C") and line.has("F16"):
        _, a, c = line.operands
        _merged(body, d, c, "CVT", ta=t, tb=T.F16X2, mod=mod, a=_plain(body, a))
    elif line.has("PACK_AB_MERGE_C") and line.has("F32"):
        _, a, b, c = line.operands
        _merged(body, d, c, "CVT2", ta=t, tb=T.F32, mod=mod, a=body.real(a), b=body.real(b))
    else:
        raise SassRefused("packing of 8-bit floats")


def _merged(body: SassBody, d: Operand, c: Operand, op: str, **fields: int) -> None:
    """A converted pair in the low half of d, the low half of c in the high one."""
    if c.is_zero:
        body.emit(op, d0=body.dest(d), **fields)
    else:
        body.emit("PRMT", d0=body.dest(d), a=body.hide(op, **fields), b=_plain(body, c), c=body.word(0x5410))


def _plain(body: SassBody, o: Operand) -> int:
    """A whole register or constant, as it is."""
    if o.kind not in ("r", "ur", "const") or o.mods or o.negative or o.inverted or o.absolute:
        raise SassRefused(f"operand `{o.text}`")
    return body.row(o)


def _half_word(body: SassBody, o: Operand) -> int:
    """The half of a register that is unpacked: the low one unless .H1 is said."""
    if o.mods not in ((), ("H0",), ("H1",)):
        raise SassRefused(f"half of `{o.text}`")
    row = _plain(body, o._replace(mods=()))
    return body.hide("SHR", ta=T.U32, a=row, b=body.word(16)) if o.mods == ("H1",) else row


@lowers("I2I")
def i2i(body: SassBody, line: SassLine) -> None:
    allow(line, *_INTEGERS, "SAT")
    kinds = [_INTEGERS[m] for m in line.mods if m in _INTEGERS]
    target, source = (kinds[0], kinds[1]) if len(kinds) == 2 else (kinds[0], T.S32)
    d, a = line.operands
    mod = Mod.SAT if line.has("SAT") else 0
    body.emit("CVT", ta=target, tb=source, mod=mod, vec=4, d0=body.dest(d), a=_small(body, a, source))
