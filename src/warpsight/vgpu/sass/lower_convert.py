"""Conversions between integers and floats, roundings to integral values, packing of two floats in halves."""

from __future__ import annotations

from warpsight.vgpu.bytecode import Mod, Round, T
from warpsight.vgpu.sass.body import Body, Refused, lowers
from warpsight.vgpu.sass.lower_float import ROUNDINGS, modifiers
from warpsight.vgpu.sass.lower_integer import allow
from warpsight.vgpu.sass.read import Line, Operand

_INTEGERS = {"U8": T.U8, "S8": T.S8, "U16": T.U16, "S16": T.S16, "U32": T.U32, "S32": T.S32, "U64": T.U64, "S64": T.S64}
_FLOATS = {"F16": T.F16, "BF16": T.BF16, "F32": T.F32, "F64": T.F64}
_INTEGRAL = {"FLOOR": Round.RM, "CEIL": Round.RP, "TRUNC": Round.RZ, "ROUND": Round.RN, "RN": Round.RN}
_WIDE = (T.U64, T.S64, T.F64)


def _ftz(line: Line) -> int:
    return Mod.FTZ if line.has("FTZ") else 0


def _small(body: Body, o: Operand, t: T) -> int:
    """An integer source, perhaps one byte or half of a register."""
    row = body.integer(o._replace(mods=()), 2 if t in _WIDE else 1)
    shift = {"B1": 8, "B2": 16, "B3": 24, "H1": 16, "H1_H1": 16}.get(o.mods[0] if o.mods else "", 0)
    return body.hide("SHR", ta=T.U32, a=row, b=body.word(shift)) if shift else row


def _real(body: Body, o: Operand, t: T) -> int:
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
def i2f(body: Body, line: Line) -> None:
    allow(line, *_INTEGERS, *_FLOATS, *ROUNDINGS)
    target = next((_FLOATS[m] for m in line.mods if m in _FLOATS), T.F32)
    source = next((_INTEGERS[m] for m in line.mods if m in _INTEGERS), T.S32)
    d, a = line.operands
    body.emit("CVT", ta=target, tb=source, mod=modifiers(line), d0=body.dest(d), a=_small(body, a, source))


@lowers("F2I", "F2IP")
def f2i(body: Body, line: Line) -> None:
    if line.op == "F2IP":
        raise Refused("F2IP")
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
def frnd(body: Body, line: Line) -> None:
    allow(line, *_FLOATS, *_INTEGRAL, "FTZ")
    t = next((_FLOATS[m] for m in line.mods if m in _FLOATS), T.F32)
    mode = next((int(_INTEGRAL[m]) for m in line.mods if m in _INTEGRAL), 0)
    d, a = line.operands
    body.emit("CVT", sub=1, ta=t, tb=t, mod=mode | _ftz(line), d0=body.dest(d), a=_real(body, a, t))


@lowers("F2F")
def f2f(body: Body, line: Line) -> None:
    allow(line, *_FLOATS, *ROUNDINGS, "FTZ", "SAT")
    kinds = [_FLOATS[m] for m in line.mods if m in _FLOATS]
    if len(kinds) != 2:
        raise Refused("two types are expected")
    d, a = line.operands
    body.emit("CVT", ta=kinds[0], tb=kinds[1], mod=modifiers(line), d0=body.dest(d), a=_real(body, a, kinds[1]))


@lowers("F2FP")
def f2fp(body: Body, line: Line) -> None:
    allow(line, "F16", "F32", "BF16", "PACK_AB", "PACK_B", *ROUNDINGS, "RELU", "FTZ")
    operands = list(line.operands)
    if len(operands) == 4 and operands[3].is_zero:
        operands.pop()
    d, a, b = operands
    t = T.BF16X2 if line.has("BF16") else T.F16X2
    body.emit("CVT2", ta=t, tb=T.F32, mod=modifiers(line), d0=body.dest(d), a=body.real(a), b=body.real(b))


@lowers("I2I")
def i2i(body: Body, line: Line) -> None:
    allow(line, *_INTEGERS, "SAT")
    kinds = [_INTEGERS[m] for m in line.mods if m in _INTEGERS]
    target, source = (kinds[0], kinds[1]) if len(kinds) == 2 else (kinds[0], T.S32)
    d, a = line.operands
    mod = Mod.SAT if line.has("SAT") else 0
    body.emit("CVT", ta=target, tb=source, mod=mod, vec=4, d0=body.dest(d), a=_small(body, a, source))
