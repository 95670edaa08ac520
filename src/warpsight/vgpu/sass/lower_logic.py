"""Bitwise operations, shifts, byte permutes, and logic on predicates."""

from __future__ import annotations

from warpsight.vgpu.bytecode import Cmp, T
from warpsight.vgpu.sass.body import FALSE, FIRST_P, SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_integer import allow
from warpsight.vgpu.sass.read import SassLine

_COMMON = {0xC0: "AND", 0xFC: "OR", 0x3C: "XOR"}


@lowers("LOP3", "ULOP3")
def lop3(body: SassBody, line: SassLine) -> None:
    allow(line, "LUT")
    operands = list(line.operands)
    p = body.dest_pred(operands.pop(0)) if operands[0].kind in ("p", "up") else 0
    d, a, b, c, table = operands[:5]
    if len(operands) > 5 and body.pred(operands[5]) != FALSE:
        raise SassRefused("a predicate into LOP3")
    row = body.dest(d) if not (p and d.is_zero) else body.temp()
    rows = [body.integer(v) for v in (a, b, c)]
    number = body.number_of(table)
    if number in _COMMON:
        body.emit(_COMMON[number], ta=T.B32, d0=row, a=rows[0], b=rows[1])
    else:
        body.emit("LOP3", ta=T.B32, d0=row, a=rows[0], b=rows[1], c=rows[2], imm=number)
    if p:
        body.emit("SETP", hidden=True, guard=body.guard, sub=Cmp.NE, ta=T.U32, d0=p, d1=0, a=row, b=-1, c=0)


@lowers("PLOP3", "UPLOP3")
def plop3(body: SassBody, line: SassLine) -> None:
    allow(line, "LUT")
    p, q, a, b, c, first, second = line.operands
    sources = {"a": body.pred(a), "b": body.pred(b), "c": body.pred(c)}
    later = body.dest_pred(q)
    if later and later == body.guard >> 1:
        raise SassRefused("PLOP3 that changes its own guard")
    if later:  # both results are of the sources as they were
        if body.guard >> 1 == body.dest_pred(p) != 0:
            raise SassRefused("PLOP3 that changes its own guard")
        held = body.temp_pred()
        body.emit("PLOP", hidden=True, d0=held, imm=body.number_of(second), **sources)
        body.emit("PLOP", d0=body.dest_pred(p), imm=body.number_of(first), **sources)
        body.emit("PLOP", hidden=True, guard=body.guard, d0=later, imm=0xF0, a=2 * held, b=0, c=0)
    else:
        body.emit("PLOP", d0=body.dest_pred(p), imm=body.number_of(first), **sources)


@lowers("SHF", "USHF")
def shf(body: SassBody, line: SassLine) -> None:
    allow(line, "L", "R", "W", "HI", "U32", "S32", "U64", "S64")
    d, a, n, c = line.operands
    right, wrap, high = line.has("R"), line.has("W"), line.has("HI")
    wide, signed = line.has("U64", "S64"), line.has("S32", "S64")
    row, low, amount, up = body.dest(d), body.integer(a), body.integer(n), body.integer(c)
    if not wrap and not wide and right and high:
        body.emit("SHR", ta=T.S32 if signed else T.U32, d0=row, a=up, b=amount)
    elif not wrap and not wide and not right and not high:
        body.emit("SHL", ta=T.B32, d0=row, a=low, b=amount)
    elif (
        n.kind == "imm" and 0 <= n.number < 32 and right != high
    ):  # the upper word going left, the lower one going right
        body.emit("SHF", sub=int(right), d0=row, a=low, b=up, c=amount)
    else:
        sub = int(right) | wrap << 1 | high << 2 | wide << 3
        body.emit("SHF64", sub=sub, ta=T.S32 if signed else T.U32, d0=row, a=low, b=up, c=amount)


@lowers("SHL", "USHL")
def shl(body: SassBody, line: SassLine) -> None:
    allow(line, "U32", "W")
    d, a, n = line.operands
    body.emit("SHF64", sub=2 * line.has("W"), ta=T.U32, d0=body.dest(d), a=body.integer(a), b=-1, c=body.integer(n))


@lowers("PRMT", "UPRMT")
def prmt(body: SassBody, line: SassLine) -> None:
    modes = {"F4E": 1, "B4E": 2, "RC8": 3, "ECL": 4, "ECR": 5, "RC16": 6}
    allow(line, *modes, "IDX")
    mode = next((modes[m] for m in line.mods if m in modes), 0)
    d, a, selector, b = line.operands
    body.emit("PRMT", sub=mode, d0=body.dest(d), a=body.integer(a), b=body.integer(b), c=body.row(selector))


@lowers("P2R")
def p2r(body: SassBody, line: SassLine) -> None:
    """Predicates P0..P6 as bits, those of the mask, over the rest of a register; .Bn: in byte n."""
    allow(line, "B0", "B1", "B2", "B3")
    byte = int(line.mods[0][1]) if line.mods else 0
    d, source, a, mask = line.operands
    if source.text != "PR":
        raise SassRefused(source.text)
    bits = body.number_of(mask) & 0x7F
    total = body.hide("AND", ta=T.B32, a=body.row(a), b=body.word(~(bits << 8 * byte)))
    for i in (i for i in range(7) if bits >> i & 1):
        one = body.hide("P2R", a=2 * (FIRST_P + i), imm=1 << (i + 8 * byte))
        body.emit("OR", hidden=True, ta=T.B32, d0=total, a=total, b=one)
    body.emit("MOV", ta=T.B32, d0=body.dest(d), a=total)


@lowers("R2P")
def r2p(body: SassBody, line: SassLine) -> None:
    allow(line, "B0", "B1", "B2", "B3")
    byte = int(line.mods[0][1]) if line.mods else 0
    target, a, mask = line.operands
    if target.text != "PR":
        raise SassRefused(target.text)
    bits, row, own = body.number_of(mask) & 0x7F, body.row(a), body.guard >> 1
    numbers = sorted((i for i in range(7) if bits >> i & 1), key=lambda i: FIRST_P + i == own)  # its guard last
    tests = [body.hide("AND", ta=T.B32, a=row, b=body.word(1 << (i + 8 * byte))) for i in numbers]
    for count, (i, test) in enumerate(zip(numbers, tests, strict=True)):
        last = count == len(numbers) - 1
        body.emit(
            "SETP", hidden=not last, guard=body.guard, sub=Cmp.NE, ta=T.U32, d0=FIRST_P + i, d1=0, a=test, b=-1, c=0
        )
