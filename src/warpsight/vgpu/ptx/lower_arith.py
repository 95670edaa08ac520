"""Integer and bit instructions: operations whose operands line up with the bytecode's, and a few that take two or
three steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import NONE, Flag, Mod, T
from warpsight.vgpu.ptx.decode import BYTES, FLOATS, SIGNED, Form, Mods, PtxRefused, decodes, head

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

INTEGERS = (T.U16, T.S16, T.U32, T.S32, T.U64, T.S64)
WORDS = (T.U32, T.S32, T.U64, T.S64)
PAIRS = (T.U16X2, T.S16X2)
BITS = (T.B16, T.B32, T.B64)
WIDER = {T.U16: T.U32, T.S16: T.S32, T.U32: T.U64, T.S32: T.S64}
HIDDEN = Flag.HIDDEN


def expect(operands: Sequence[str], *counts: int) -> None:
    if len(operands) not in counts:
        raise PtxRefused(f"{' or '.join(map(str, counts))} operands are expected, {len(operands)} came")


def lower_simple(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    """One row destination, row sources in bytecode order."""
    srcs = form.srcs
    if len(operands) != len(srcs) + 1:
        expect(operands, len(srcs) + 1)
    d = body.dest(operands[0], form.dst)
    value = body.value
    n = len(srcs)
    a = value(operands[1], srcs[0]) if n else -1
    b = value(operands[2], srcs[1]) if n > 1 else -1
    c = value(operands[3], srcs[2]) if n > 2 else -1
    e = value(operands[4], srcs[3]) if n > 3 else -1
    body.code.append((*form.head, guard, d, 0, a, b, c, e, 0, 0, form.imm))


def simple(
    op: str, ta: T, srcs: tuple[T, ...], dst: T | None = None, *, sub: int = 0, tb: int = 0, mod: int = 0, vec: int = 0
) -> Form:
    return Form(lower_simple, head(op, sub=sub, ta=ta, tb=tb, mod=mod, vec=vec), dst if dst is not None else ta, srcs)


# --- add, sub, mul, mad with and without carry


def carry_form(op: str, m: Mods, *, carry_in: bool, sub: int = 0) -> Form:
    carry_out = m.flag("cc")
    t = m.type(*WORDS)
    return Form(
        _lower_carry, head(op, sub=sub, ta=t), t, (t,) * (3 if op == "MADC" else 2), extra=(carry_in, carry_out)
    )


def _lower_carry(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, len(form.srcs) + 1)
    carry_in, carry_out = form.extra
    d = body.dest(operands[0], form.dst)
    rows = [body.value(text, t) for text, t in zip(operands[1:], form.srcs, strict=True)]
    flag_in = 2 * body.carry_pred() if carry_in else 1
    a, b, c, e = [*rows, flag_in, -1][:4]
    body.emit(form.head, guard, d, body.carry_pred() if carry_out else 0, a, b, c, e)


@decodes("addc")
def _addc(base: str, m: Mods) -> Form:
    return carry_form("ADDC", m, carry_in=True)


@decodes("subc")
def _subc(base: str, m: Mods) -> Form:
    return carry_form("SUBC", m, carry_in=True)


@decodes("add", "sub")
def _add(base: str, m: Mods) -> Form:
    op = base.upper()
    if "cc" in m.words:
        return carry_form(op + "C", m, carry_in=False)
    t = m.type(*INTEGERS, *PAIRS, *FLOATS - {T.TF32})
    if t in FLOATS:
        return simple(op, t, (t, t), mod=m.float_mod(t))
    sat = m.flag("sat")
    if sat and t is not T.S32:
        raise PtxRefused(".sat needs .s32")
    return simple(op, t, (t, t), mod=Mod.SAT if sat else 0)


@decodes("mul")
def _mul(base: str, m: Mods) -> Form:
    t = m.type(*INTEGERS, *FLOATS - {T.TF32})
    if t in FLOATS:
        return simple("MUL", t, (t, t), mod=m.float_mod(t))
    part = m.one({"lo": "MUL", "hi": "MULHI", "wide": "MULWIDE"})
    if part == "MULWIDE":
        wide = WIDER[t]
        return simple(part, t, (t, t), wide, tb=wide)
    return simple(part, t, (t, t))


@decodes("mad", "madc")
def _mad(base: str, m: Mods) -> Form:
    if base == "madc" or "cc" in m.words:
        part = m.one({"lo": 1, "hi": 2})
        return carry_form("MADC", m, carry_in=base == "madc", sub=part - 1)
    t = m.type(*INTEGERS, T.F32, T.F64)
    if t in FLOATS:
        return simple("FMA", t, (t, t, t), mod=m.float_mod(t))
    part = m.one({"lo": "MAD", "hi": "MADHI", "wide": "MADWIDE"})
    sat = m.flag("sat")
    if sat and (part != "MADHI" or t is not T.S32):
        raise PtxRefused(".sat needs mad.hi.s32")
    if part == "MADWIDE":
        wide = WIDER[t]
        return simple(part, t, (t, t, wide), wide, tb=wide)
    return simple(part, t, (t, t, t), mod=Mod.SAT if sat else 0)


@decodes("mul24", "mad24")
def _mul24(base: str, m: Mods) -> Form:
    high = m.one({"lo": 1, "hi": 2}) == 2
    t = m.type(T.U32, T.S32)
    sat = m.flag("sat")
    if sat and not (base == "mad24" and high and t is T.S32):
        raise PtxRefused(".sat needs mad24.hi.s32")
    return Form(_lower_mul24, dst=t, extra=(high, base == "mad24", sat))


def _lower_mul24(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    high, add, sat = form.extra
    t = form.dst
    expect(operands, 4 if add else 3)
    d, factors = body.dest(operands[0], t), list[int]()
    for text in operands[1:3]:
        row = body.value(text, t)
        cut = body.temp()
        body.emit(head("BFE", ta=t, flags=HIDDEN), 0, cut, a=row, b=-1, c=body.constants.word(24))
        factors.append(cut)
    product = body.temp() if add or high else d
    if high:  # bits 16..47 of the 48-bit product
        wide = body.temp(8)
        body.emit(head("MULWIDE", ta=t, tb=WIDER[t], flags=HIDDEN), 0, wide, a=factors[0], b=factors[1])
        product = body.temp() if add else d
        body.emit(
            head("SHF", sub=1, flags=HIDDEN if add else 0),
            guard,
            product,
            a=wide,
            b=wide + 1,
            c=body.constants.word(16),
        )
    else:
        body.emit(head("MUL", ta=t, flags=HIDDEN if add else 0), guard, product, a=factors[0], b=factors[1])
    if add:
        body.emit(head("ADD", ta=t, mod=Mod.SAT if sat else 0), guard, d, a=product, b=body.value(operands[3], t))


# --- the rest of the integers


@decodes("rem")
def _rem(base: str, m: Mods) -> Form:
    t = m.type(*INTEGERS)
    return simple("REM", t, (t, t))


@decodes("sad")
def _sad(base: str, m: Mods) -> Form:
    t = m.type(*INTEGERS)
    return simple("SAD", t, (t, t, t))


@decodes("and", "or", "xor")
def _logic(base: str, m: Mods) -> Form:
    t = m.type(T.PRED, *BITS)
    if t is T.PRED:
        return Form(lower_plop, head("PLOP"), t, (t, t), imm={"and": 0xC0, "or": 0xFC, "xor": 0x3C}[base])
    return simple(base.upper(), t, (t, t))


@decodes("not", "cnot")
def _not(base: str, m: Mods) -> Form:
    t = m.type(*BITS, *((T.PRED,) if base == "not" else ()))
    if t is T.PRED:
        return Form(lower_plop, head("PLOP"), t, (t,), imm=0x0F)
    return simple(base.upper(), t, (t,))


def lower_plop(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, len(form.srcs) + 1)
    a = body.pred(operands[1])
    b = body.pred(operands[2]) if len(form.srcs) > 1 else 0
    body.emit(form.head, guard, body.dest_pred(operands[0]), 0, a, b, 0, imm=form.imm)


@decodes("lop3")
def _lop3(base: str, m: Mods) -> Form:
    boolean = m.one({"and": 0, "or": 1}, -1)
    m.type(T.B32)
    return Form(_lower_lop3, head("LOP3", ta=T.B32), extra=boolean)


def _lower_lop3(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    boolean = form.extra
    expect(operands, 5 if boolean < 0 else 6)
    row, _, flag = operands[0].partition("|")
    d = body.dest(row, T.B32)
    table = body.constants.rows[~body.value(operands[4], T.B32)] if operands[4] not in body.regs else -1
    if not 0 <= table <= 255:
        raise PtxRefused("the table of lop3 is a literal from 0 to 255")
    if boolean >= 0 and d == NONE:
        d = body.temp()
    a, b, c = (body.value(text, T.B32) for text in operands[1:4])
    body.emit(form.head, guard, d, a=a, b=b, c=c, imm=table)
    if boolean >= 0:
        test = head("SETP", sub=1, ta=T.B32, flags=HIDDEN)
        body.emit(test, guard, body.dest_pred(flag or "_"), 0, d, -1, body.pred(operands[5]), imm=boolean)


@decodes("shl", "shr")
def _shift(base: str, m: Mods) -> Form:
    t = m.type(*BITS, *INTEGERS) if base == "shr" else m.type(*BITS)
    return simple(base.upper(), t, (t, T.U32))


@decodes("shf")
def _shf(base: str, m: Mods) -> Form:
    sub = m.one({"l": 0, "r": 1}) | m.one({"clamp": 0, "wrap": 2})
    m.type(T.B32)
    return simple("SHF", T.B32, (T.B32, T.B32, T.U32), sub=sub)


@decodes("bfe")
def _bfe(base: str, m: Mods) -> Form:
    t = m.type(*WORDS)
    return simple("BFE", t, (t, T.U32, T.U32))


@decodes("bfi")
def _bfi(base: str, m: Mods) -> Form:
    t = m.type(T.B32, T.B64)
    return simple("BFI", t, (t, t, T.U32, T.U32))


@decodes("bfind")
def _bfind(base: str, m: Mods) -> Form:
    sub = int(m.flag("shiftamt"))
    t = m.type(*WORDS)
    return simple("BFIND", t, (t,), T.U32, sub=sub)


@decodes("brev", "clz", "popc")
def _bits(base: str, m: Mods) -> Form:
    t = m.type(T.B32, T.B64)
    return simple(base.upper(), t, (t,), t if base == "brev" else T.U32)


@decodes("fns")
def _fns(base: str, m: Mods) -> Form:
    m.type(T.B32)
    return simple("FNS", T.B32, (T.B32, T.B32, T.S32))


@decodes("prmt")
def _prmt(base: str, m: Mods) -> Form:
    m.type(T.B32)
    return simple(
        "PRMT", T.B32, (T.B32,) * 3, sub=m.one({"f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}, 0)
    )


@decodes("bmsk")
def _bmsk(base: str, m: Mods) -> Form:
    sub = m.one({"clamp": 0, "wrap": 1})
    m.type(T.B32)
    return simple("BMSK", T.B32, (T.B32, T.B32), sub=sub)


@decodes("szext")
def _szext(base: str, m: Mods) -> Form:
    sub = m.one({"clamp": 0, "wrap": 1})
    t = m.type(T.U32, T.S32)
    return simple("SZEXT", t, (t, T.U32), sub=sub)


@decodes("dp4a", "dp2a")
def _dot(base: str, m: Mods) -> Form:
    sub = m.one({"lo": 0, "hi": 1}) if base == "dp2a" else 0
    types = m.types()
    if len(types) != 2 or any(t not in (T.U32, T.S32) for t in types):
        raise PtxRefused("two types of .u32 or .s32 are expected")
    return simple(base.upper(), types[0], (T.B32,) * 3, T.B32, sub=sub, tb=types[1])


@decodes("vabsdiff2", "vabsdiff4")
def _vabsdiff(base: str, m: Mods) -> Form:
    types = m.types()
    if len(types) != 3 or types[1] is not types[2] or any(t not in (T.U32, T.S32) for t in types):
        raise PtxRefused("the sources must have one type of .u32 or .s32")
    return simple("VABSDIFF", types[1], (T.B32,) * 3, T.B32, sub=int(m.flag("add")), vec=int(base[-1]))


@decodes("vshl", "vshr")
def _vshift(base: str, m: Mods) -> Form:
    """Of the scalar video instructions those that old CUB uses: a shift of whole words, then one operation."""
    types = m.types()
    wrap = m.one({"clamp": 0, "wrap": 1}) == 1
    if len(types) != 3 or types[0] is not types[1] or types[0] not in (T.U32, T.S32) or types[2] is not T.U32:
        raise PtxRefused("the result and the first source must have one type of .u32 or .s32, the second .u32")
    then = next((word for word in ("add", "min", "max") if m.flag(word)), "")
    return Form(_lower_vshift, dst=types[0], extra=(base[1:].upper(), wrap, then.upper()))


def _lower_vshift(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    op, wrap, then = form.extra
    t = form.dst
    expect(operands, 4 if then else 3)
    d, a, count = body.dest(operands[0], t), body.value(operands[1], t), body.value(operands[2], T.U32)
    if wrap:
        cut = body.temp()
        body.emit(head("BFE", ta=T.U32, flags=HIDDEN), 0, cut, a=count, b=-1, c=body.constants.word(5))
        count = cut
    kind = T.B32 if op == "SHL" else t
    if not then:
        body.emit(head(op, ta=kind), guard, d, a=a, b=count)
        return
    shifted = body.temp()
    body.emit(head(op, ta=kind, flags=HIDDEN), 0, shifted, a=a, b=count)
    body.emit(head(then, ta=t), guard, d, a=shifted, b=body.value(operands[3], t))


@decodes("abs", "neg")
def _abs(base: str, m: Mods) -> Form:
    t = m.type(T.S16, T.S32, T.S64, *FLOATS - {T.TF32})
    ftz = m.flag("ftz")
    if ftz and t not in (T.F32, T.F16, T.F16X2):
        raise PtxRefused(".ftz needs .f32 or .f16")
    return simple(base.upper(), t, (t,), mod=Mod.FTZ if ftz else 0)


@decodes("min", "max")
def _min(base: str, m: Mods) -> Form:
    t = m.type(*INTEGERS, *PAIRS, *FLOATS - {T.TF32})
    if t not in FLOATS:
        relu = m.flag("relu")
        if relu and t not in (T.S32, T.S16X2):
            raise PtxRefused(".relu needs .s32 or .s16x2")
        return simple(base.upper(), t, (t, t), mod=Mod.RELU if relu else 0)
    mod = Mod.FTZ if m.flag("ftz") else 0
    sub = int(m.flag("NaN"))
    if m.flag("xorsign"):
        if not m.flag("abs"):
            raise PtxRefused(".xorsign needs .abs")
        sub |= 2
    if t is T.F64 and (sub or mod):
        raise PtxRefused("no modifier goes with .f64")
    return simple(base.upper(), t, (t, t), sub=sub, mod=mod)


__all__ = ["BITS", "BYTES", "HIDDEN", "INTEGERS", "SIGNED", "expect", "lower_plop", "lower_simple", "simple"]
