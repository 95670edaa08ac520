"""The names of a function body: registers, predicates, frame variables, and the scopes that hide them.

A register of n rows takes n consecutive numbers. Inside a block `{ ... }` a name may hide an outer one; the outer
comes back at the brace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from warpsight.vgpu.ptx.decode import PtxRefused
from warpsight.vgpu.ptx.parse import SIZES

_REGISTERS = re.compile(r"\.reg\s*\.(\w+)\s+(.*)$", re.DOTALL)
_RANGE = re.compile(r"([\w$%]+)<(\d+)>$")
_ROWS = {1: 1, 2: 1, 4: 1, 8: 2, 16: 4}
MOST_REGISTERS = 1 << 20  # of one function; a text of one line can ask for any number


class Reg(NamedTuple):
    """A declared register: first number, and how many bytes it holds."""

    id: int
    bytes: int


@dataclass
class Slot:
    """A variable of the frame. Outgoing parameters learn their offset at the call; `uses` are what to patch then."""

    size: int
    offset: int = 0
    outgoing: bool = False
    uses: list[int] = field(default_factory=list[int])


Hidden = tuple[str, Reg | None, int | None, Slot | None]


class Names:
    """`reg_rows[i]`: rows of the register that starts at number i, 0 inside one. Predicate 0 is true."""

    def __init__(self) -> None:
        self.regs: dict[str, Reg] = {}
        self.preds: dict[str, int] = {}
        self.slots: dict[str, Slot] = {}
        self.reg_rows: list[int] = []
        self.n_preds = 1
        self._hidden: list[list[Hidden]] = []

    def temp(self, size: int = 4) -> int:
        """A fresh register of the front end's own."""
        number, rows = len(self.reg_rows), _ROWS[size]
        self.reg_rows.append(rows)
        self.reg_rows.extend((0,) * (rows - 1))
        return number

    def temp_pred(self) -> int:
        self.n_preds += 1
        return self.n_preds - 1

    def open(self) -> None:
        self._hidden.append([])

    def close(self) -> None:
        for name, reg, pred, slot in reversed(self._hidden.pop()):
            self._forget(name)
            if reg is not None:
                self.regs[name] = reg
            if pred is not None:
                self.preds[name] = pred
            if slot is not None:
                self.slots[name] = slot

    def _forget(self, name: str) -> Hidden:
        return name, self.regs.pop(name, None), self.preds.pop(name, None), self.slots.pop(name, None)

    def _hide(self, name: str) -> None:
        hidden = self._forget(name)
        if self._hidden:
            self._hidden[-1].append(hidden)

    def add_slot(self, name: str, slot: Slot) -> None:
        self._hide(name)
        self.slots[name] = slot

    def declare_registers(self, text: str) -> None:
        """`.reg .b32 %r<10>, x;`"""
        m = _REGISTERS.match(text)
        if m is None or (m[1] != "pred" and m[1] not in SIZES):
            raise PtxRefused("expected a register declaration")
        for name in m[2].split(","):
            name = name.strip()
            if r := _RANGE.match(name):
                self._declare_range(r[1], int(r[2]), m[1])
            else:
                self._declare(name, m[1])

    def _declare(self, name: str, kind: str) -> None:
        self._hide(name)
        if kind == "pred":
            self.preds[name] = self.temp_pred()
        else:
            self.regs[name] = Reg(self.temp(SIZES[kind]), SIZES[kind])

    def _declare_range(self, prefix: str, count: int, kind: str) -> None:
        if len(self.reg_rows) + self.n_preds + count * _ROWS[16] > MOST_REGISTERS:
            raise PtxRefused(f"expected at most {MOST_REGISTERS} registers in a function")
        if self._hidden or kind == "pred":
            for i in range(count):
                self._declare(f"{prefix}{i}", kind)
            return
        # The function's own registers: thousands, so all at once.
        first, size = len(self.reg_rows), SIZES[kind]
        rows = _ROWS[size]
        self.reg_rows.extend((rows, *(0,) * (rows - 1)) * count)
        self.regs.update({f"{prefix}{i}": Reg(first + i * rows, size) for i in range(count)})
