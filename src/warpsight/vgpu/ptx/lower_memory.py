"""Loads, stores, atomics, prefetches and asynchronous copies in every state space.

Cache and prefetch hints change no value and are dropped by name; orderings stronger than weak mark the access
VOLATILE. Parameters of device functions live in the frame (local memory), those of the kernel in the param space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import NONE, Atomic, Flag, Space, T
from warpsight.vgpu.ptx.decode import BYTES, Form, Mods, PtxRefused, decodes, head
from warpsight.vgpu.ptx.lower_arith import HIDDEN, expect

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

SPACES = {
    "global": Space.GLOBAL, "shared": Space.SHARED, "shared::cta": Space.SHARED, "shared::cluster": Space.SHARED,
    "local": Space.LOCAL,
    "const": Space.CONST, "param": Space.PARAM, "param::entry": Space.PARAM, "param::func": Space.PARAM,
}  # fmt: skip
_EVICTIONS = ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
HINTS = frozenset(
    [
        *("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified", "L2::64B", "L2::128B", "L2::256B"),
        *(f"{level}::{word}" for level in ("L1", "L2") for word in _EVICTIONS),
    ]
)
_SCOPES = frozenset(("cta", "cluster", "gpu", "sys"))
_STRONG = frozenset(("volatile", "relaxed", "acquire", "release", "mmio", "acq_rel"))
_MEMORY_TYPES = (
    T.B8, T.U8, T.S8, T.B16, T.U16, T.S16, T.B32, T.U32, T.S32, T.B64, T.U64, T.S64,
    T.F16, T.BF16, T.F16X2, T.BF16X2, T.F32, T.F64, T.B128,
)  # fmt: skip


def _ordering(m: Mods) -> int:
    """Flag.VOLATILE for every ordering but weak; the scope changes nothing in a machine with one memory."""
    strong = any(word in _STRONG for word in m.words)
    if strong:
        m.drop(_STRONG | _SCOPES)
    else:
        m.flag("weak")
    return int(Flag.VOLATILE) if strong else 0


@decodes("ld", "ldu")
def _ld(base: str, m: Mods) -> Form:
    return _access(m, "LD")


@decodes("st")
def _st(base: str, m: Mods) -> Form:
    return _access(m, "ST")


def _access(m: Mods, op: str) -> Form:
    space = m.one(SPACES, Space.GENERIC)
    flags = _ordering(m)
    policy = m.flag("L2::cache_hint")
    m.drop(HINTS)
    vec = m.one({"v2": 2, "v4": 4, "v8": 8}, 1)
    t = m.type(*_MEMORY_TYPES)
    function = _lower_ld if op == "LD" else _lower_st
    return Form(function, _memory_head(op, space, t, vec, flags), t, imm=vec, extra=(space, policy))


def _memory_head(op: str, space: int, t: T, vec: int, flags: int) -> tuple[int, ...]:
    if t is T.B128:
        t, vec = T.B64, 2 * vec
    return head(op, sub=space, ta=t, width=BYTES[t], vec=vec, flags=flags)


def _halves(rows: list[int], t: T) -> list[int]:
    return [row + half for row in rows for half in (0, 2)] if t is T.B128 else rows


def _place(body: PtxBody, form: Form, text: str) -> tuple[tuple[int, ...], int, int]:
    """Head, address row and offset of an access; .param goes to the kernel's parameters or to the frame."""
    start, space = form.head, form.extra[0]
    if space is not Space.PARAM:
        return start, *body.address(text, space)
    found = body.slot_of(text)
    if found is None and not body.function.is_entry:  # the address of a parameter of a device function is a local one
        return (start[0], int(Space.LOCAL), *start[2:]), *body.address(text, Space.LOCAL)
    if found is None:
        return start, *body.address(text, space)
    slot, offset = found
    start = (start[0], int(Space.LOCAL), *start[2:])
    if slot.outgoing:
        slot.uses.append(len(body.code))
        return start, body.fp, offset
    return start, body.fp, slot.offset + offset


def _lower_ld(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    if len(operands) != 2:
        expect(operands, 3 if form.extra[1] else 2)
    start, a, offset = _place(body, form, operands[1])
    names, t = body.vector(operands[0]), form.dst
    if len(names) != form.imm:
        raise PtxRefused(f"a vector of {form.imm} is expected")
    rows = _halves([body.dest(name, t) for name in names], t)
    wide = max((body.regs[name].bytes for name in names if name != "_"), default=0)
    if BYTES[t] < 4 <= wide or (BYTES[t] == 4 and wide == 8):
        start = (*start[:7], start[7] | (Flag.WIDE32 if wide == 4 else Flag.WIDE64), start[8])
    lst = body.new_list(rows, len(rows))
    body.code.append((*start, guard, NONE, 0, a, -1, -1, -1, lst, 0, offset))


def _lower_st(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    if len(operands) != 2:
        expect(operands, 3 if form.extra[1] else 2)
    names, t = body.vector(operands[1]), form.dst
    if len(names) != form.imm:
        raise PtxRefused(f"a vector of {form.imm} is expected")
    rows = _halves([body.value(name, t) for name in names], t)
    start, a, offset = _place(body, form, operands[0])
    lst = body.new_list(rows, 0)
    body.code.append((*start, guard, NONE, 0, a, -1, -1, -1, lst, 0, offset))


# --- atomics

_ATOMICS: dict[str, Atomic] = {a.name.lower(): a for a in Atomic}
_ATOMIC_TYPES: dict[Atomic, tuple[T, ...]] = {
    Atomic.ADD: (T.U32, T.S32, T.U64, T.S64, T.F32, T.F64, T.F16, T.BF16, T.F16X2, T.BF16X2),
    Atomic.MIN: (T.U32, T.S32, T.U64, T.S64), Atomic.MAX: (T.U32, T.S32, T.U64, T.S64),
    Atomic.AND: (T.B32, T.B64), Atomic.OR: (T.B32, T.B64), Atomic.XOR: (T.B32, T.B64),
    Atomic.EXCH: (T.B32, T.B64), Atomic.CAS: (T.B16, T.B32, T.B64), Atomic.INC: (T.U32,), Atomic.DEC: (T.U32,),
}  # fmt: skip
_ATOMIC_TYPES[Atomic.EXCH] += (T.U32, T.S32, T.U64, T.F32)
_ATOMIC_TYPES[Atomic.CAS] += (T.U32, T.S32, T.U64)
FLOAT_ATOMICS = frozenset((T.F32, T.F64, T.F16, T.BF16, T.F16X2, T.BF16X2))


@decodes("atom", "red")
def _atom(base: str, m: Mods) -> Form:
    space = m.one({k: v for k, v in SPACES.items() if v in (Space.GLOBAL, Space.SHARED)}, Space.GENERIC)
    ordered = any(m.flag(word) for word in ("acquire", "release", "acq_rel"))
    m.drop(_SCOPES | {"relaxed"})
    policy = m.flag("L2::cache_hint")
    op = m.one(_ATOMICS)
    m.flag("noftz")  # our half-precision additions never flush
    vec = m.one({"v2": 2, "v4": 4, "v8": 8}, 1)
    t = m.type(*_ATOMIC_TYPES[op])
    if base == "red" and op in (Atomic.EXCH, Atomic.CAS):
        raise PtxRefused("red has no such operation")
    flags = (Flag.UNUSED_RESULT if base == "red" else 0) | (Flag.VOLATILE if ordered else 0)
    start = head("ATOM", sub=space, ta=t, tb=op, width=BYTES[t], vec=1, flags=flags)
    return Form(_lower_atom, start, t, imm=vec, extra=(space, policy, base == "atom", op is Atomic.CAS))


def _lower_atom(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    space, policy, has_result, has_compare = form.extra
    expect(operands, 2 + has_result + has_compare + policy, 2 + has_result + has_compare)
    t, size = form.dst, BYTES[form.dst]
    results = body.vector(operands[0]) if has_result else ["_"] * form.imm
    first = int(has_result)
    where, value = operands[first], body.vector(operands[first + 1])
    if len(results) != form.imm or len(value) != form.imm:
        raise PtxRefused(f"a vector of {form.imm} is expected")
    a, offset = body.address(where, space)
    c = body.value(operands[first + 2], t) if has_compare else -1
    for i, (result, text) in enumerate(zip(results, value, strict=True)):
        start = form.head if i == 0 else (*form.head[:7], form.head[7] | HIDDEN, 0)
        body.emit(start, guard, body.dest(result, t), 0, a, body.value(text, t), c, imm=offset + i * size)


# --- hints, fences, asynchronous copies


@decodes("prefetch", "prefetchu", "applypriority")
def _prefetch(base: str, m: Mods) -> Form:
    space = m.one(
        {"global": Space.GLOBAL, "local": Space.LOCAL, "const": Space.CONST, "param": Space.PARAM}, Space.GENERIC
    )
    m.drop(HINTS | {"L1", "L2"})
    return Form(_lower_prefetch, head("PREFETCH", sub=space), imm=2 if base == "applypriority" else 1, extra=space)


def _lower_prefetch(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, form.imm)
    a, offset = body.address(operands[0], form.extra)
    body.emit(form.head, guard, a=a, imm=offset)


DISCARDED = 0xBAD0C0DE
"""What a discarded word holds here: on a GPU anything at all, so nobody may read it before it is written again."""


@decodes("discard")
def _discard(base: str, m: Mods) -> Form:
    space = m.one({"global": Space.GLOBAL}, Space.GENERIC)
    m.drop(frozenset({"L2"}))
    return Form(_lower_discard, _memory_head("ST", space, T.B32, 4, 0), T.B32, extra=space)


def _lower_discard(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 2)
    a, offset = body.address(operands[0], form.extra)
    for at in range(0, int(operands[1]), 16):
        start = form.head if at == 0 else (*form.head[:7], form.head[7] | HIDDEN, form.head[8])
        lst = body.new_list([body.value(str(DISCARDED), T.B32)] * 4, 0)
        body.code.append((*start, guard, NONE, 0, a, -1, -1, -1, lst, 0, offset + at))


@decodes("cp")
def _cp(base: str, m: Mods) -> Form:
    if not m.flag("async") or "bulk" in m.words or "mbarrier" in m.words:
        raise PtxRefused("of the copies only cp.async is supported")
    if m.flag("commit_group"):
        return Form(_lower_bare, head("CPCOMMIT"))
    if m.flag("wait_all"):
        return Form(_lower_bare, head("CPWAIT"), imm=-1)
    if m.flag("wait_group"):
        return Form(_lower_wait_group, head("CPWAIT"))
    if not (m.one({"ca": 1, "cg": 2}) and m.one({"shared": 1, "shared::cta": 1}) and m.flag("global")):
        raise PtxRefused("cp.async copies from .global to .shared")
    policy = m.flag("L2::cache_hint")
    m.drop(frozenset({"L2::64B", "L2::128B", "L2::256B"}))
    return Form(_lower_cp, head("CPASYNC"), extra=policy)


def _lower_bare(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 0)
    body.emit(form.head, guard, imm=form.imm)


def _lower_wait_group(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 1)
    body.emit(form.head, guard, imm=_literal(body, operands[0]))


def _literal(body: PtxBody, text: str) -> int:
    operand = body.value(text, T.U32)
    if operand >= 0:
        raise PtxRefused(f"`{text}` must be a literal")
    return body.constants.rows[~operand]


def _lower_cp(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    policy = form.extra
    expect(operands, *((4, 5) if policy else (3, 4)))
    size = _literal(body, operands[2])
    if size not in (4, 8, 16):
        raise PtxRefused("cp.async copies 4, 8 or 16 bytes")
    shared, shared_offset = body.address(operands[0], Space.SHARED)
    source, offset = body.address(operands[1], Space.GLOBAL)
    full, limit = body.constants.word(size), operands[3 : len(operands) - policy]
    count = full
    if limit and limit[0].lstrip("!").strip() in body.preds:  # ignore-src: true writes zeros
        count = body.temp()
        body.emit(head("SEL", ta=T.B32, flags=HIDDEN), 0, count, 0, -1, full, body.pred(limit[0]))
    elif limit:
        count = body.value(limit[0], T.U32)
    start = (*form.head[:5], size, *form.head[6:])
    body.emit(start, guard, a=shared, b=source, c=count, target=shared_offset, imm=offset)


@decodes("membar", "fence")
def _fence(base: str, m: Mods) -> Form:
    if m.flag("proxy"):  # one memory, no proxies: an ordinary fence orders everything
        m.one({"alias": 1, "async": 1, "async::generic": 1})
        m.drop(frozenset({"global", "shared::cta", "shared::cluster"}) | _SCOPES)
        return Form(_lower_bare, head("FENCE", sub=2))
    m.drop(frozenset({"sc", "acq_rel", "acquire", "release"}))
    return Form(_lower_bare, head("FENCE", sub=m.one({"cta": 0, "cluster": 1, "gl": 1, "gpu": 1, "sys": 2})))
