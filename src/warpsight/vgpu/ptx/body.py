"""One function body to bytecode over virtual registers: scopes, names, operands, labels, lines, the frame.

A register of n rows takes n consecutive numbers; allocate.py turns numbers into rows later. Branch targets, list
offsets and frame sizes are relative to the function until link.py joins them. Exactly one emitted instruction per
PTX instruction is counted, the others are HIDDEN. Frame of a function: results and parameters, then local
variables, then saved rows; a callee's frame starts where the caller's ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import NONE, Flag, Space, T
from warpsight.vgpu.ptx import specials
from warpsight.vgpu.ptx.decode import BYTES, PtxRefused, decode, head
from warpsight.vgpu.ptx.immediate import bits, integer
from warpsight.vgpu.ptx.layout import WINDOWS, Layout, Place, align_up
from warpsight.vgpu.ptx.lines import LineMap
from warpsight.vgpu.ptx.names import Names, Reg, Slot
from warpsight.vgpu.ptx.parse import Function, PtxParameter, make_variable, parse_param, statements

_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^\s,]+")
_ADDRESS = re.compile(r"\[\s*([\w$%]+)\s*(?:(\+|-)\s*(-?\w+)\s*)?\]$")
_SYMBOL = re.compile(r"([A-Za-z_$%][\w$.]*)(?:([-+])(-?\w+))?$")
_LOCAL = re.compile(r"\.(local|shared)\s*(.*?)([\w$%]+)\s*((?:\[[^\]]*\]\s*)*)$", re.DOTALL)
_WIDEN = head("CVT", ta=T.U64, tb=T.U32, flags=Flag.HIDDEN)
_LEAFP = head("LEAFP", flags=Flag.HIDDEN)


class ListSpan(NamedTuple):
    start: int
    defined: int
    used: int


def param_offsets(results: Sequence[PtxParameter], params: Sequence[PtxParameter]) -> tuple[list[int], int]:
    """Offsets of results then parameters at the start of a callee's frame: 16-byte steps, so only sizes matter."""
    offsets, cursor = list[int](), 0
    for p in (*results, *params):
        offsets.append(cursor)
        cursor += align_up(p.size, 16)
    return offsets, cursor


class PtxBody:
    def __init__(self, layout: Layout, function: Function, lines: LineMap, *, recursive: bool = False) -> None:
        self.layout, self.function, self.recursive = layout, function, recursive
        self.constants = layout.constants
        self.line_map = lines
        self.line, self.text = 0, ""
        self.names = Names()
        self.regs, self.preds, self.slots = self.names.regs, self.names.preds, self.names.slots
        self.temp, self.temp_pred = self.names.temp, self.names.temp_pred
        self.kernel_params: dict[str, int] = {}
        self.code: list[tuple[int, ...]] = []
        self.lines: list[int] = []
        self.texts: list[str] = []
        self.lists: list[int] = []
        self.spans: dict[int, ListSpan] = {}
        self.carry = 0
        self.frame = 0
        self.out_bytes = 0
        self.outgoing: list[Slot] = []
        self.calls: list[tuple[int, str | None]] = []
        self.labels: list[dict[str, int]] = [{}]
        self.parents: list[int] = [0]
        self.scope = 0
        self.jumps: list[tuple[int, str, int]] = []
        self.targets: dict[tuple[int, str], list[str]] = {}
        self.prototypes: dict[tuple[int, str], str] = {}
        self.tables: list[tuple[int, str, int]] = []
        self.link = self.fp = -1
        self._last_label = ""
        self._set_up_frame()

    # --- registers, predicates, frame

    def _set_up_frame(self) -> None:
        f = self.function
        if f.is_entry:
            cursor = 0
            for p in f.params:
                cursor = align_up(cursor, p.align)
                self.kernel_params[p.name] = cursor
                cursor += p.size
            return
        offsets, self.frame = param_offsets(f.results, f.params)
        for p, offset in zip((*f.results, *f.params), offsets, strict=True):
            self.slots[p.name] = Slot(p.size, offset)
        self.link, self.fp = self.temp(8), self.temp(8)
        self.emit(_LEAFP, 0, self.fp)
        self._close_statement(0)

    def carry_pred(self) -> int:
        """The condition-code register CC.CF."""
        if not self.carry:
            self.carry = self.names.temp_pred()
        return self.carry

    # --- emission

    def emit(
        self, start: tuple[int, ...], guard: int, d0: int = NONE, d1: int = 0, a: int = -1, b: int = -1, c: int = -1,
        e: int = -1, lst: int = 0, target: int = 0, imm: int = 0,
    ) -> None:  # fmt: skip
        self.code.append((*start, guard, d0, d1, a, b, c, e, lst, target, imm))

    def new_list(self, rows: Sequence[int], defined: int) -> int:
        """Rows for the instruction emitted next; the first `defined` are destinations."""
        start = len(self.lists)
        self.lists.extend(rows)
        self.spans[len(self.code)] = ListSpan(start, defined, len(rows) - defined)
        return start

    # --- operands

    def dest(self, text: str, t: T) -> int:
        if text == "_":
            return NONE
        reg = self.regs.get(text)
        if reg is None:
            raise PtxRefused(f"`{text}` is not a declared register")
        if reg.bytes < BYTES[t]:
            raise PtxRefused(f"`{text}` is narrower than .{t.name.lower()}")
        return reg.id

    def value(self, text: str, t: T) -> int:
        reg = self.regs.get(text)
        if reg is None:
            return self._other_value(text, t)
        if reg.bytes < BYTES[t]:
            raise PtxRefused(f"`{text}` is narrower than .{t.name.lower()}")
        return reg.id

    def _other_value(self, text: str, t: T) -> int:
        literal = bits(text, t)
        if literal is not None:
            return self.constants.pair(literal) if BYTES[t] == 8 else self.constants.word(literal)
        if text[0] == "%" and text in specials.KNOWN:
            size = max(BYTES[t], 4)
            number = self.temp(size)
            specials.read(self, text, number, size, 0, hidden=True)
            return number
        return self.symbol_address(text, t)

    def pred(self, text: str) -> int:
        negated = text[0] == "!"
        name = text[1:].strip() if negated else text
        index = self.preds.get(name)
        if index is None:
            literal = integer(name)
            if literal is None:
                raise PtxRefused(f"`{name}` is not a declared predicate")
            return int((literal == 0) != negated)
        return 2 * index + negated

    def dest_pred(self, text: str) -> int:
        if text == "_":
            return 0
        index = self.preds.get(text)
        if index is None:
            raise PtxRefused(f"`{text}` is not a declared predicate")
        return index

    def row_and_pred(self, text: str, t: T) -> tuple[int, int]:
        """A destination `d|p`, either part may be `_` or the second absent."""
        row, _, flag = text.partition("|")
        return self.dest(row, t), self.dest_pred(flag) if flag else 0

    def vector(self, text: str) -> list[str]:
        return _OPERAND.findall(text[1:-1]) if text[0] == "{" else [text]

    def symbol_address(self, text: str, t: T) -> int:
        """The address of a variable or function, as a value of its own state space."""
        m = _SYMBOL.match(text)
        if m is None or BYTES[t] < 4:
            raise PtxRefused(f"operand `{text}` is not understood")
        name, addend = (
            self.layout.module.aliases.get(m[1], m[1]),
            (integer(m[3]) or 0 if m[3] else 0) * (-1 if m[2] == "-" else 1),
        )
        slot = self.slots.get(name)
        if slot is not None:
            if slot.outgoing:
                raise PtxRefused("the address of an outgoing parameter cannot be taken")
            number = self.temp(8)
            self.emit(_LEAFP, 0, number, imm=slot.offset + addend)
            return number
        if name in self.kernel_params:
            return self.constants.pair(self.kernel_params[name] + addend)
        if name in self.layout.function_index:
            return self.constants.pair(self.layout.function_address(name) + addend)
        place = self._find(name, text)
        if BYTES[t] == 4:
            if place.space is Space.GLOBAL:
                raise PtxRefused("a global address does not fit in 32 bits")
            return self.constants.word(place.offset + addend)
        return self.layout.address_operand(place, addend)

    def _find(self, name: str, text: str) -> Place:
        place = self.layout.find(name)
        if place is None:
            raise PtxRefused(f"`{text}` is neither a register, a literal nor a variable of this module")
        return place

    def address(self, text: str, space: Space) -> tuple[int, int]:
        """`[base + offset]` as (row operand, immediate) for an access in `space`."""
        m = _ADDRESS.match(text)
        if m is None:
            raise PtxRefused(f"address `{text}` is not understood")
        offset = (integer(m[3]) or 0 if m[3] else 0) * (-1 if m[2] == "-" else 1)
        reg = self.regs.get(m[1])
        if reg is not None:
            return (self._wide(reg) if reg.bytes == 4 and space is not Space.SHARED else reg.id), offset
        literal = integer(m[1])
        if literal is not None:
            return -1, literal + offset
        slot = self.slots.get(m[1])
        if slot is not None and not slot.outgoing:
            window = WINDOWS[Space.LOCAL] if space is Space.GENERIC else 0
            return self.fp, slot.offset + offset + window
        if m[1] in self.kernel_params:
            return -1, self.kernel_params[m[1]] + offset
        place = self._find(self.layout.module.aliases.get(m[1], m[1]), m[1])
        if space is not Space.GENERIC and space is not place.space:
            raise PtxRefused(f"`{m[1]}` lies in .{place.space.name.lower()}")
        if place.space is Space.GLOBAL:
            return self.layout.address_operand(place), offset
        return -1, place.offset + offset + (WINDOWS[place.space] if space is Space.GENERIC else 0)

    def _wide(self, reg: Reg) -> int:
        number = self.temp(8)
        self.emit(_WIDEN, 0, number, a=reg.id)
        return number

    def slot_of(self, text: str) -> tuple[Slot, int] | None:
        """The frame variable and offset that a .param access names, if it names one."""
        m = _ADDRESS.match(text)
        slot = self.slots.get(m[1]) if m else None
        if m is None or slot is None:
            return None
        return slot, (integer(m[3]) or 0 if m[3] else 0)

    # --- statements

    def lower(self) -> None:
        assert self.function.body is not None
        for m in statements(self.function.body):
            if m[4] is not None:
                self._instruction(m)
            elif m[6] is not None:
                self.line = self.line_map.locate(m[6])
            elif m[3] is not None:
                self.labels[self.scope][m[3]] = len(self.code)
                self._last_label = m[3]
            elif m[7] is not None:
                self._brace(m[7])
            elif m[8] is not None:
                self._directive(m[8].strip())
        self._finish()

    def _instruction(self, m: re.Match[str]) -> None:
        first = len(self.code)
        operands = m[5]
        self.text = " ".join(m[0].rstrip(";").split())
        try:
            guard = 0
            if m[2] is not None:
                guard = 2 * self.dest_pred(m[2]) + (m[1] == "!")
            if "|" in operands:
                operands = re.sub(r"\s*\|\s*", "|", operands)
            form = decode(m[4])
            form.lower(self, form, _OPERAND.findall(operands), guard)
        except PtxRefused as refusal:
            raise self.refusal(str(refusal)) from None
        self._close_statement(first)

    def _close_statement(self, first: int) -> None:
        n = len(self.code) - first
        if n == 1:
            self.lines.append(self.line)
            self.texts.append(self.text)
        else:
            self.lines.extend((self.line,) * n)
            self.texts.extend((self.text,) * n)

    def refusal(self, why: str) -> UnsupportedInstruction:
        where = f" (source line {self.line})" if self.line else ""
        return UnsupportedInstruction(
            self.text, self.line or None, f"the virtual GPU does not run `{self.text}`{where}: {why}",
            "write it with other instructions, or run this kernel on a real GPU",
        )  # fmt: skip

    def _brace(self, which: str) -> None:
        if which == "{":
            self.labels.append({})
            self.parents.append(self.scope)
            self.scope = len(self.labels) - 1
            self.names.open()
            return
        self.names.close()
        self.scope = self.parents[self.scope]

    def _directive(self, text: str) -> None:
        self.text = " ".join(text.split())
        word = text[1:].replace(".", " ").split(None, 1)[0]
        try:
            if word == "reg":
                self.names.declare_registers(text)
            elif word == "param":
                p = parse_param(text)
                slot = Slot(p.size, outgoing=True)
                self.outgoing.append(slot)
                self.names.add_slot(p.name, slot)
            elif word == "local":
                self._declare_local(text)
            elif word == "branchtargets":
                self.targets[self.scope, self._last_label] = [w.strip() for w in text.split(None, 1)[1].split(",")]
            elif word == "callprototype":
                self.prototypes[self.scope, self._last_label] = text
            elif word not in ("pragma", "shared", "calltargets"):
                raise PtxRefused(f"directive .{word} is not known")
        except PtxRefused as refusal:
            raise self.refusal(str(refusal)) from None

    def _declare_local(self, text: str) -> None:
        m = _LOCAL.match(text)
        if m is None:
            raise PtxRefused("expected a local variable")
        v = make_variable(m[3], "local", m[2], m[4], "")
        self.frame = align_up(self.frame, v.align)
        self.names.add_slot(v.name, Slot(v.size, self.frame))
        self.frame += v.size

    # --- names that are resolved at the end

    def lookup(self, table: dict[tuple[int, str], object] | None, name: str, scope: int) -> object:
        """A label (table None), branch list or prototype, seen from a scope outwards."""
        while True:
            if table is None and name in self.labels[scope]:
                return self.labels[scope][name]
            if table is not None and (scope, name) in table:
                return table[scope, name]
            if scope == 0:
                raise PtxRefused(f"label `{name}` is not defined")
            scope = self.parents[scope]

    def _finish(self) -> None:
        if not self.code or self._falls_off():
            self.text = "ret"
            decode("ret").lower(self, decode("ret"), (), 0)
            self._close_statement(len(self.code) - 1)

    def _falls_off(self) -> bool:
        return any(i == len(self.code) for labels in self.labels for i in labels.values()) or not self.texts[
            -1
        ].startswith(("ret", "exit", "bra", "trap"))
