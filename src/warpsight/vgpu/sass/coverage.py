"""Which forms of machine instructions the front end knows: each is given plausible operands and lowered.

A form is the operation with its modifiers, such as `ISETP.GE.U32.AND.EX`. Known means lowered without refusal; that the
meaning is right is what the tests against PTX show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from warpsight.errors import UnsupportedInstruction
from warpsight.nouns import SassInstruction
from warpsight.vgpu.bytecode import Param
from warpsight.vgpu.sass.body import SassBody
from warpsight.vgpu.sass.image import Address, Image
from warpsight.vgpu.sass.link import FAMILIES as FAMILIES  # registers every operation
from warpsight.vgpu.sass.read import read_line

_FIXED = {
    "NOP": "",
    "YIELD": "",
    "EXIT": "",
    "ERRBAR": "",
    "MEMBAR": "",
    "LDGDEPBAR": "",
    "ENDCOLLECTIVE": "",
    "BPT": "0x1",
    "CCTL": "[R2.64]",
    "BSSY": "B0, 0x10",
    "BSYNC": "B0",
    "BREAK": "B0",
    "BMOV": "R4, B0",
    "WARPSYNC": "R4",
    "NANOSLEEP": "0x20",
    "CALL": "0x10",
    "RET": "R4 0x0",
    "BRX": "R4 -0x10",
    "BRXU": "UR4 -0x10",
    "LEPC": "R4",
    "S2R": "R4, SR_TID.X",
    "S2UR": "UR4, SR_CTAID.X",
    "CS2R": "R4, SRZ",
    "B2R": "R4, P0",
    "P2R": "R4, PR, RZ, 0x1",
    "R2P": "PR, R4, 0x3",
    "R2UR": "UR4, R4",
    "VOTE": "R4, PT, P0",
    "VOTEU": "UR4, UPT, P0",
    "REDUX": "UR4, R4",
    "SHFL": "PT, R4, R5, 0x1, 0x1f",
    "MATCH": "R4, R6",
    "BAR": "0x0, P0",
    "DEPBAR": "SB0, 0x1",
    "QSPC": "P0, RZ, [R4]",
    "LDC": "R4, c[0x3][R6]",
    "ULDC": "UR4, c[0x0][0x160]",
    "LDSM": "R4, [R8]",
    "LDGSTS": "[R4], [R6.64]",
    "PLOP3": "P0, PT, P1, P2, PT, 0x80, 0x0",
    "UPLOP3": "UP0, UPT, UP1, UP2, UPT, 0x80, 0x0",
    "FCHK": "P0, R4, R5",
    "LOP3": "R4, R5, R6, R7, 0x96, !PT",
    "ULOP3": "UR4, UR5, UR6, UR7, 0x96, !UPT",
    "SEL": "R4, R5, R6, P0",
    "USEL": "UR4, UR5, UR6, UP0",
    "FSEL": "R4, R5, R6, P0",
    "PRMT": "R4, R5, 0x5410, R6",
    "UPRMT": "UR4, UR5, 0x5410, UR6",
    "HMMA": "R4, R8, R12, R16",
    "IMMA": "R4, R8.ROW, R12.COL, R16",
    "DMMA": "R4, R8, R10, R12",
    "FSET": "R4, R5, R6, PT",
    "HSET2": "R4, R5, R6, PT",
    "VIADDMNMX": "R4, R5, R6, R7, !PT",
}
_F2FP = {
    "UNPACK_B": "R4, R5",
    "MERGE_C": "R4, R5, RZ",
    "UNPACK_B_MERGE_C": "R4, R5, R6",
    "PACK_AB_MERGE_C": "R4, R5, R6, R7",
}
_TWO = ("MOV", "POPC", "BREV", "FLO", "IABS", "I2F", "I2FP", "F2I", "F2F", "FRND", "MUFU", "I2I")
_COMPARES = ("ISETP", "FSETP", "DSETP", "HSETP2")
_EXTREMES = ("IMNMX", "FMNMX", "HMNMX2", "VIMNMX")


def _operands(form: str) -> str:
    op, *mods = form.split(".")
    plain, r = (op[1:], "UR") if op[0] == "U" and op not in _FIXED else (op, "R")
    p = "UP" if r == "UR" else "P"
    if op == "BRA":
        return "UR4, 0x10" if mods and mods[0] in ("DIV", "CONV") else "0x10"
    if op == "BMOV":
        return "R4, B0"
    if op == "F2FP":
        return next((_F2FP[m] for m in mods if m in _F2FP), "R4, R5, R6")
    if op in _FIXED:
        return _FIXED[op]
    if plain in _TWO:
        return f"{r}4, {r}6"
    if plain in _COMPARES:
        return f"{p}0, {p}T, {r}4, {r}6, {p}T" + (f", {p}1" if "EX" in mods else "")
    if plain in _EXTREMES:
        return f"{r}4, {r}5, {r}6, !{p}T"
    if plain == "LEA":
        high = f"{r}6, " if "HI" in mods and "SX32" not in mods else ""
        return f"{r}4, {r}5, {r}7, {high}0x2" + (f", {p}0" if "X" in mods else "")
    if op.startswith(("LD", "ST", "ATOM", "RED")):
        return _memory_operands(op, mods)
    carry = f", {p}0" + (f", !{p}T" if plain == "IADD3" else "") if "X" in mods else ""
    three = plain in ("IADD3", "IMAD", "FFMA", "DFMA", "HFMA2", "SHF", "IDP", "VABSDIFF4")
    return (f"{r}4, {r}8, {r}10, {r}12" if three else f"{r}4, {r}8, {r}10") + carry


def _memory_operands(op: str, mods: list[str]) -> str:
    where = "[R2.64]" if op in ("LD", "LDG", "ST", "STG", "ATOM", "ATOMG", "RED") else "[R2]"
    if op.startswith("LD"):
        return f"R8, {where}"
    if op.startswith("ST") or op == "RED":
        return f"{where}, R8"
    values = "" if "POPC" in mods else ", R8, R10" if "CAS" in mods or "CAST" in mods else ", R8"
    return ("" if op == "ATOMS" else "PT, ") + f"R4, {where}{values}"


def _image() -> Image:
    address = Address(0, "g", 0, is_function=False)
    return Image("k", (Param("p", 0, 64, ""),), 0x160, 64, bytes(64), bytes(64), (address,), (), (), 0, 0)


def refusal(form: str) -> str | None:
    """Why a form is not known, or None when it is."""
    raw = SassInstruction(
        function="k", address=0, text=f"{form} {_operands(form)}".strip(), word_lo=0, word_hi=0, line=None
    )
    try:
        SassBody(_image(), 32).lower(0, read_line(raw))
    except UnsupportedInstruction as refused:
        return f"{raw.text}: {refused.hint or refused.message}"
    return None


@dataclass(frozen=True)
class Whole:
    """How many kernels use nothing but forms that are read: a census counts operations, so sometimes only bounds."""

    at_least: int
    at_most: int

    def sentence(self, kernels: int) -> str:
        low, high = (f"{100 * n / kernels:.1f} %" for n in (self.at_least, self.at_most))
        if self.at_least == self.at_most:
            return f"{self.at_least} of {kernels} kernels are read whole ({low})"
        return f"{self.at_least} to {self.at_most} of {kernels} kernels are read whole ({low} to {high})"


def whole_kernels(forms: Collection[str], refused: Collection[str], used: Mapping[str, int], kernels: int) -> Whole:
    """`used` says how many kernels use an operation, in any form.

    A kernel is certainly not whole when it uses an operation of which no form is read, and it may be not whole when
    one form of an operation that it uses is not read.
    """
    touched = {form.split(".")[0] for form in refused}
    known = {form.split(".")[0] for form in forms if form not in refused}
    doubtful = sum(used.get(op, 0) for op in touched)
    unread = max((used.get(op, 0) for op in touched - known), default=0)
    return Whole(max(0, kernels - doubtful), kernels - unread)
