"""Arithmetic on pairs of 16-bit floats. Each operand says which of its halves it gives (H0_H0, H1_H1, both)."""

from __future__ import annotations

from dataclasses import replace

from warpsight.vgpu.bytecode import Cmp, Round, T
from warpsight.vgpu.sass.body import FALSE, TRUE, SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_float import COMPARISONS, modifiers
from warpsight.vgpu.sass.lower_integer import BOOLEANS, allow
from warpsight.vgpu.sass.read import Operand, SassLine

_MODS = ("F32", "BF16_V2", "MMA", "SAT", "FTZ", "RELU", "F16", "V2")
_PICKS = {"H0_H0": 0x1010, "H1_H1": 0x3232}


def _type(line: SassLine) -> T:
    return T.BF16X2 if line.has("BF16_V2", "BF16") else T.F16X2


def _values(line: SassLine, count: int) -> list[Operand]:
    """The value operands; an immediate pair is printed as two numbers and is one operand."""
    values = list[Operand]()
    for o in line.operands[1:]:
        if o.kind in ("float", "imm") and values and values[-1].kind == "float" and "pair" not in values[-1].mods:
            values[-1] = values[-1]._replace(mods=("pair",))
        elif o.kind == "float" or (o.kind == "imm" and line.op[0] == "H"):
            values.append(o._replace(kind="float", mods=()))
        else:
            values.append(o)
    if len(values) < count:
        raise SassRefused("too few operands")
    return values


def _pair(body: SassBody, o: Operand, t: T) -> int:
    """Both halves of an operand, picked and with their signs done."""
    row = body.row(o)
    if o.kind == "float":
        return row
    for mod in o.mods:
        if mod not in _PICKS:
            raise SassRefused(f"halves .{mod}")
        row = body.hide("PRMT", a=row, b=-1, c=body.word(_PICKS[mod]))
    if o.absolute:
        row = body.hide("ABS", ta=t, a=row)
    return body.hide("NEG", ta=t, a=row) if o.negative else row


def _as_f32(body: SassBody, o: Operand, t: T) -> int:
    half = T.BF16 if t is T.BF16X2 else T.F16
    row = body.row(o)
    if o.mods and o.mods[0] == "H1_H1":
        row = body.hide("SHR", ta=T.U32, a=row, b=body.word(16))
    row = body.hide("CVT", ta=T.F32, tb=half, a=row)
    if o.absolute:
        row = body.hide("ABS", ta=T.F32, a=row)
    return body.hide("NEG", ta=T.F32, a=row) if o.negative else row


def _narrow(body: SassBody, line: SassLine, d: int, values: list[Operand], t: T) -> None:
    """HADD2 of an F32 operand and zero: how sm_75 rounds an F32 towards zero to a half."""
    wide = next(v for v in values if "F32" in v.mods)
    if line.op != "HADD2" or not all(v is wide or v.is_zero for v in values):
        raise SassRefused("halves and F32 mixed")
    row = body.real(wide._replace(mods=()))
    body.emit("CVT2", ta=t, tb=T.F32, mod=modifiers(line) | Round.RZ, d0=d, a=row, b=row)


@lowers("HADD2", "HMUL2", "HFMA2")
def arithmetic(body: SassBody, line: SassLine) -> None:
    allow(line, *_MODS)
    t, d = _type(line), body.dest(line.operands[0])
    op, count = {"HADD2": ("ADD", 2), "HMUL2": ("MUL", 2), "HFMA2": ("FMA", 3)}[line.op]
    values = _values(line, count)[:count]
    if line.op == "HFMA2" and values[0].is_zero and values[1].is_zero:  # how a constant is loaded
        body.emit("MOV", ta=T.B32, d0=d, a=_pair(body, values[2], t))
    elif line.has("F32"):
        if line.op != "HADD2":
            raise SassRefused("a product of halves in F32")
        body.emit(
            "ADD", ta=T.F32, mod=modifiers(line), d0=d, a=_as_f32(body, values[0], t), b=_as_f32(body, values[1], t)
        )
    elif any("F32" in v.mods for v in values):
        _narrow(body, line, d, values, t)
    else:
        rows = dict(zip("abc", (_pair(body, v, t) for v in values), strict=False))
        body.emit(op, ta=t, mod=modifiers(line), d0=d, **rows)


@lowers("HMNMX2")
def extreme(body: SassBody, line: SassLine) -> None:
    allow(line, *_MODS, "NAN", "XORSIGN")
    t = _type(line)
    a, b, p = _values(line, 3)
    choice = body.pred(p)
    if choice not in (TRUE, FALSE):
        raise SassRefused("a variable choice")
    sub = int(line.has("NAN")) | 2 * line.has("XORSIGN")
    op = "MIN" if choice == TRUE else "MAX"
    body.emit(
        op, sub=sub, ta=t, mod=modifiers(line), d0=body.dest(line.operands[0]), a=_pair(body, a, t), b=_pair(body, b, t)
    )


def _test(line: SassLine) -> tuple[Cmp, int]:
    test = next(COMPARISONS[m] for m in line.mods if m in COMPARISONS)
    return test, next(BOOLEANS[m] for m in line.mods if m in BOOLEANS)


@lowers("HSETP2")
def compare(body: SassBody, line: SassLine) -> None:
    allow(line, *_MODS, *COMPARISONS, *BOOLEANS)
    t, (test, boolean) = _type(line), _test(line)
    p, q = line.operands[:2]
    a, b, c = _values(replace(line, operands=line.operands[1:]), 3)[:3]
    body.emit(
        "SETP",
        sub=test,
        ta=t,
        mod=modifiers(line),
        imm=boolean,
        d0=body.dest_pred(p),
        d1=body.dest_pred(q),
        a=_pair(body, a, t),
        b=_pair(body, b, t),
        c=body.pred(c),
    )


@lowers("HSET2")
def compare_to_row(body: SassBody, line: SassLine) -> None:
    allow(line, *_MODS, *COMPARISONS, *BOOLEANS, "BF", "BM")
    t, (test, boolean) = _type(line), _test(line)
    a, b, c = _values(line, 3)[:3]
    low, high = body.temp_pred(), body.temp_pred()
    body.emit(
        "SETP",
        hidden=True,
        sub=test,
        ta=t,
        mod=modifiers(line),
        imm=boolean,
        d0=low,
        d1=high,
        a=_pair(body, a, t),
        b=_pair(body, b, t),
        c=body.pred(c),
    )
    one = 0xFFFF if not line.has("BF") else 0x3F80 if t is T.BF16X2 else 0x3C00
    rows = body.hide("P2R", a=2 * low, imm=one), body.hide("P2R", a=2 * high, imm=one << 16)
    body.emit("OR", ta=T.B32, d0=body.dest(line.operands[0]), a=rows[0], b=rows[1])
