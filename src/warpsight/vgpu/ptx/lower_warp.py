"""Instructions that lanes run together: shuffles, votes, matches, reductions, barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import NONE, T
from warpsight.vgpu.ptx.decode import Form, Mods, PtxRefused, decodes, head
from warpsight.vgpu.ptx.lower_arith import expect

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody


def _need_sync(base: str, m: Mods) -> None:
    if not m.flag("sync"):
        raise PtxRefused(f"{base} without .sync does not exist from sm_70 on")


@decodes("shfl")
def _shfl(base: str, m: Mods) -> Form:
    _need_sync(base, m)
    sub = m.one({"up": 0, "down": 1, "bfly": 2, "idx": 3})
    m.type(T.B32)
    return Form(_lower_shfl, head("SHFL", sub=sub, ta=T.B32))


def _lower_shfl(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 5)
    d, p = body.row_and_pred(operands[0], T.B32)
    body.emit(form.head, guard, d, p, *(body.value(text, T.B32) for text in operands[1:]))


@decodes("vote")
def _vote(base: str, m: Mods) -> Form:
    _need_sync(base, m)
    sub = m.one({"all": 0, "any": 1, "uni": 2, "ballot": 3})
    m.type(T.B32 if sub == 3 else T.PRED)
    return Form(_lower_vote, head("VOTE", sub=sub))


def _lower_vote(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 3)
    ballot = form.head[1] == 3
    d = body.dest(operands[0], T.B32) if ballot else NONE
    p = 0 if ballot else body.dest_pred(operands[0])
    body.emit(form.head, guard, d, p, body.pred(operands[1]), body.value(operands[2], T.B32))


@decodes("match")
def _match(base: str, m: Mods) -> Form:
    _need_sync(base, m)
    sub = m.one({"any": 0, "all": 1})
    t = m.type(T.B32, T.B64)
    return Form(_lower_match, head("MATCH", sub=sub, ta=t), t)


def _lower_match(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 3)
    d, p = body.row_and_pred(operands[0], T.B32)
    body.emit(form.head, guard, d, p, body.value(operands[1], form.dst), body.value(operands[2], T.B32))


@decodes("redux")
def _redux(base: str, m: Mods) -> Form:
    _need_sync(base, m)
    sub = m.one({"add": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5})
    t = m.type(*((T.U32, T.S32) if sub < 3 else (T.B32,)))
    return Form(_lower_redux, head("REDUX", sub=sub, ta=t), t)


def _lower_redux(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 3)
    d = body.dest(operands[0], form.dst)
    body.emit(form.head, guard, d, 0, body.value(operands[1], form.dst), body.value(operands[2], T.B32))


@decodes("activemask")
def _activemask(base: str, m: Mods) -> Form:
    m.type(T.B32)
    return Form(_lower_activemask, head("ACTIVEMASK"))


def _lower_activemask(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 1)
    body.emit(form.head, guard, body.dest(operands[0], T.B32))


@decodes("elect")
def _elect(base: str, m: Mods) -> Form:
    _need_sync(base, m)
    return Form(_lower_elect, head("ELECT"))


def _lower_elect(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 2)
    d, p = body.row_and_pred(operands[0], T.B32)
    body.emit(form.head, guard, d, p, body.value(operands[1], T.B32))


@decodes("bar", "barrier")
def _bar(base: str, m: Mods) -> Form:
    if m.flag("warp"):
        _need_sync(base, m)
        return Form(_lower_warpbar, head("WARPBAR"))
    m.flag("cta")
    aligned = m.flag("aligned") or base == "bar"
    kind = m.one({"sync": 0, "arrive": 1, "red": 2})
    if kind == 2:
        kind = m.one({"popc": 2, "and": 3, "or": 4})
        m.type(T.U32 if kind == 2 else T.PRED)
    return Form(_lower_bar, head("BAR", sub=kind), imm=int(not aligned))


def _lower_warpbar(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 1)
    body.emit(form.head, guard, a=body.value(operands[0], T.B32))


def _lower_bar(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    kind, rest = form.head[1], list(operands)
    d, p, vote = NONE, 0, 0
    if kind >= 2:
        expect(operands, 3, 4)
        first, vote = rest.pop(0), body.pred(rest.pop())
        d, p = (body.dest(first, T.U32), 0) if kind == 2 else (NONE, body.dest_pred(first))
    expect(rest, *((2,) if kind == 1 else (1, 2)))
    barrier = body.value(rest[0], T.U32)
    count = body.value(rest[1], T.U32) if len(rest) > 1 else -1
    body.emit(form.head, guard, d, p, barrier, count, vote, imm=form.imm)
