"""Special registers: %tid and friends by S2R, clocks, and those that are fixed on a machine without clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpsight.vgpu.bytecode import SPECIALS, Flag, T
from warpsight.vgpu.ptx.decode import PtxRefused, head

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.body import PtxBody

_PLAIN: dict[str, int] = {f"%{name}": i for i, name in enumerate(SPECIALS)}
# A launch without clusters is a launch of clusters of one block.
_NUMBERS: dict[str, int] = {
    **_PLAIN,
    **{f"%clusterid.{x}": _PLAIN[f"%ctaid.{x}"] for x in "xyz"},
    **{f"%nclusterid.{x}": _PLAIN[f"%nctaid.{x}"] for x in "xyz"},
}
_FIXED: dict[str, int] = {
    **{f"%cluster_ctaid.{x}": 0 for x in "xyz"},
    **{f"%cluster_nctaid.{x}": 1 for x in "xyz"},
    "%cluster_ctarank": 0,
    "%cluster_nctarank": 1,
}
# The address of what the blocks of a cooperative launch meet at, in two halves; zero in other launches.
_WORKSPACE: dict[str, int] = {"%envreg2": 0, "%envreg1": 1}
_PAIRS = {"%globaltimer": ("%globaltimer_lo", "%globaltimer_hi")}
KNOWN = frozenset(_NUMBERS) | frozenset(_FIXED) | frozenset(_PAIRS) | frozenset(_WORKSPACE) | {"%clock64"}


def read(body: PtxBody, name: str, number: int, size: int, guard: int, *, hidden: bool = False) -> None:
    """Put special register `name` in register `number` of `size` bytes."""
    flags = Flag.HIDDEN if hidden else Flag(0)
    if name == "%clock64":
        if size != 8:
            raise PtxRefused("%clock64 takes a 64-bit register")
        body.emit(head("CLOCK", ta=T.U64, flags=flags), guard, number)
        return
    if name in _WORKSPACE:
        half = body.layout.workspace_operand() - _WORKSPACE[name]  # an operand is the number of its row, inverted
        body.emit(head("MOV", ta=T.B32, flags=flags), guard, number, a=half)
    elif name in _FIXED:
        body.emit(head("MOV", ta=T.B32, flags=flags), guard, number, a=body.constants.word(_FIXED[name]))
    else:
        low = _PAIRS[name][0] if name in _PAIRS else name
        body.emit(head("S2R", sub=_NUMBERS[low], flags=flags), guard, number)
    if size == 2:
        body.emit(head("AND", ta=T.B32, flags=Flag.HIDDEN), guard, number, a=number, b=body.constants.word(0xFFFF))
    if size == 8 and name in _PAIRS:
        body.emit(head("S2R", sub=_NUMBERS[_PAIRS[name][1]], flags=Flag.HIDDEN), guard, number + 1)
    elif size == 8:
        body.emit(head("MOV", ta=T.B32, flags=Flag.HIDDEN), guard, number + 1, a=-1)
