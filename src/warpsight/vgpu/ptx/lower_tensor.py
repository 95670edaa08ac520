"""Tensor-core instructions: mma.sync, ldmatrix and wmma. Fragments become lists of rows in PTX's order: D, A, B, C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import Space, T
from warpsight.vgpu.ptx.decode import BYTES, Form, Mods, PtxRefused, decodes, head
from warpsight.vgpu.ptx.lower_arith import HIDDEN, expect
from warpsight.vgpu.ptx.lower_memory import SPACES

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

SHAPES = {"m16n8k16": 0, "m16n8k8": 1, "m8n8k4": 2, "m16n8k32": 3, "m16n8k4": 4, "m8n8k16": 5}
WMMA_SHAPES = {"m16n16k16": 6, "m32n8k16": 7, "m8n32k16": 8, "m16n16k8": 9, "m8n8k4": 10}
_DIMS = {
    name: tuple(int(x) for x in name[1:].replace("n", " ").replace("k", " ").split()) for name in SHAPES | WMMA_SHAPES
}
_HALF, _BYTE = frozenset((T.F16, T.BF16)), frozenset((T.S8, T.U8))
_ALLOWED: dict[str, frozenset[T]] = {
    "m16n8k16": _HALF | _BYTE, "m16n8k8": _HALF | {T.TF32}, "m8n8k4": frozenset((T.F64,)), "m16n8k32": _BYTE,
    "m16n8k4": frozenset((T.TF32,)), "m8n8k16": _BYTE,
    "m16n16k16": _HALF | _BYTE, "m32n8k16": _HALF | _BYTE, "m8n32k16": _HALF | _BYTE, "m16n16k8": frozenset((T.TF32,)),
}  # fmt: skip
_ACCUMULATORS = {
    T.F16: (T.F16, T.F32),
    T.BF16: (T.F32,),
    T.TF32: (T.F32,),
    T.S8: (T.S32,),
    T.U8: (T.S32,),
    T.F64: (T.F64,),
}
_ROW_BITS = {T.F64: 64}


def _rows(elements: int, t: T, lanes: int = 32) -> int:
    """Registers of a fragment: 32 bits each (64 for f64), 16-bit and 8-bit elements packed."""
    size = BYTES[t]
    return elements // lanes if size >= 4 else elements * size // (4 * lanes)


def _register_type(t: T) -> T:
    return T.F64 if t is T.F64 else T.B32


@decodes("mma")
def _mma(base: str, m: Mods) -> Form:
    if not m.flag("sync"):
        raise PtxRefused("mma is .sync only")
    m.flag("aligned")
    shape = next((word for word in m.words if word in SHAPES), "")
    number = m.one(SHAPES, -1)
    if number < 0 or not m.flag("row") or not m.flag("col"):
        raise PtxRefused("a shape and layouts .row.col are expected")
    types, sat = m.types(), m.flag("satfinite")
    if len(types) != 4:
        raise PtxRefused("four types are expected")
    d, a, b, c = types
    _check(shape, d, a, b, c)
    if d is T.F64:
        m.flag("rn")
    mm, nn, kk = _DIMS[shape]
    counts = (_rows(mm * nn, d), _rows(mm * kk, a), _rows(kk * nn, b), _rows(mm * nn, c))
    return _mma_form(number, (d, a, b, c), counts, sat)


def _check(shape: str, d: T, a: T, b: T, c: T) -> None:
    mixed = a is not b and not {a, b} <= _BYTE
    if mixed or a not in _ALLOWED[shape] or d not in _ACCUMULATORS[a] or c not in _ACCUMULATORS[a]:
        raise PtxRefused(f"types .{d.name}.{a.name}.{b.name}.{c.name} do not go with .{shape}".lower())


def _mma_form(shape: int, types: tuple[T, T, T, T], counts: tuple[int, ...], sat: bool) -> Form:
    d, a, b, c = types
    start = head("MMA", sub=shape, ta=a, tb=c, width=d if d is not c else 0, vec=sum(counts))
    return Form(
        _lower_mma,
        start,
        _register_type(d),
        (_register_type(a), _register_type(b), _register_type(c)),
        int(sat),
        (counts, b),
    )


def _lower_mma(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 4)
    counts, type_b = form.extra
    rows = list[int]()
    for i, (text, count) in enumerate(zip(operands, counts, strict=True)):
        names = body.vector(text)
        if len(names) != count:
            raise PtxRefused(f"operand {i + 1} has {len(names)} registers, {count} are expected")
        rows += [body.value(name, form.srcs[i - 1]) if i else body.dest(name, form.dst) for name in names]
    lst = body.new_list(rows, counts[0])
    body.emit(form.head, guard, e=int(type_b), lst=lst, imm=form.imm)


@decodes("ldmatrix")
def _ldmatrix(base: str, m: Mods) -> Form:
    if not (m.flag("sync") and m.flag("m8n8")):
        raise PtxRefused("ldmatrix is .sync.aligned.m8n8")
    m.flag("aligned")
    vec = m.one({"x1": 1, "x2": 2, "x4": 4})
    sub = int(m.flag("trans"))
    m.one({"shared": 1, "shared::cta": 1}, 1)
    m.type(T.B16)
    return Form(_lower_ldmatrix, head("LDMATRIX", sub=sub, ta=T.B16, width=2, vec=vec), imm=vec)


def _lower_ldmatrix(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 2)
    names = body.vector(operands[0])
    if len(names) != form.imm:
        raise PtxRefused(f"a vector of {form.imm} is expected")
    a, offset = body.address(operands[1], Space.SHARED)
    lst = body.new_list([body.dest(name, T.B32) for name in names], form.imm)
    body.emit(form.head, guard, a=a, lst=lst, imm=offset)


# --- wmma


@decodes("wmma")
def _wmma(base: str, m: Mods) -> Form:
    kind = m.one({"load": 1, "store": 2, "mma": 3})
    if not m.flag("sync"):
        raise PtxRefused("wmma is .sync only")
    m.flag("aligned")
    shape = next((word for word in m.words if word in WMMA_SHAPES), "")
    number = m.one(WMMA_SHAPES, -1)
    if number < 0:
        raise PtxRefused("that shape is not supported")
    return _wmma_mma(m, shape, number) if kind == 3 else _wmma_access(m, shape, number, load=kind == 1)


def _wmma_mma(m: Mods, shape: str, number: int) -> Form:
    layouts = [word for word in m.words if word in ("row", "col")]
    if len(layouts) != 2:
        raise PtxRefused("two layouts are expected")
    m.drop(frozenset({"row", "col"}))  # our fragments are stored alike for both layouts
    types, sat = m.types(), m.flag("satfinite")
    if len(types) == 2:
        types = [types[0], T.F16, T.F16, types[1]]
    if len(types) != 4:
        raise PtxRefused("two or four types are expected")
    d, a, b, c = types
    _check(shape, d, a, b, c)
    if d is T.F64:
        m.flag("rn")
    counts = (_fragment(shape, "d", d), _fragment(shape, "a", a), _fragment(shape, "b", b), _fragment(shape, "c", c))
    return _mma_form(number, (d, a, b, c), counts, sat)


def _fragment(shape: str, which: str, t: T) -> int:
    """Registers of a wmma fragment; f16 ones hold every element twice (PTX fixes eight registers for a and b)."""
    mm, nn, kk = _DIMS[shape]
    if t is T.F16 and which in "ab":
        return 8
    return _rows({"a": mm * kk, "b": kk * nn}.get(which, mm * nn), t)


def _wmma_access(m: Mods, shape: str, number: int, *, load: bool) -> Form:
    which = next((w for w in ("a", "b", "c", "d") if m.flag(w)), "")
    if which not in (("a", "b", "c") if load else ("d",)):
        raise PtxRefused("a fragment is expected")
    column = m.one({"row": 0, "col": 1})
    space = m.one(SPACES, Space.GENERIC)
    t = m.type(T.F16, T.BF16, T.TF32, T.S8, T.U8, T.F32, T.S32, T.F64)
    if (which in "ab" and t not in _ALLOWED.get(shape, frozenset())) or (
        which in "cd" and t not in (T.F16, T.F32, T.S32, T.F64)
    ):
        raise PtxRefused(f"type .{t.name.lower()} does not go with .{shape}")
    count = _fragment(shape, which, t)
    mm, nn, kk = _DIMS[shape]
    tall = {"a": mm, "b": kk}.get(which, mm)
    wide = {"a": kk, "b": nn}.get(which, nn)
    sub = {"a": 0, "b": 1}.get(which, 2)
    start = head("WMMALD" if load else "WMMAST", sub=sub, ta=t, width=space, vec=count)
    return Form(
        _lower_wmma_access,
        start,
        _register_type(t),
        imm=column,
        extra=(space, number, count, load, tall if column else wide),
    )


def _lower_wmma_access(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    space, shape, count, load, leading = form.extra
    expect(operands, 2, 3)
    names = body.vector(operands[0 if load else 1])
    if len(names) != count:
        raise PtxRefused(f"a vector of {count} is expected")
    a, offset = body.address(operands[1 if load else 0], space)
    if offset:
        a = _added(body, a, offset, space)
    stride = body.value(operands[2], T.U32) if len(operands) > 2 else body.constants.word(leading)
    rows = [body.dest(name, form.dst) if load else body.value(name, form.dst) for name in names]
    lst = body.new_list(rows, count if load else 0)
    body.emit(form.head, guard, a=a, b=stride, lst=lst, target=shape, imm=form.imm)


def _added(body: PtxBody, a: int, offset: int, space: Space) -> int:
    t = T.U32 if space is Space.SHARED else T.U64
    row = body.temp(8)
    constant = body.constants.word(offset & 0xFFFFFFFF) if t is T.U32 else body.constants.pair(offset & (2**64 - 1))
    body.emit(head("ADD", ta=t, flags=HIDDEN), 0, row, 0, a, constant)
    return row
