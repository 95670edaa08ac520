"""Machine code to one Program: every instruction lowered in the order of its address, jumps resolved, banks laid out.

Calls of functions outside the kernel's text (vprintf, malloc, free, __assertfail) land on stubs behind it. Must stay
true: instruction order is address order, and exactly one bytecode instruction per machine instruction is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from warpsight.errors import UnsupportedInstruction, UsageError
from warpsight.nouns import SassInstruction
from warpsight.vgpu.bytecode import OPS, Atomic, Flag, Program, Relocation, Space, T
from warpsight.vgpu.sass import (
    lower_control,
    lower_convert,
    lower_float,
    lower_half,
    lower_integer,
    lower_logic,
    lower_memory,
    lower_tensor,
)
from warpsight.vgpu.sass.body import N_PREDS, SassBody
from warpsight.vgpu.sass.image import Image, read_image
from warpsight.vgpu.sass.read import SCHED, SassLine, read_line, schedule

FAMILIES = (
    lower_control,
    lower_convert,
    lower_float,
    lower_half,
    lower_integer,
    lower_logic,
    lower_memory,
    lower_tensor,
)
"""Imported for the operations they register."""

_FLOATS = (T.F32, T.F64, T.F16, T.BF16, T.F16X2, T.BF16X2)
STACK_SLACK = 64


def load_sass(instructions: Sequence[SassInstruction], cubin: bytes, entry: str) -> Program:
    """Kernel `entry` of a disassembled cubin as a Program; refuses, by text and line, what it does not know."""
    raws = _trimmed([i for i in instructions if i.function == entry])
    if not raws:
        names = ", ".join(dict.fromkeys(i.function for i in instructions)) or "none"
        raise UsageError(f"expected kernel `{entry}` in the machine code, found: {names}")
    image = read_image(cubin, entry)
    lines = [read_line(raw) for raw in raws]
    body = SassBody(image, _registers(raws))
    starts = dict[int, int]()
    for number, line in enumerate(lines):
        starts[line.address] = len(body.code)
        body.lower(number, line)
    stubs = _stubs(body, lines, starts)
    tables = _resolve(body, lines, starts)
    return _program(body, image, raws, stubs, tables)


def _trimmed(raws: list[SassInstruction]) -> list[SassInstruction]:
    """Without the padding behind the last jump."""
    while raws and raws[-1].text == "NOP":
        raws.pop()
    return raws


def _registers(raws: Sequence[SassInstruction]) -> int:
    """Rows for R0..: the highest one named, and what a wide operand of it reaches."""
    numbers = [int(n) for raw in raws for n in re.findall(r"(?<![A-Z])R(\d+)", raw.text)]
    return max(numbers, default=0) + 9


def _stubs(body: SassBody, lines: Sequence[SassLine], starts: dict[int, int]) -> dict[str, int]:
    """Code for outside functions; returns their addresses. Arguments lie in R4.., the way back in R20:R21."""
    address = lines[-1].address + 16
    found = dict[str, int]()
    body.n_rows = max(body.n_rows, 32)
    for place in body.image.addresses:
        if not place.is_function or place.symbol in found:
            continue
        if place.value >= 0:
            found[place.symbol] = place.value
            continue
        found[place.symbol] = address
        starts[address] = len(body.code)
        _stub(body, place.symbol)
        address += 16
    return found


def _stub(body: SassBody, name: str) -> None:
    if name == "vprintf":
        body.emit("PRINTF", hidden=True, d0=4, a=4, b=6)
    elif name == "malloc":
        body.emit("MALLOC", hidden=True, d0=4, a=4)
    elif name == "free":
        body.emit("FREE", hidden=True, a=4)
    elif name == "__assertfail":
        body.emit("ASSERTFAIL", hidden=True, list=body.new_list([4, 6, 8, 10, 12]))
    else:
        raise UnsupportedInstruction(
            f"call of {name}", hint="only vprintf, malloc, free and __assertfail are known outside the kernel"
        )
    row = body.temp()
    body.emit("SHR", hidden=True, ta=T.U32, d0=row, a=20, b=body.word(4))
    body.indirect.append(body.emit("BRX", hidden=True, a=row))


def _resolve(body: SassBody, lines: Sequence[SassLine], starts: dict[int, int]) -> list[int]:
    """Targets of jumps; the table of all addresses, for jumps through registers."""
    for index, address in body.jumps:
        if address not in starts:
            line = lines[body.owners[index]]
            raise UnsupportedInstruction(line.text, line=line.line, hint="the jump leaves the kernel's text")
        body.code[index]["target"] = starts[address]
    if not body.indirect:
        return []
    trap = body.emit("TRAP", hidden=True)
    table = [starts.get(address, trap) for address in range(0, max(starts) + 16, 16)]
    for index in body.indirect:
        body.code[index]["imm"], body.code[index]["target"] = 0, len(table)
    return table


def _program(
    body: SassBody, image: Image, raws: Sequence[SassInstruction], stubs: dict[str, int], tables: list[int]
) -> Program:
    relocations = list(image.relocations)
    for place in image.addresses:
        if place.is_function:
            body.constants.rows[body.address_row(place.offset)] = stubs[place.symbol]
        else:
            relocations.append(Relocation(place.symbol, place.addend, row=body.address_row(place.offset)))
    owners = body.owners
    code = body.records()
    if code["op"][-1] not in {OPS[n].number for n in ("EXIT", "BRA", "RET", "TRAP")}:
        body.emit("TRAP", hidden=True)
        code = body.records()
    sched = np.zeros(len(code), SCHED)
    sched[:] = schedule(list(raws))[owners]
    shared = -(-image.shared_bytes // 16) * 16
    return Program(
        entry=image.entry,
        code=code,
        lists=np.array(body.lists, np.int32),
        tables=np.array(tables, np.int32),
        consts=np.array(body.constants.rows, np.uint32),
        n_rows=body.n_rows,
        n_preds=N_PREDS,
        params=image.params,
        param_bytes=image.param_bytes,
        shared_bytes=shared,
        local_bytes=image.local_bytes,
        lines=np.array([raws[i].line or 0 for i in owners], np.int32),
        texts=tuple(raws[i].text for i in owners),
        symbols=image.symbols,
        relocations=tuple(relocations),
        const_data=bytes(body.const_data),
        uses_dynamic_shared=True,
        order_sensitive=_order_sensitive(code),
        sched=sched,
        isa="sass",
        bank0=tuple(sorted(body.bank0.items())),
        param_base=image.param_base,
    )


def _order_sensitive(code: np.ndarray) -> bool:
    """True if the outcome may depend on the order of blocks: atomics with a say, volatile accesses, the heap."""
    op, space, flags = code["op"], code["sub"], code["flags"]
    outside = (space == Space.GLOBAL) | (space == Space.GENERIC)
    atoms = (op == OPS["ATOM"].number) & outside
    telling = np.isin(code["ta"], [int(t) for t in _FLOATS]) | np.isin(code["tb"], [int(Atomic.EXCH), int(Atomic.CAS)])
    telling |= (flags & int(Flag.UNUSED_RESULT)) == 0
    volatile = np.isin(op, [OPS["LD"].number, OPS["ST"].number]) & outside & ((flags & int(Flag.VOLATILE)) != 0)
    return bool((atoms & telling).any() or volatile.any() or (op == OPS["MALLOC"].number).any())
