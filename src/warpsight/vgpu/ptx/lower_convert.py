"""mov in all its shapes, cvt, cvta, isspacep: values that change place or type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import NONE, Mod, Round, Space, T
from warpsight.vgpu.ptx import specials
from warpsight.vgpu.ptx.decode import BYTES, FLOATS, ROUNDINGS, Form, Mods, PtxRefused, decodes, head
from warpsight.vgpu.ptx.lower_arith import BITS, HIDDEN, INTEGERS, expect, lower_plop, lower_simple

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

_BITS_OF = {1: T.B8, 2: T.B16, 4: T.B32, 8: T.B64, 16: T.B128}
_INTEGRAL = {"rni": Round.RN, "rzi": Round.RZ, "rmi": Round.RM, "rpi": Round.RP}
_EIGHTS = (T.E4M3X2, T.E5M2X2)
_SPACES = {
    "global": Space.GLOBAL, "shared": Space.SHARED, "shared::cta": Space.SHARED, "shared::cluster": Space.SHARED,
    "local": Space.LOCAL,
    "const": Space.CONST, "param": Space.PARAM, "param::entry": Space.PARAM,
}  # fmt: skip


# --- mov


@decodes("mov")
def _mov(base: str, m: Mods) -> Form:
    t = m.type(*BITS, *INTEGERS, T.F32, T.F64, T.F16, T.BF16, T.F16X2, T.BF16X2, T.B128, T.PRED)
    if t is T.PRED:
        return Form(lower_plop, head("PLOP"), t, (t,), imm=0xF0)
    bits = _BITS_OF[BYTES[t]]
    return Form(_lower_mov, head("MOV", ta=bits), t, (bits,))


def _lower_mov(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    if len(operands) != 2:
        expect(operands, 2)
    d, s = operands
    t = form.dst
    if d[0] == "{":
        _unpack(body, body.vector(d), s, t, guard)
    elif s[0] == "{":
        _pack(body, d, body.vector(s), t, guard)
    elif s[0] == "%" and s in specials.KNOWN:
        specials.read(body, s, body.dest(d, t), BYTES[t], guard)
    elif t is T.B128:
        for half in (0, 2):
            flags = HIDDEN if half else 0
            body.emit(head("MOV", ta=T.B64, flags=flags), guard, body.dest(d, t) + half, a=body.value(s, t) + half)
    elif s in body.slots and body.fp >= 0:
        body.emit(head("LEAFP"), guard, body.dest(d, t), imm=body.slots[s].offset)
    elif s in body.slots:  # the frame of a kernel starts at 0
        body.emit(form.head, guard, body.dest(d, t), a=body.constants.pair(body.slots[s].offset))
    else:
        body.emit(form.head, guard, body.dest(d, t), a=body.value(s, t))


def _unpack(body: PtxBody, parts: list[str], source: str, t: T, guard: int) -> None:
    width = BYTES[t] // len(parts)
    if width not in (2, 4, 8) or width * len(parts) != BYTES[t]:
        raise PtxRefused("the vector does not fill the type")
    row, flags = body.value(source, t), 0
    for i, part in enumerate(parts):
        d = body.dest(part, _BITS_OF[width])
        if d == NONE:
            continue
        if width == 2 and i % 2:
            body.emit(
                head("SHR", ta=T.U32, flags=flags),
                guard,
                d,
                a=row + i // 2 if row >= 0 else row - i // 2,
                b=body.constants.word(16),
            )
        elif width == 2:
            word = row + i // 2 if row >= 0 else row - i // 2
            body.emit(head("AND", ta=T.B32, flags=flags), guard, d, a=word, b=body.constants.word(0xFFFF))
        else:
            step = i * width // 4
            body.emit(head("MOV", ta=_BITS_OF[width], flags=flags), guard, d, a=row + step if row >= 0 else row - step)
        flags = HIDDEN
    if not flags:
        body.emit(head("NOP"), guard)


def _pack(body: PtxBody, d: str, parts: list[str], t: T, guard: int) -> None:
    width = BYTES[t] // len(parts)
    if width not in (2, 4, 8) or width * len(parts) != BYTES[t]:
        raise PtxRefused("the vector does not fill the type")
    number, flags = body.dest(d, t), 0
    rows = [body.value(part, _BITS_OF[width]) for part in parts]
    if width == 2:
        for i in range(0, len(rows), 2):
            select = body.constants.word(0x5410)
            body.emit(head("PRMT", ta=T.B32, flags=flags), guard, number + i // 2, a=rows[i], b=rows[i + 1], c=select)
            flags = HIDDEN
        return
    for i, row in enumerate(rows):
        body.emit(head("MOV", ta=_BITS_OF[width], flags=flags), guard, number + i * width // 4, a=row)
        flags = HIDDEN


# --- cvt


@decodes("cvt")
def _cvt(base: str, m: Mods) -> Form:
    types = m.types()
    if len(types) != 2:
        raise PtxRefused("destination and source types are expected")
    d, s = types
    if d in _EIGHTS or s in _EIGHTS:
        return _cvt_eights(m, d, s)
    if any(t in (T.B1, T.S4, T.U4, T.PRED, T.U16X2, T.S16X2) for t in types):
        raise PtxRefused("that pair of types is not supported")
    if d in (T.F16X2, T.BF16X2):
        return _cvt_pair(m, d, s)
    mod, sub = _cvt_rounding(m, d, s)
    if m.flag("ftz"):
        if T.F32 not in types:
            raise PtxRefused(".ftz needs .f32")
        mod |= Mod.FTZ
    if m.flag("sat"):
        mod |= Mod.SAT
    if m.flag("relu"):
        mod |= _relu(d, s)
    return Form(_lower_cvt, head("CVT", sub=sub, ta=d, tb=s, mod=mod), d, (s,))


def _relu(d: T, s: T) -> int:
    if d not in (T.F16, T.BF16, T.TF32) or s is not T.F32:
        raise PtxRefused(".relu needs a conversion of .f32 to a smaller float")
    return Mod.RELU


def _cvt_rounding(m: Mods, d: T, s: T) -> tuple[int, int]:
    """Rounding mode and sub (1: to an integral value); refuses a conversion that has none but needs one."""
    plain, integral = m.one(ROUNDINGS, -1), m.one(_INTEGRAL, -1)
    floats = (d in FLOATS) + (s in FLOATS)
    narrowing = floats == 2 and BYTES[d] < BYTES[s]
    if floats == 2 and d is T.TF32 and (s is not T.F32 or plain != Round.RNA):
        raise PtxRefused("conversion to .tf32 is `cvt.rna.tf32.f32`")
    if plain == Round.RNA and d is not T.TF32:
        raise PtxRefused(".rna needs .tf32")
    if integral >= 0 and (floats == 0 or (d in FLOATS and (s not in FLOATS or BYTES[d] != BYTES[s]))):
        raise PtxRefused("rounding to an integer needs a float source and an integer or equal destination")
    if plain >= 0 and not (narrowing or d is T.TF32 or (d in FLOATS and s not in FLOATS) or {d, s} == {T.F16, T.BF16}):
        raise PtxRefused("that rounding does not go with these types")
    if plain < 0 and (narrowing or (d in FLOATS and s not in FLOATS) or {d, s} == {T.F16, T.BF16}):
        raise PtxRefused("a rounding mode is expected")
    if integral < 0 and s in FLOATS and d not in FLOATS:
        raise PtxRefused("a rounding mode (.rni, .rzi, .rmi or .rpi) is expected")
    return int(max(plain, integral, 0)), int(integral >= 0 and d in FLOATS)


def _lower_cvt(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    if len(operands) != 2:
        expect(operands, 2)
    start = form.head
    d = body.dest(operands[0], form.dst)
    a = body.value(operands[1], form.srcs[0])
    if d != NONE:
        size = body.regs[operands[0]].bytes
        if size > BYTES[form.dst]:
            start = (*start[:6], size, *start[7:])
    body.code.append((*start, guard, d, 0, a, -1, -1, -1, 0, 0, 0))


def _cvt_pair(m: Mods, d: T, s: T) -> Form:
    """Two floats to a packed pair: `cvt.rn.f16x2.f32 d, high, low`."""
    if s is not T.F32:
        raise PtxRefused("packed halves are made of .f32")
    mod = m.one({"rn": Round.RN, "rz": Round.RZ}, -1)
    if mod < 0:
        raise PtxRefused("a rounding mode is expected")
    sub = int(m.flag("relu"))
    return Form(lower_simple, head("CVT2", sub=sub, ta=d, tb=s, mod=mod), d, (s, s))


def _cvt_eights(m: Mods, d: T, s: T) -> Form:
    """Pairs of 8-bit floats: `cvt.rn.satfinite.e4m3x2.f32 d, high, low`, from a pair of halves, or to one."""
    if not m.flag("rn"):
        raise PtxRefused("8-bit floats are rounded by .rn")
    if d in _EIGHTS and not m.flag("satfinite"):
        raise PtxRefused("a conversion to 8-bit floats needs .satfinite")
    mod = Mod.RELU if m.flag("relu") else 0
    if d in _EIGHTS and s is T.F32:
        return Form(lower_simple, head("CVT2", ta=d, tb=s, mod=mod), d, (s, s))
    if (d in _EIGHTS and s is T.F16X2) or d is T.F16X2:
        return Form(lower_simple, head("CVT", ta=d, tb=s, mod=mod), d, (s,))
    raise PtxRefused("8-bit floats are made of .f32 or .f16x2 and become .f16x2")


# --- address spaces


@decodes("cvta")
def _cvta(base: str, m: Mods) -> Form:
    back = m.flag("to")
    space = m.one(_SPACES)
    t = m.type(T.U64, T.U32)
    if t is not T.U64:
        raise PtxRefused("addresses are 64 bits wide")
    return Form(lower_simple, head("CVTA", sub=space, ta=t), t, (t,), imm=int(back))


@decodes("isspacep")
def _isspacep(base: str, m: Mods) -> Form:
    return Form(_lower_isspacep, head("ISSPACE", sub=m.one(_SPACES)))


def _lower_isspacep(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 2)
    body.emit(form.head, guard, body.dest_pred(operands[0]), 0, body.value(operands[1], T.U64))


@decodes("createpolicy")
def _createpolicy(base: str, m: Mods) -> Form:
    """A cache policy is opaque and changes no value: zero stands for it."""
    if not m.flag("fractional"):
        raise PtxRefused("only fractional policies are supported")
    m.drop(frozenset({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"}))
    m.type(T.B64)
    return Form(_lower_createpolicy, head("MOV", ta=T.B64))


def _lower_createpolicy(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 1, 2)
    body.emit(form.head, guard, body.dest(operands[0], T.B64))
