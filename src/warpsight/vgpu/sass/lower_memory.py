"""Loads, stores, atomics, constant loads, asynchronous copies, fences.

Global and generic addresses are register pairs, shared and local ones single registers; a uniform one may be added.
"""

from __future__ import annotations

from warpsight.vgpu.bytecode import Atomic, Cmp, Flag, Space, T
from warpsight.vgpu.sass.body import SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_integer import allow
from warpsight.vgpu.sass.read import Operand, SassLine

MOST_ADDRESSES = 512
_SPACES = {"G": Space.GLOBAL, "S": Space.SHARED, "L": Space.LOCAL, "": Space.GENERIC}
_SMALL = {"U8": T.U8, "S8": T.S8, "U16": T.U16, "S16": T.S16}
_ORDER = ("STRONG", "SYS", "GPU", "SM", "CTA", "WEAK", "MMIO", "VC", "PRIVATE", "CONSTANT")
_HINTS = ("E", "U", "EF", "EL", "LU", "EU", "NA", "EN", "ZD", "LTC64B", "LTC128B", "LTC256B", "BYPASS", "ACCESS")


def _size(line: SassLine) -> tuple[T, int]:
    """Element type and number of 32-bit words."""
    small = next((_SMALL[m] for m in line.mods if m in _SMALL), None)
    if small is not None:
        return small, 1
    return T.B32, 4 if line.has("128") else 2 if line.has("64") else 1


def address(body: SassBody, o: Operand, space: Space) -> tuple[int, int]:
    """Row (of a pair, for wide addresses) and byte offset of an address operand."""
    if o.kind != "mem":
        raise SassRefused(f"address `{o.text}`")
    scale = next((int(m[1:]) for m in o.base_mods if m[0] == "X" and m[1:].isdigit()), 1)
    if space in (Space.SHARED, Space.LOCAL):
        return _narrow(body, o, space, scale)
    base = body.reg("r", o.base) if o.base >= 0 else -1
    uniform = body.reg("ur", o.uniform) if o.uniform >= 0 else -1
    if scale != 1:
        raise SassRefused("a scaled global address")
    if base >= 0 and "U32" in o.base_mods:
        base = body.hide("MULWIDE", ta=T.U32, tb=T.U64, a=base, b=body.word(1))
    if base >= 0 and uniform >= 0:
        base = body.hide("ADD", ta=T.U64, a=base, b=uniform)
    return (base if base >= 0 else uniform), o.offset


def _narrow(body: SassBody, o: Operand, space: Space, scale: int) -> tuple[int, int]:
    row = body.reg("r", o.base) if o.base >= 0 else -1
    offset = o.offset
    if scale != 1 and row >= 0:
        row = body.hide("SHL", ta=T.B32, a=row, b=body.word(scale.bit_length() - 1))
    if o.uniform >= 0 and o.uniform != 63:
        uniform = body.reg("ur", o.uniform)
        row = uniform if row < 0 else body.hide("ADD", ta=T.U32, a=row, b=uniform)
    if space is Space.LOCAL and row >= 0 and offset and o.base != 1:
        # Sums wrap at 32 bits; those with the stack pointer do not come to that.
        row, offset = body.hide("ADD", ta=T.U32, a=row, b=body.word(offset)), 0
    return row, offset


def _flags(line: SassLine, space: Space) -> int:
    return (Flag.VOLATILE if line.has("STRONG", "MMIO") else 0) | (Flag.ADDRESS32 if space is Space.LOCAL else 0)


@lowers("LDG", "LDS", "LDL", "LD")
def load(body: SassBody, line: SassLine) -> None:
    allow(line, *_SMALL, "64", "128", "32", *_ORDER, *_HINTS)
    if len(line.operands) != 2:
        raise SassRefused("a load with a predicate")
    space = _SPACES[line.op[2:]]
    t, words = _size(line)
    a, offset = address(body, line.operands[1], space)
    rows = body.dests(line.operands[0], words)
    body.load(space, a, offset, t, rows, flags=_flags(line, space))


@lowers("STG", "STS", "STL", "ST")
def store(body: SassBody, line: SassLine) -> None:
    allow(line, *_SMALL, "64", "128", "32", *_ORDER, *_HINTS)
    space = _SPACES[line.op[2:]]
    t, words = _size(line)
    where, value = line.operands
    a, offset = address(body, where, space)
    first = body.row(value)
    rows = [first + i if first >= 0 else -1 for i in range(words)]
    width = {T.U8: 1, T.S8: 1, T.U16: 2, T.S16: 2}.get(t, 4)
    body.emit(
        "ST",
        sub=space,
        ta=t,
        width=width,
        vec=words,
        flags=_flags(line, space),
        a=a,
        imm=offset,
        list=body.new_list(rows),
    )


@lowers("LDC", "ULDC")
def load_constant(body: SassBody, line: SassLine) -> None:
    allow(line, *_SMALL, "64", "128", "IL", "IS", "ISL")
    d, c = line.operands
    if c.kind != "const":
        raise SassRefused(c.text)
    t, words = _size(line)
    indexed = (c.base >= 0 and c.base != 255) or (c.uniform >= 0 and c.uniform != 63)
    fixed = c._replace(base=-1, uniform=-1)
    if indexed or c.bank == 3:
        _load_indexed(body, line, c, t, words)
        return
    if t is T.B32:
        size = {1: T.B32, 2: T.B64, 4: T.B128}[words]
        body.emit("MOV", ta=size, d0=body.dest(d), a=body.row(fixed, words))
        return
    bits = 8 if t in (T.U8, T.S8) else 16
    word = body.bank_row(c.bank, c.offset & ~3, 1)
    kind = T.S32 if t in (T.S8, T.S16) else T.U32
    body.emit("BFE", ta=kind, d0=body.dest(d), a=word, b=body.word(8 * (c.offset & 3)), c=body.word(bits))


def _load_indexed(body: SassBody, line: SassLine, c: Operand, t: T, words: int) -> None:
    index = -1
    if c.base >= 0 and c.base != 255:
        index = body.reg("r", c.base)
    if c.uniform >= 0 and c.uniform != 63:
        uniform = body.reg("ur", c.uniform)
        index = uniform if index < 0 else body.hide("ADD", ta=T.U32, a=index, b=uniform)
    rows = body.dests(line.operands[0], words)
    if c.bank == 4:
        _select_address(body, line, index, c.offset, words)
        return
    if index >= 0:
        index = body.hide("ADD", ta=T.U32, a=index, b=body.word(c.offset))
    offset = 0 if index >= 0 else c.offset
    places = {0: (Space.PARAM, -body.image.param_base), 2: (Space.CONST, body.bank2_at), 3: (Space.CONST, 0)}
    if c.bank not in places:
        raise SassRefused(f"constant bank {c.bank}")
    space, start = places[c.bank]
    body.load(space, index, start + offset, t, rows, flags=Flag.ADDRESS32 if index >= 0 else 0)


def _select_address(body: SassBody, line: SassLine, index: int, offset: int, words: int) -> None:
    """Bank 4 holds addresses that are known at launch only: one selection per entry."""
    if words != 2 or len(body.image.addresses) > MOST_ADDRESSES:
        raise SassRefused("an indexed load of many addresses")
    found = body.temp(2)
    body.emit("MOV", hidden=True, ta=T.B64, d0=found, a=-1)
    p = body.temp_pred()
    for place in body.image.addresses:
        row = body.address_row(place.offset)
        body.emit("SETP", hidden=True, sub=Cmp.EQ, ta=T.U32, d0=p, a=index, b=body.word(place.offset - offset), c=0)
        body.emit("SEL", hidden=True, ta=T.B64, d0=found, a=~row, b=found, c=2 * p)
    body.emit("MOV", ta=T.B64, d0=body.dest(line.operands[0]), a=found)


# --- atomics

_OPERATIONS = {a.name: a for a in Atomic} | {"SAFEADD": Atomic.ADD}
_FLOATING = {"F32": T.F32, "F64": T.F64, "F16x2": T.F16X2, "BF16x2": T.BF16X2, "F16X2": T.F16X2, "BF16_V2": T.BF16X2}


def _atomic_type(line: SassLine, operation: Atomic) -> T:
    found = next((_FLOATING[m] for m in line.mods if m in _FLOATING), None)
    if found is not None:
        return found
    signed, wide = line.has("S32", "S64"), line.has("64", "S64", "U64")
    if operation in (Atomic.MIN, Atomic.MAX, Atomic.ADD):
        return (T.S64 if signed else T.U64) if wide else (T.S32 if signed else T.U32)
    if operation in (Atomic.INC, Atomic.DEC):
        return T.U32
    return T.B64 if wide else T.B32


@lowers("ATOMG", "ATOMS", "ATOM", "RED", "REDG", "REDS")
def atomic(body: SassBody, line: SassLine) -> None:
    if line.has("CAST"):
        _compare_and_test(body, line)
        return
    allow(line, *_OPERATIONS, *_FLOATING, *_ORDER, *_HINTS, "64", "32", "S32", "U32", "S64", "U64", "FTZ", "RN", "POPC")
    operation = next(_OPERATIONS[m] for m in line.mods if m in _OPERATIONS)
    space = {"ATOMS": Space.SHARED, "REDS": Space.SHARED, "ATOM": Space.GENERIC}.get(line.op, Space.GLOBAL)
    operands = [o for o in line.operands if o.kind not in ("p", "up")]
    d = body.dest(operands.pop(0)) if line.op.startswith("ATOM") else None
    where, values = operands[0], operands[1:]
    if line.has("POPC"):  # one for every lane: the sum is the number of lanes
        operation, rows, t = Atomic.ADD, [body.word(1)], T.U32
    else:
        t = _atomic_type(line, operation)
        rows = [body.row(v, 2 if t in (T.U64, T.S64, T.B64, T.F64) else 1) for v in values]
    if len(rows) != 1 + (operation is Atomic.CAS):
        raise SassRefused("operands of an atomic")
    a, offset = address(body, where, space)
    width = 8 if t in (T.U64, T.S64, T.B64, T.F64) else 4
    unused = Flag.UNUSED_RESULT if d is None or d < 0 else 0
    fields = {"c": rows[1]} if len(rows) > 1 else {}
    body.emit(
        "ATOM",
        sub=space,
        ta=t,
        tb=operation,
        width=width,
        vec=1,
        flags=unused,
        a=a,
        b=rows[0],
        imm=offset,
        **({"d0": d} if d is not None else {}),
        **fields,
    )
    for p in (body.dest_pred(o) for o in line.operands if o.kind in ("p", "up")):
        if p:  # "it was done here": ours does it in every space
            body.emit("PLOP", hidden=True, guard=body.guard, d0=p, a=0, b=0, c=0, imm=0xFF)


def _compare_and_test(body: SassBody, line: SassLine) -> None:
    """ATOMS.CAST: compare and swap; the result is 1 where the swap was made, as wide as the words that are swapped."""
    allow(line, "CAST", "SPIN", "64")
    d, where, old, new = line.operands
    t, words = (T.B64, 2) if line.has("64") else (T.B32, 1)
    a, offset = address(body, where, Space.SHARED)
    seen, expected = body.temp(2), body.temp(2)
    body.emit("MOV", hidden=True, ta=t, d0=expected, a=body.row(old, words))
    body.emit(
        "ATOM",
        sub=Space.SHARED,
        ta=t,
        tb=Atomic.CAS,
        width=4 * words,
        vec=1,
        a=a,
        b=expected,
        c=body.row(new, words),
        imm=offset,
        d0=seen,
    )
    p = body.temp_pred()
    kind = T.U64 if words == 2 else T.U32
    body.emit("SETP", hidden=True, sub=Cmp.EQ, ta=kind, d0=p, a=seen, b=expected, c=0)
    result = T.B64 if words == 2 else T.B32
    one = body.constants.words(*(1, 0)[:words])
    body.emit("SEL", hidden=True, guard=body.guard, ta=result, d0=body.dest(d), a=one, b=-1, c=2 * p)


# --- asynchronous copies, fences, caches


@lowers("LDGSTS")
def copy(body: SassBody, line: SassLine) -> None:
    allow(line, "E", "BYPASS", "LTC64B", "LTC128B", "LTC256B", "64", "128", "ACCESS", "ZFILL", *_HINTS)
    target, source, *rest = line.operands
    width = 16 if line.has("128") else 8 if line.has("64") else 4
    to, to_offset = address(body, target, Space.SHARED)
    a, offset = address(body, source, Space.GLOBAL)
    count = body.word(width)
    if rest:  # a false predicate writes zeros
        count = body.hide("SEL", ta=T.B32, a=count, b=-1, c=body.pred(rest[0]))
    body.emit("CPASYNC", width=width, a=to, b=a, c=count, target=to_offset, imm=offset)


@lowers("LDGDEPBAR")
def close_group(body: SassBody, line: SassLine) -> None:
    body.emit("CPCOMMIT")


@lowers("DEPBAR")
def wait_group(body: SassBody, line: SassLine) -> None:
    allow(line, "LE")
    operands = line.operands
    if line.has("LE") and operands[0].text == "SB0" and len(operands) > 1:
        body.emit("CPWAIT", imm=body.number_of(operands[1]))
    else:
        body.emit("NOP")


@lowers("MEMBAR")
def fence(body: SassBody, line: SassLine) -> None:
    allow(line, "SC", "ALL", "CTA", "GPU", "SYS", "VC", "SM")
    body.emit("FENCE", sub=2 if line.has("SYS") else 1 if line.has("GPU") else 0)


@lowers("ERRBAR", "CCTL", "CCTLL", "CCTLT", "FENCE", "UCCTL")
def nothing(body: SassBody, line: SassLine) -> None:
    body.emit("NOP")


@lowers("QSPC")
def query_space(body: SassBody, line: SassLine) -> None:
    allow(line, "E", "S", "L", "G")
    p, _, where = line.operands
    a, offset = address(body, where, Space.GENERIC)
    if offset:
        a = body.hide("ADD", ta=T.U64, a=a, b=body.constants.words(offset, -1 if offset < 0 else 0))
    space = Space.SHARED if line.has("S") else Space.LOCAL if line.has("L") else Space.GLOBAL
    body.emit("ISSPACE", sub=space, d0=body.dest_pred(p), a=a)
