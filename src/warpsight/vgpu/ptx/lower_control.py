"""Branches, calls and the end of threads. Calls to the CUDA run time (vprintf, malloc, free, assertions) become one
operation each.

A call leaves its arguments in the callee's frame, which starts where this function's ends; results are left there
too. Rows that are live across a call of a recursive function are saved in the frame (PUSH/POP), predicates with
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import Cmp, Space, T
from warpsight.vgpu.ptx.decode import BYTES, Form, Mods, PtxRefused, decodes, head
from warpsight.vgpu.ptx.lower_arith import HIDDEN, expect
from warpsight.vgpu.ptx.parse import Function, parse_params

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody
    from warpsight.vgpu.ptx.names import Slot


@decodes("bra")
def _bra(base: str, m: Mods) -> Form:
    m.flag("uni")
    return Form(_lower_bra, head("BRA"))


def _lower_bra(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    if len(operands) != 1:
        expect(operands, 1)
    body.jumps.append((len(body.code), operands[0], body.scope))
    body.emit(form.head, guard)


@decodes("brx")
def _brx(base: str, m: Mods) -> Form:
    if not m.flag("idx"):
        raise PtxRefused("brx is .idx only")
    m.flag("uni")
    return Form(_lower_brx, head("BRX"))


def _lower_brx(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 2)
    index = body.value(operands[0], T.U32)
    body.tables.append((len(body.code), operands[1], body.scope))
    body.emit(form.head, guard, a=index)


@decodes("exit", "ret")
def _end(base: str, m: Mods) -> Form:
    m.flag("uni")
    return Form(_lower_exit if base == "exit" else _lower_ret, head("EXIT"))


def _lower_exit(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 0)
    body.emit(form.head, guard)


def _lower_ret(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 0)
    if body.function.is_entry:
        body.emit(form.head, guard)
    else:
        body.emit(head("RET"), guard, a=body.link)


@decodes("trap", "brkpt", "pmevent", "griddepcontrol", "nanosleep")
def _thread(base: str, m: Mods) -> Form:
    if base == "nanosleep":
        m.type(T.U32)
        return Form(_lower_nanosleep, head("NANOSLEEP"))
    if base == "griddepcontrol":  # a launch depends on nothing here
        m.one({"wait": 1, "launch_dependents": 1})
    if base == "pmevent":
        m.flag("mask")
    # Without a debugger a breakpoint ends the kernel with an error, as a trap does.
    return Form(_lower_plain, head("TRAP" if base in ("trap", "brkpt") else "NOP"), imm=int(base == "pmevent"))


def _lower_plain(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, form.imm)
    body.emit(form.head, guard)


def _lower_nanosleep(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    expect(operands, 1)
    body.emit(form.head, guard, a=body.value(operands[0], T.U32))


# --- calls


@decodes("call")
def _call(base: str, m: Mods) -> Form:
    m.flag("uni")
    return Form(_lower_call)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.strip("()").split(",") if name.strip()]


def _lower_call(body: PtxBody, form: Form, operands: Sequence[str], guard: int) -> None:
    rest = list(operands)
    results = _names(rest.pop(0)) if rest and rest[0][0] == "(" else []
    if not rest:
        raise PtxRefused("a function to call is expected")
    callee = rest.pop(0)
    arguments = _names(rest.pop(0)) if rest and rest[0][0] == "(" else []
    slots = _outgoing_slots(body, results, arguments)
    name = body.layout.module.aliases.get(callee, callee)
    if callee in body.regs:
        _call_indirect(body, body.value(callee, T.U64), rest, slots, guard)
    elif (function := body.layout.module.functions.get(name)) is None:
        raise PtxRefused(f"function `{callee}` is not declared")
    elif function.body is not None:
        _check_sizes(function, slots)
        _emit_call(body, name, -1, guard)
    elif name in _BUILTINS:
        _call_builtin(body, name, slots[: len(results)], slots[len(results) :], guard)
    else:
        raise PtxRefused(f"function `{callee}` has no body in this module")


def _outgoing_slots(body: PtxBody, results: list[str], arguments: list[str]) -> list[Slot]:
    """The variables passed, each given its offset in the callee's frame."""
    slots, cursor = list["Slot"](), 0
    for name in (*results, *arguments):
        slot = body.slots.get(name)
        if slot is None or not slot.outgoing:
            raise PtxRefused(f"`{name}` is not a .param variable of this call")
        slot.offset = cursor
        cursor += -(-slot.size // 16) * 16
        slots.append(slot)
    body.out_bytes = max(body.out_bytes, cursor)
    return slots


def _check_sizes(function: Function, slots: list[Slot]) -> None:
    if [slot.size for slot in slots] != [p.size for p in (*function.results, *function.params)]:
        raise PtxRefused("arguments and formal parameters differ in size")


def _call_indirect(body: PtxBody, address: int, rest: list[str], slots: list[Slot], guard: int) -> None:
    if len(rest) != 1:
        raise PtxRefused("an indirect call needs a prototype")
    text = body.lookup(body.prototypes, rest[0], body.scope)  # type: ignore[arg-type]
    assert isinstance(text, str)
    groups = [text[i + 1 : text.index(")", i)] for i, ch in enumerate(text) if ch == "("]
    formal = [p for group in groups for p in parse_params(group)]
    if [slot.size for slot in slots] != [p.size for p in formal]:
        raise PtxRefused("arguments and prototype differ in size")
    _emit_call(body, None, address, guard)


def _emit_call(body: PtxBody, name: str | None, address: int, guard: int) -> None:
    """CALL or CALLX; in a recursive function between saves that link.py fills in once rows are known."""
    saved = list[tuple[int, int]]()
    if body.recursive:
        for p in sorted({*body.preds.values()}):
            row = body.temp()
            body.emit(head("P2R", flags=HIDDEN), 0, row, 0, 2 * p, imm=1)
            saved.append((p, row))
        body.emit(head("PUSH", flags=HIDDEN), guard)
    body.calls.append((len(body.code), name))
    body.emit(head("CALL" if name is not None else "CALLX"), guard, a=address)
    if body.recursive:
        body.emit(head("POP", flags=HIDDEN), guard)
    for p, row in saved:
        body.emit(head("SETP", sub=Cmp.NE, ta=T.B32, flags=HIDDEN), 0, p, 0, row, -1, 0)


# --- the CUDA run time

_BUILTINS: dict[str, tuple[str, tuple[T, ...], T | None]] = {
    "vprintf": ("PRINTF", (T.U64, T.U64), T.U32),
    "malloc": ("MALLOC", (T.U64,), T.U64),
    "free": ("FREE", (T.U64,), None),
    "__assertfail": ("ASSERTFAIL", (T.U64, T.U64, T.U32, T.U64, T.U64), None),
}


def _call_builtin(body: PtxBody, name: str, results: list[Slot], arguments: list[Slot], guard: int) -> None:
    op, types, result = _BUILTINS[name]
    if [s.size for s in arguments] != [BYTES[t] for t in types] or len(results) != (result is not None):
        raise PtxRefused(f"`{name}` has another signature")
    rows = list[int]()
    for slot, t in zip(arguments, types, strict=True):
        row = body.temp(BYTES[t])
        _frame_access(body, "LD", slot, row, t, guard)
        rows.append(row)
    if op == "ASSERTFAIL":
        lst = body.new_list(rows, 0)
        body.emit(head(op, vec=len(rows)), guard, lst=lst)
        return
    number = body.temp(BYTES[result]) if result is not None else -(2**31)
    body.emit(head(op), guard, number, 0, *rows)
    if result is not None:
        _frame_access(body, "ST", results[0], number, result, guard)


def _frame_access(body: PtxBody, op: str, slot: Slot, row: int, t: T, guard: int) -> None:
    slot.uses.append(len(body.code))
    lst = body.new_list([row], int(op == "LD"))
    start = head(op, sub=Space.LOCAL, ta=t, width=BYTES[t], vec=1, flags=HIDDEN)
    body.emit(start, guard, a=body.fp, lst=lst)
