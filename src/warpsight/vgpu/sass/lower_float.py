"""F32 and F64 arithmetic, comparisons, selections, and the functions of the special unit (MUFU).

MUFU always flushes denormals; the compiler scales around it where they matter.
"""

from __future__ import annotations

from warpsight.vgpu.bytecode import Cmp, Mod, Round, T
from warpsight.vgpu.sass.body import FALSE, TRUE, SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_integer import BOOLEANS, allow
from warpsight.vgpu.sass.read import SassLine

ROUNDINGS = {"RN": Round.RN, "RZ": Round.RZ, "RM": Round.RM, "RP": Round.RP}
_SCALES = {"D2": 0.5, "D4": 0.25, "D8": 0.125, "M2": 2.0, "M4": 4.0, "M8": 8.0}
_SCALE_BITS = {
    "D2": 0x3F000000,
    "D4": 0x3E800000,
    "D8": 0x3E000000,
    "M2": 0x40000000,
    "M4": 0x40800000,
    "M8": 0x41000000,
}
COMPARISONS = {c.name: c for c in Cmp}
ONE = 0x3F800000


def modifiers(line: SassLine) -> int:
    """Rounding, FTZ, SAT and RELU of an instruction as `mod`."""
    mod = next((int(ROUNDINGS[m]) for m in line.mods if m in ROUNDINGS), 0)
    return (
        mod
        | (Mod.FTZ if line.has("FTZ") else 0)
        | (Mod.SAT if line.has("SAT") else 0)
        | (Mod.RELU if line.has("RELU") else 0)
    )


@lowers("FADD", "DADD")
def add(body: SassBody, line: SassLine) -> None:
    allow(line, *ROUNDINGS, "FTZ", "SAT")
    d, a, b = (o for o in line.operands if o.kind not in ("p", "up"))
    t = T.F64 if line.op[0] == "D" else T.F32
    if b.negative and not b.absolute and b.kind != "float":
        body.emit(
            "SUB", ta=t, mod=modifiers(line), d0=body.dest(d), a=body.real(a, t), b=body.row(b, 2 if t is T.F64 else 1)
        )
    else:
        body.emit("ADD", ta=t, mod=modifiers(line), d0=body.dest(d), a=body.real(a, t), b=body.real(b, t))


@lowers("FMUL", "DMUL")
def multiply(body: SassBody, line: SassLine) -> None:
    allow(line, *ROUNDINGS, "FTZ", "SAT", *_SCALES)
    d, a, b = line.operands
    t = T.F64 if line.op[0] == "D" else T.F32
    first = body.real(a, t)
    if scale := next((m for m in line.mods if m in _SCALE_BITS), None):
        first = body.hide("MUL", ta=t, a=first, b=body.word(_SCALE_BITS[scale]))
    body.emit("MUL", ta=t, mod=modifiers(line), d0=body.dest(d), a=first, b=body.real(b, t))


@lowers("FFMA", "DFMA")
def fused(body: SassBody, line: SassLine) -> None:
    allow(line, *ROUNDINGS, "FTZ", "SAT")
    d, a, b, c = line.operands
    t = T.F64 if line.op[0] == "D" else T.F32
    rows = {"a": body.real(a, t), "b": body.real(b, t), "c": body.real(c, t)}
    body.emit("FMA", ta=t, mod=modifiers(line), d0=body.dest(d), **rows)


@lowers("FSETP", "DSETP")
def fsetp(body: SassBody, line: SassLine) -> None:
    if line.has("MIN", "MAX"):
        _choose_extreme(body, line)
        return
    allow(line, *COMPARISONS, *BOOLEANS, "FTZ")
    p, q, a, b, c = line.operands[:5]
    t = T.F64 if line.op[0] == "D" else T.F32
    body.emit(
        "SETP",
        sub=COMPARISONS[line.mods[0]],
        ta=t,
        mod=modifiers(line),
        imm=next(BOOLEANS[m] for m in line.mods if m in BOOLEANS),
        d0=body.dest_pred(p),
        d1=body.dest_pred(q),
        a=body.real(a, t),
        b=body.real(b, t),
        c=body.pred(c),
    )


def _choose_extreme(body: SassBody, line: SassLine) -> None:
    """DSETP.MIN/.MAX: p where a is the one to take, q where it is a NaN that is taken."""
    allow(line, "MIN", "MAX", "AND")
    p, q, a, b, c = line.operands
    if body.pred(c) != TRUE:
        raise SassRefused("a predicate into DSETP.MIN")
    first, second = body.real(a, T.F64), body.real(b, T.F64)
    order, tie, sign, other_nan, own_nan, both = (body.temp_pred() for _ in range(6))
    smaller = line.has("MIN")
    for test, d, left, right in (
        (Cmp.LT if smaller else Cmp.GT, order, first, second),
        (Cmp.EQ, tie, first, second),
        (Cmp.NAN, other_nan, second, second),
        (Cmp.NAN, own_nan, first, first),
    ):
        body.emit("SETP", hidden=True, sub=test, ta=T.F64, d0=d, a=left, b=right, c=0)
    # -0 is below +0: of equal ones the sign of a decides.
    body.emit("SETP", hidden=True, sub=Cmp.LT if smaller else Cmp.GE, ta=T.S64, d0=sign, a=first, b=-1, c=0)
    body.emit("PLOP", hidden=True, d0=tie, a=2 * tie, b=2 * sign, c=0, imm=0xC0)
    body.emit("PLOP", hidden=True, d0=order, a=2 * order, b=2 * tie, c=0, imm=0xFC)
    body.emit("PLOP", hidden=True, d0=both, a=2 * other_nan, b=2 * own_nan, c=0, imm=0xC0)
    if q_index := body.dest_pred(q):
        body.emit("PLOP", hidden=True, guard=body.guard, d0=q_index, a=2 * both, b=0, c=0, imm=0xF0)
    body.emit("PLOP", d0=body.dest_pred(p), a=2 * order, b=2 * other_nan, c=0, imm=0xFC)


@lowers("FSET")
def fset(body: SassBody, line: SassLine) -> None:
    allow(line, "BF", *COMPARISONS, *BOOLEANS, "FTZ")
    d, a, b, c = line.operands
    p = body.temp_pred()
    test = next(COMPARISONS[m] for m in line.mods if m in COMPARISONS)
    boolean = next(BOOLEANS[m] for m in line.mods if m in BOOLEANS)
    body.emit(
        "SETP",
        hidden=True,
        sub=test,
        ta=T.F32,
        mod=modifiers(line),
        imm=boolean,
        d0=p,
        a=body.real(a),
        b=body.real(b),
        c=body.pred(c),
    )
    body.emit("SEL", ta=T.F32, d0=body.dest(d), a=body.word(ONE if line.has("BF") else 0xFFFFFFFF), b=-1, c=2 * p)


@lowers("FSEL")
def fsel(body: SassBody, line: SassLine) -> None:
    allow(line, "FTZ")
    if line.has("FTZ"):
        raise SassRefused("FSEL.FTZ")
    d, a, b, p = line.operands
    body.emit("SEL", ta=T.B32, d0=body.dest(d), a=body.real(a), b=body.real(b), c=body.pred(p))


@lowers("FMNMX")
def fmnmx(body: SassBody, line: SassLine) -> None:
    allow(line, "FTZ", "NAN", "XORSIGN")
    d, a, b, p = line.operands
    how = {"ta": T.F32, "mod": modifiers(line), "sub": int(line.has("NAN")) | 2 * line.has("XORSIGN")}
    rows, choice = {"a": body.real(a), "b": body.real(b)}, body.pred(p)
    if choice in (TRUE, FALSE):
        body.emit("MIN" if choice == TRUE else "MAX", d0=body.dest(d), **how, **rows)
        return
    low, high = body.hide("MIN", **how, **rows), body.hide("MAX", **how, **rows)
    body.emit("SEL", ta=T.F32, d0=body.dest(d), a=low, b=high, c=choice)


@lowers("FCHK")
def fchk(body: SassBody, line: SassLine) -> None:
    allow(line, "DIVIDE")
    p, a, b = line.operands
    body.emit("FCHK", ta=T.F32, d0=body.dest_pred(p), a=body.real(a), b=body.real(b))


_FUNCTIONS = {
    "RCP": ("RCP", 1),
    "RSQ": ("RSQRT", 0),
    "SQRT": ("SQRT", 1),
    "EX2": ("EX2", 0),
    "LG2": ("LG2", 0),
    "TANH": ("TANH", 0),
    "SIN": ("SIN", 1),
    "COS": ("COS", 1),
}


@lowers("MUFU")
def mufu(body: SassBody, line: SassLine) -> None:
    allow(line, *_FUNCTIONS, "RCP64H", "RSQ64H", "F16", "FTZ")
    d, a = line.operands
    name = line.mods[0]
    if name.endswith("64H"):  # upper words in, upper words out
        pair, result = body.temp(2), body.temp(2)
        body.emit("MOV", hidden=True, ta=T.B32, d0=pair, a=-1)
        body.emit("MOV", hidden=True, ta=T.B32, d0=pair + 1, a=body.real(a))
        op, sub = ("RCP", 1) if name == "RCP64H" else ("RSQRT", 0)
        body.emit("MOV", hidden=True, ta=T.B64, d0=result, a=pair)
        body.emit(op, sub=sub, ta=T.F64, mod=Mod.FTZ, d0=result, a=pair)
        body.emit("MOV", hidden=True, guard=body.guard, ta=T.B32, d0=body.dest(d), a=result + 1)
        return
    op, sub = _FUNCTIONS[name]
    t = T.F16 if line.has("F16") else T.F32
    mod = 0 if t is T.F16 or name == "TANH" else Mod.FTZ  # the compiler puts no scaling around TANH
    body.emit(op, sub=sub, ta=t, mod=mod, d0=body.dest(d), a=body.real(a, t))
