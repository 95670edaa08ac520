"""Floating-point arithmetic, comparisons and selections. Conversions are in lower_convert.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import Cmp, Mod, T
from warpsight.vgpu.ptx.decode import BHALVES, FLOATS, HALVES, Form, Mods, PtxRefused, decodes, head
from warpsight.vgpu.ptx.lower_arith import BITS, HIDDEN, INTEGERS, expect, simple

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

ARITHMETIC = tuple(FLOATS - {T.TF32})
_COMPARISONS: dict[str, int] = {c.name.lower(): int(c) for c in Cmp} | {"lo": 2, "ls": 3, "hi": 4, "hs": 5}
_BOOLEANS = {"and": 0, "or": 1, "xor": 2}
_TRUE = {
    T.U32: 0xFFFFFFFF,
    T.S32: 0xFFFFFFFF,
    T.F32: 0x3F800000,
    T.F16: 0x3C00,
    T.BF16: 0x3F80,
    T.U16: 0xFFFF,
    T.S16: 0xFFFF,
}


@decodes("fma")
def _fma(base: str, m: Mods) -> Form:
    t = m.type(*ARITHMETIC)
    mod = m.float_mod(t)
    if m.flag("relu"):
        if t not in HALVES | BHALVES:
            raise PtxRefused(".relu needs a half type")
        mod |= Mod.RELU
    return simple("FMA", t, (t, t, t), mod=mod)


@decodes("div")
def _div(base: str, m: Mods) -> Form:
    t = m.type(*INTEGERS, T.F32, T.F64)
    if t not in FLOATS:
        return simple("DIV", t, (t, t))
    sub = m.one({"approx": 1, "full": 2}, 0)
    if sub and t is T.F64:
        raise PtxRefused("approximate division needs .f32")
    return simple("DIV", t, (t, t), sub=sub, mod=m.float_mod(t))


@decodes("rcp", "sqrt", "rsqrt")
def _root(base: str, m: Mods) -> Form:
    t = m.type(T.F32, T.F64)
    approx = m.flag("approx")
    if base == "rsqrt" and not approx:
        raise PtxRefused("rsqrt is .approx only")
    if t is T.F64 and approx:
        ftz = m.flag("ftz")
        if base == "rsqrt" and not ftz:
            return Form(_lower_rsqrt64, head("RCP", ta=t), t)
        if base == "sqrt" or not ftz:
            raise PtxRefused(f"{base}.approx needs .f32 or .ftz.f64")
        return simple(base.upper(), t, (t,), sub=1, mod=Mod.FTZ)
    return simple(base.upper(), t, (t,), sub=int(approx), mod=m.float_mod(t))


def _lower_rsqrt64(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    """rsqrt.approx.f64 is CUDA's rsqrt(double), good to about the last place; its .ftz form is a rough start."""
    expect(operands, 2)
    root = body.temp(8)
    body.emit(head("SQRT", ta=T.F64, flags=HIDDEN), 0, root, a=body.value(operands[1], T.F64))
    body.emit(form.head, guard, body.dest(operands[0], T.F64), a=root)


@decodes("ex2", "tanh", "lg2", "sin", "cos")
def _special(base: str, m: Mods) -> Form:
    t = m.type(T.F32, *((T.F16, T.F16X2, T.BF16, T.BF16X2) if base in ("ex2", "tanh") else ()))
    if not m.flag("approx"):
        raise PtxRefused(f"{base} is .approx only")
    ftz = m.flag("ftz")
    return simple(base.upper(), t, (t,), mod=Mod.FTZ if ftz and t not in BHALVES else 0)


@decodes("copysign")
def _copysign(base: str, m: Mods) -> Form:
    t = m.type(T.F32, T.F64)
    return simple("COPYSIGN", t, (t, t))


@decodes("testp")
def _testp(base: str, m: Mods) -> Form:
    sub = m.one({"finite": 0, "infinite": 1, "number": 2, "notanumber": 3, "normal": 4, "subnormal": 5}, -1)
    t = m.type(T.F32, T.F64)
    if sub < 0:
        raise PtxRefused("a class to test for is expected")
    return Form(_lower_testp, head("TESTP", sub=sub, ta=t), t)


def _lower_testp(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 2)
    body.emit(form.head, guard, body.dest_pred(operands[0]), 0, body.value(operands[1], form.dst))


# --- comparisons


def _comparison(m: Mods) -> tuple[int, int]:
    """The comparison and the boolean that combines it (-1: none)."""
    words = [word for word in m.words if word in _COMPARISONS]
    if not words:
        raise PtxRefused("a comparison is expected")
    m.flag(words[0])
    return _COMPARISONS[words[0]], m.one(_BOOLEANS, -1)


def _compared(m: Mods, t: T, cmp: int, unsigned: bool) -> tuple[int, int]:
    """Type code and modifier of SETP; refuses comparisons that the type lacks."""
    if t not in FLOATS and cmp > Cmp.GE:
        raise PtxRefused("that comparison is for floats")
    if unsigned and t not in (T.U16, T.U32, T.U64, *BITS):
        raise PtxRefused("lo, ls, hi and hs compare unsigned integers")
    ftz = m.flag("ftz")
    if ftz and t not in (T.F32, T.F16, T.F16X2):
        raise PtxRefused(".ftz needs .f32 or .f16")
    return int(t), Mod.FTZ if ftz else 0


@decodes("setp")
def _setp(base: str, m: Mods) -> Form:
    unsigned = bool({"lo", "ls", "hi", "hs"} & set(m.words))
    cmp, boolean = _comparison(m)
    t = m.type(*BITS, *INTEGERS, *ARITHMETIC)
    ta, mod = _compared(m, t, cmp, unsigned)
    return Form(_lower_setp, head("SETP", sub=cmp, ta=ta, mod=mod), t, imm=max(boolean, 0), extra=boolean >= 0)


def _lower_setp(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    combined = form.extra
    if len(operands) != 3 + combined:
        expect(operands, 3 + combined)
    first, _, second = operands[0].partition("|")
    c = body.pred(operands[3]) if combined else 0
    t = form.dst
    d1 = body.dest_pred(second) if second else 0
    body.code.append(
        (
            *form.head,
            guard,
            body.dest_pred(first),
            d1,
            body.value(operands[1], t),
            body.value(operands[2], t),
            c,
            -1,
            0,
            0,
            form.imm,
        )
    )


@decodes("set")
def _set(base: str, m: Mods) -> Form:
    unsigned = bool({"lo", "ls", "hi", "hs"} & set(m.words))
    cmp, boolean = _comparison(m)
    types = m.types()
    if len(types) != 2 or (types[0] not in _TRUE and types[0] not in (T.F16X2, T.BF16X2)):
        raise PtxRefused("destination and source types are expected")
    d, t = types
    if t not in (*BITS, *INTEGERS, *ARITHMETIC) or (d in (T.F16X2, T.BF16X2) and t not in (T.F16X2, T.BF16X2)):
        raise PtxRefused(f"type .{t.name.lower()} is not supported here")
    ta, mod = _compared(m, t, cmp, unsigned)
    return Form(
        _lower_set, head("SETP", sub=cmp, ta=ta, mod=mod, flags=HIDDEN), t, imm=max(boolean, 0), extra=(boolean >= 0, d)
    )


def _lower_set(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    combined, dt = form.extra
    expect(operands, 3 + combined)
    packed = form.dst in (T.F16X2, T.BF16X2)
    low, high = body.temp_pred(), body.temp_pred() if packed else 0
    c = body.pred(operands[3]) if combined else 0
    body.emit(
        form.head,
        0,
        low,
        high,
        body.value(operands[1], form.dst),
        body.value(operands[2], form.dst),
        c,
        imm=form.imm,
    )
    d = body.dest(operands[0], dt)
    if not packed:
        body.emit(head("P2R"), guard, d, 0, 2 * low, imm=_TRUE[dt])
        return
    one = {T.F16X2: 0x3C00, T.BF16X2: 0x3F80}.get(dt, 0xFFFF)
    parts = body.temp(), body.temp()
    body.emit(head("P2R", flags=HIDDEN), 0, parts[0], 0, 2 * low, imm=one)
    body.emit(head("P2R", flags=HIDDEN), 0, parts[1], 0, 2 * high, imm=one << 16)
    body.emit(head("OR", ta=T.B32), guard, d, 0, *parts)


@decodes("selp")
def _selp(base: str, m: Mods) -> Form:
    t = m.type(*BITS, *INTEGERS, T.F32, T.F64, T.F16, T.BF16, T.F16X2, T.BF16X2)
    return Form(_lower_selp, head("SEL", ta=t), t)


def _lower_selp(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 4)
    t = form.dst
    d = body.dest(operands[0], t)
    body.emit(form.head, guard, d, 0, body.value(operands[1], t), body.value(operands[2], t), body.pred(operands[3]))


@decodes("slct")
def _slct(base: str, m: Mods) -> Form:
    types = m.types()
    if len(types) != 2 or types[1] not in (T.S32, T.F32) or types[0] not in (*BITS, *INTEGERS, T.F32, T.F64):
        raise PtxRefused("two types are expected, the second .s32 or .f32")
    mod = Mod.FTZ if m.flag("ftz") else 0
    if mod and types[1] is not T.F32:
        raise PtxRefused(".ftz needs .f32")
    return Form(_lower_slct, head("SETP", sub=Cmp.GE, ta=types[1], mod=mod, flags=HIDDEN), types[0], (types[1],))


def _lower_slct(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 4)
    t = form.dst
    p = body.temp_pred()
    body.emit(form.head, 0, p, 0, body.value(operands[3], form.srcs[0]), -1, 0)
    d = body.dest(operands[0], t)
    body.emit(head("SEL", ta=t), guard, d, 0, body.value(operands[1], t), body.value(operands[2], t), 2 * p)
