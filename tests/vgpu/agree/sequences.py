"""Random programs of lane bytecode: what hypothesis draws, and how it becomes a Program.

The instructions are those that the front end makes of the listed PTX forms, so every combination of operation, type and
modifier is one that PTX allows; their operands, guards and order are drawn. Around them stand branches, loops and
switches that always end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from warpsight.vgpu.bytecode import OP_NAMES, OPS, SPECIALS, TYPE_BYTES, Program, T
from warpsight.vgpu.definition.fragments import program
from warpsight.vgpu.ptx import load_ptx
from warpsight.vgpu.ptx.forms import kernel_of, listed_forms

Line = dict[str, Any]
WIDE_ROWS, DATA_ROWS, PREDICATES = 16, 24, 8
"""Rows 0 to 15 hold words and halves of 64-bit values, rows 16 to 23 hold 16-bit values, always zero-extended."""
COUNTER, MEMBERS, SELECTOR, ROWS = 24, 28, 30, 32
LOOP_PREDICATE, ALL_PREDICATES = 8, 16
DEPTH = 3
MASK, ONE, THREE = ~2, ~4, ~6
"""Constant rows of the running lanes' mask, of 1 and of 3; drawn ones follow."""
DRAWN_CONSTANTS = 8
_PURE = {"move", "int", "float", "special", "convert", "predicate", "warp"}
_MEMBERS = {"SHFL": "e", "VOTE": "b", "MATCH": "b", "REDUX": "b", "ELECT": "a", "WARPBAR": "a"}
_KEPT = ("sub", "ta", "tb", "mod", "width", "vec", "flags", "imm")


@cache
def legal() -> tuple[tuple[tuple[str, Any], ...], ...]:
    """Every different instruction on registers that the listed forms lower to, and the special registers."""
    found: dict[tuple[tuple[str, Any], ...], None] = {}
    for form in listed_forms():
        if form.startswith(("ld", "st", "atom", "red.", "wmma", "mma", "cp", "bar", "prefetch")):
            continue
        for record in load_ptx(kernel_of(form)).code:
            op = OP_NAMES[record["op"]]
            if OPS[op].mix in _PURE and op != "LEAFP":
                found[(("op", op), *((name, int(record[name])) for name in _KEPT))] = None
    specials = ((("op", "S2R"), ("sub", n), ("ta", int(T.U32))) for n in range(len(SPECIALS)))
    return (*found, *specials)


def _own_row(size: int) -> st.SearchStrategy[int]:
    low, high = (WIDE_ROWS, DATA_ROWS) if size == 2 else (0, WIDE_ROWS)
    return st.integers(low // 2, high // 2 - 1).map(lambda n: 2 * n)


def _row(size: int = 4) -> st.SearchStrategy[int]:
    if size == 2:
        return _own_row(size)
    return _own_row(size) | st.integers(0, DRAWN_CONSTANTS // 2 - 1).map(lambda n: ~(8 + 2 * n))


def _size(line: Line, letter: str, *, destination: bool = False) -> int:
    """Bytes of an operand's register: by its type, or as `vec` says for a conversion to a wider register."""
    if destination and line["op"] == "CVT" and line["vec"]:
        return line["vec"]
    of_type = {"R": line["ta"], "S": line.get("tb", 0)}.get(letter)
    return 4 if of_type is None else max(2, TYPE_BYTES.get(T(of_type), 4))


@st.composite
def instructions(draw: st.DrawFn, members: int = MASK) -> Line:
    """One instruction with its operands; operations of several lanes wait for the lanes of row `members`."""
    line: Line = dict(draw(st.sampled_from(legal())))
    destinations, sources = OPS[line["op"]].signature.split("=")
    for name, letter in zip(("d0", "d1"), destinations.replace("-", "UP"), strict=False):
        row = _own_row(_size(line, letter, destination=True))
        line[name] = draw(st.integers(0, PREDICATES - 1) if letter == "P" else row)
    for name, letter in zip("abce", sources, strict=False):
        line[name] = draw(st.integers(0, 2 * PREDICATES - 1) if letter == "P" else _row(_size(line, letter)))
    if line["op"] in _MEMBERS:
        line[_MEMBERS[line["op"]]] = members
    elif draw(st.integers(0, 3)) == 0:
        line["guard"] = draw(st.integers(2, 2 * PREDICATES - 1))
    if line["op"] == "LOP3":
        line["imm"] = draw(st.integers(0, 255))
    return line


@dataclass
class Text:
    """A program being written: jumps know where they stand, tables of switches are collected."""

    lines: list[Line] = field(default_factory=list[Line])
    tables: list[int] = field(default_factory=list[int])

    def put(self, op: str, **fields: Any) -> int:
        self.lines.append({"op": op, "ta": int(T.U32), **fields})
        return len(self.lines) - 1

    def land(self, jump: int) -> None:
        self.lines[jump]["target"] = len(self.lines)


@st.composite
def bodies(draw: st.DrawFn, text: Text, depth: int = 0) -> Text:
    """Straight instructions, and up to DEPTH levels of branches, loops, switches, and lanes that end early."""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("straight", "if", "loop", "switch", "end") if depth < DEPTH else ("straight",)))
        if kind == "if":
            _write_if(draw, text, depth)
        elif kind == "loop":
            _write_loop(draw, text, depth)
        elif kind == "switch":
            _write_switch(draw, text, depth)
        elif kind == "end":
            text.put("EXIT", guard=draw(st.integers(2, 2 * PREDICATES - 1)))
        for _ in range(draw(st.integers(1, 3))):
            _write_straight(draw, text)
    return text


def _write_straight(draw: st.DrawFn, text: Text) -> None:
    """Whoever is here together is the member mask of what they do together."""
    line = draw(instructions(members=MEMBERS))
    if line["op"] in _MEMBERS:
        text.put("ACTIVEMASK", d0=MEMBERS)
    text.lines.append(line)


def _write_if(draw: st.DrawFn, text: Text, depth: int) -> None:
    over = text.put("BRA", guard=draw(st.integers(2, 2 * PREDICATES - 1)))
    draw(bodies(text, depth + 1))
    end = text.put("BRA")
    text.land(over)
    if draw(st.booleans()):
        draw(bodies(text, depth + 1))
    text.land(end)


def _write_loop(draw: st.DrawFn, text: Text, depth: int) -> None:
    """Up to three times round, by the two lowest bits of a row: lanes leave one by one."""
    counter, again = COUNTER + depth, LOOP_PREDICATE + depth
    text.put("AND", d0=counter, a=draw(_row()), b=THREE)
    head = text.put("SETP", sub=1, d0=again, a=counter, b=~0)
    out = text.put("BRA", guard=2 * again + 1)
    draw(bodies(text, depth + 1))
    text.put("SUB", d0=counter, a=counter, b=ONE)
    text.put("BRA", target=head)
    text.land(out)


def _write_switch(draw: st.DrawFn, text: Text, depth: int) -> None:
    text.put("AND", d0=SELECTOR, a=draw(_row()), b=THREE)
    start = len(text.tables)
    text.put("BRX", a=SELECTOR, imm=start, target=4)
    text.tables += [0] * 4
    ends: list[int] = []
    for case in range(4):
        text.tables[start + case] = len(text.lines)
        draw(bodies(text, DEPTH))
        ends.append(text.put("BRA"))
    for end in ends:
        text.land(end)


def make(lines: Sequence[Line], mask: int, constants: Sequence[int], tables: Sequence[int] = ()) -> Program:
    consts = (0, 0, mask, 0, 1, 0, 3, 0, *constants)
    end: Line = {"op": "EXIT"}
    return program(*lines, end, rows=ROWS, preds=ALL_PREDICATES, consts=consts, tables=tables)
