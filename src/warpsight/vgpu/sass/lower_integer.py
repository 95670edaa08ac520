"""Integer arithmetic: sums with carries, products, addresses (LEA), minima, comparisons, bit counts."""

from __future__ import annotations

from warpsight.vgpu.bytecode import Cmp, T
from warpsight.vgpu.sass.body import FALSE, TRUE, SassBody, SassRefused, lowers
from warpsight.vgpu.sass.read import Operand, SassLine

BOOLEANS = {"AND": 0, "OR": 1, "XOR": 2}
_IGNORED = frozenset(("U32", "S32", "X", "WIDE", "HI", "MOV", "SHL", "IADD", "SX32", "reuse"))


def allow(line: SassLine, *names: str) -> None:
    """Refuse a modifier that is not one of these."""
    for mod in line.mods:
        if mod not in names:
            raise SassRefused(f"modifier .{mod}")


def split_preds(operands: tuple[Operand, ...]) -> tuple[list[Operand], list[Operand], list[Operand]]:
    """Leading predicates, values, trailing predicates (after the first operand is taken off)."""
    rest = list(operands)
    head, tail = list[Operand](), list[Operand]()
    while rest and rest[0].kind in ("p", "up"):
        head.append(rest.pop(0))
    while rest and rest[-1].kind in ("p", "up"):
        tail.insert(0, rest.pop())
    return head, rest, tail


@lowers("IADD3", "UIADD3")
def iadd3(body: SassBody, line: SassLine) -> None:
    allow(line, "X")
    extended = line.has("X")
    carries, values, ins = split_preds(line.operands[1:])
    if len(values) != 3 or (ins and not extended):
        raise SassRefused("three values are expected")
    plain = [v for v in values if not v.is_zero]
    if not carries and not extended and len(plain) <= 2 and not any(v.inverted for v in values):
        _two_terms(body, line, plain)
        return
    complement = extra = 0
    for i, v in enumerate(values):
        if v.negative or v.inverted:
            complement |= 1 << i
            extra += v.negative and not extended
    rows = [body.row(v) for v in values]
    outs = [body.dest_pred(p) for p in carries] + [0, 0]
    given = [body.pred(p) for p in ins] + [FALSE, FALSE]
    body.emit(
        "ADD3",
        ta=T.U32,
        d0=body.dest(line.operands[0]),
        d1=outs[0],
        vec=outs[1],
        a=rows[0],
        b=rows[1],
        c=rows[2],
        e=given[0],
        target=given[1],
        imm=complement | extra << 4,
    )


def _two_terms(body: SassBody, line: SassLine, terms: list[Operand]) -> None:
    """A sum of at most two values without carries: the fast forms."""
    d = body.dest(line.operands[0])
    if len(terms) == 2 and terms[0].negative != terms[1].negative:
        minus, plus = sorted(terms, key=lambda v: not v.negative)
        body.emit("SUB", ta=T.S32, d0=d, a=body.row(plus), b=body.row(minus))
    elif len(terms) == 2:
        body.emit("ADD", ta=T.S32, d0=d, a=body.integer(terms[0]), b=body.integer(terms[1]))
    elif terms and terms[0].negative:
        body.emit("NEG", ta=T.S32, d0=d, a=body.row(terms[0]))
    else:
        body.emit("ADD", ta=T.S32, d0=d, a=body.row(terms[0]) if terms else -1, b=-1)


@lowers("VIADD")
def viadd(body: SassBody, line: SassLine) -> None:
    allow(line)
    d, a, b = line.operands
    body.emit("ADD", ta=T.S32, d0=body.dest(d), a=body.integer(a), b=body.integer(b))


@lowers("IMAD", "UIMAD")
def imad(body: SassBody, line: SassLine) -> None:
    allow(line, *_IGNORED)
    if line.has("WIDE", "HI"):
        _wide(body, line)
        return
    outs, (a, b, c), ins = split_preds(line.operands[1:])
    d = body.dest(line.operands[0])
    if outs and any(body.dest_pred(p) for p in outs):
        raise SassRefused("carry out of a 32-bit product")
    if line.has("X"):
        carry = body.pred(ins[0]) if ins else FALSE
        complement = 4 if c.negative or c.inverted else 0
        if a.is_zero or b.is_zero:
            body.emit("ADD3", ta=T.U32, d0=d, a=-1, b=-1, c=body.row(c), e=carry, target=FALSE, imm=complement)
        else:
            body.emit("MADC", ta=T.U32, d0=d, a=body.integer(a), b=body.integer(b), c=_complement(body, c), e=carry)
        return
    if ins:
        raise SassRefused("carry in without .X")
    if a.is_zero or b.is_zero:
        if c.negative:
            body.emit("NEG", ta=T.S32, d0=d, a=body.row(c))
        else:
            body.emit("MOV", ta=T.B32, d0=d, a=body.integer(c))
    elif line.has("IADD") and b.kind == "imm" and b.number == 1:
        body.emit("ADD", ta=T.S32, d0=d, a=body.integer(a), b=body.integer(c))
    else:
        body.emit("MAD", ta=T.S32, d0=d, a=body.integer(a), b=body.integer(b), c=body.integer(c))


def _complement(body: SassBody, c: Operand) -> int:
    return body.hide("NOT", ta=T.B32, a=body.row(c)) if c.negative or c.inverted else body.row(c)


def _wide(body: SassBody, line: SassLine) -> None:
    """64-bit sums: d = a * b + c, whole (.WIDE) or its upper word (.HI); c is a register pair."""
    outs, (a, b, c), ins = split_preds(line.operands[1:])
    t = T.U32 if line.has("U32") else T.S32
    out = body.dest_pred(outs[0]) if outs else 0
    carry = body.pred(ins[0]) if ins and line.has("X") else FALSE
    d = body.dest(line.operands[0])
    if c.inverted and not line.has("X"):
        raise SassRefused("a complement in a product")
    rows = {"a": body.integer(a), "b": body.integer(b)}
    if c.negative or c.inverted:
        rows["c"] = body.hide("NOT" if line.has("X") else "NEG", ta=T.B64 if line.has("X") else T.S64, a=body.row(c, 2))
    else:
        rows["c"] = body.row(c, 2)
    if line.has("HI"):
        if c.is_zero and not out and carry == FALSE:
            body.emit("MULHI", ta=t, d0=d, a=rows["a"], b=rows["b"])
        else:
            body.emit("WMAD", sub=1, ta=t, d0=d, d1=out, e=carry, **rows)
    elif out or carry != FALSE:
        body.emit("WMAD", ta=t, d0=d, d1=out, e=carry, **rows)
    elif c.is_zero:
        body.emit("MULWIDE", ta=t, tb=T.U64 if t is T.U32 else T.S64, d0=d, a=rows["a"], b=rows["b"])
    else:
        body.emit("MADWIDE", ta=t, tb=T.U64 if t is T.U32 else T.S64, d0=d, **rows)


@lowers("LEA", "ULEA")
def lea(body: SassBody, line: SassLine) -> None:
    allow(line, "HI", "X", "SX32")
    outs, values, ins = split_preds(line.operands[1:])
    shift = body.number_of(values.pop()) & 31
    if not line.has("HI"):
        a, b = values
        rows = body.hide("SHL", ta=T.B32, a=body.integer(a), b=body.word(shift)) if shift else body.integer(a)
    else:
        a, b = values[0], values[1]
        rows = _upper_part(body, line, values, shift)
    carry = body.pred(ins[0]) if ins and line.has("X") else FALSE
    complement = 2 if b.negative or b.inverted else 0
    extra = int(b.negative and not line.has("X"))
    d, out = body.dest(line.operands[0]), body.dest_pred(outs[0]) if outs else 0
    if not out and carry == FALSE and not complement:
        body.emit("ADD", ta=T.S32, d0=d, a=rows, b=body.row(b))
    else:
        body.emit(
            "ADD3",
            ta=T.U32,
            d0=d,
            d1=out,
            a=rows,
            b=body.row(b),
            c=-1,
            e=carry,
            target=FALSE,
            imm=complement | extra << 4,
        )


def _upper_part(body: SassBody, line: SassLine, values: list[Operand], shift: int) -> int:
    """Upper word of (high:low) << shift."""
    low = values[0]
    if low.negative or low.inverted or low.absolute:
        raise SassRefused("a modifier on the address")
    row = body.row(low)
    sign = line.has("SX32")
    high = body.hide("SHR", ta=T.S32, a=row, b=body.word(31)) if sign else body.integer(values[2])
    return body.hide("SHF", sub=0, a=row, b=high, c=body.word(shift))


@lowers("IMNMX", "VIMNMX", "UIMNMX")
def imnmx(body: SassBody, line: SassLine) -> None:
    allow(line, "U32", "S32")
    d, a, b, p = line.operands
    _extreme(body, body.dest(d), T.U32 if line.has("U32") else T.S32, body.integer(a), body.integer(b), body.pred(p))


def _extreme(body: SassBody, d: int, t: T, a: int, b: int, p: int) -> None:
    """Minimum where p is true, else maximum."""
    if p in (TRUE, FALSE):
        body.emit("MIN" if p == TRUE else "MAX", ta=t, d0=d, a=a, b=b)
        return
    low, high = body.hide("MIN", ta=t, a=a, b=b), body.hide("MAX", ta=t, a=a, b=b)
    body.emit("SEL", ta=T.B32, d0=d, a=low, b=high, c=p)


@lowers("VIADDMNMX")
def viaddmnmx(body: SassBody, line: SassLine) -> None:
    allow(line, "U32", "S32")
    d, a, b, c, p = line.operands
    total = body.hide("ADD", ta=T.S32, a=body.integer(a), b=body.integer(b))
    _extreme(body, body.dest(d), T.U32 if line.has("U32") else T.S32, total, body.integer(c), body.pred(p))


@lowers("IABS")
def iabs(body: SassBody, line: SassLine) -> None:
    allow(line)
    d, a = line.operands
    body.emit("ABS", ta=T.S32, d0=body.dest(d), a=body.integer(a))


@lowers("ISETP", "UISETP")
def isetp(body: SassBody, line: SassLine) -> None:
    allow(line, "EX", "U32", *BOOLEANS, *(c.name for c in list(Cmp)[:6]), "T", "F")
    test, boolean = Cmp[line.mods[0]], next(BOOLEANS[m] for m in line.mods if m in BOOLEANS)
    p, q, a, b, c = line.operands[:5]
    t = T.U32 if line.has("U32") else T.S32
    common = {"sub": test, "ta": t, "imm": boolean, "d0": body.dest_pred(p), "d1": body.dest_pred(q), "c": body.pred(c)}
    if line.has("EX"):
        body.emit("SETPX", a=body.integer(a), b=body.integer(b), e=body.pred(line.operands[5]), **common)
    else:
        body.emit("SETP", a=body.integer(a), b=body.integer(b), **common)


@lowers("SEL", "USEL")
def sel(body: SassBody, line: SassLine) -> None:
    allow(line)
    d, a, b, p = line.operands
    body.emit("SEL", ta=T.B32, d0=body.dest(d), a=body.integer(a), b=body.integer(b), c=body.pred(p))


@lowers("MOV", "UMOV")
def mov(body: SassBody, line: SassLine) -> None:
    allow(line, "64")
    d, a = line.operands[:2]
    words = 2 if line.has("64") else 1
    body.emit("MOV", ta=T.B64 if words == 2 else T.B32, d0=body.dest(d), a=body.integer(a, words))


@lowers("POPC", "UPOPC", "BREV", "UBREV")
def popc(body: SassBody, line: SassLine) -> None:
    allow(line)
    d, a = line.operands
    body.emit(line.op.removeprefix("U"), ta=T.U32, d0=body.dest(d), a=body.integer(a))


@lowers("FLO", "UFLO")
def flo(body: SassBody, line: SassLine) -> None:
    allow(line, "U32", "S32", "SH")
    outs, (a,), _ = split_preds(line.operands[1:])
    if any(body.dest_pred(p) for p in outs):
        raise SassRefused("a predicate of FLO")
    t = T.U32 if line.has("U32") else T.S32
    body.emit("BFIND", sub=int(line.has("SH")), ta=t, d0=body.dest(line.operands[0]), a=body.integer(a))


@lowers("BMSK", "UBMSK")
def bmsk(body: SassBody, line: SassLine) -> None:
    allow(line, "W", "C")
    d, a, b = line.operands
    body.emit("BMSK", sub=int(line.has("W")), d0=body.dest(d), a=body.integer(a), b=body.integer(b))


@lowers("SGXT", "USGXT")
def sgxt(body: SassBody, line: SassLine) -> None:
    allow(line, "W", "C", "U32")
    d, a, b = line.operands
    t = T.U32 if line.has("U32") else T.S32
    body.emit("SZEXT", sub=int(line.has("W")), ta=t, d0=body.dest(d), a=body.integer(a), b=body.integer(b))


@lowers("IDP")
def idp(body: SassBody, line: SassLine) -> None:
    allow(line, "4A", "2A", "LO", "HI", "U8", "S8", "U16", "S16")
    kinds = [m for m in line.mods if m[0] in "US" and m[1:].isdigit()]
    d, a, b, c = line.operands
    op = "DP4A" if line.has("4A") else "DP2A"
    ta, tb = (T.S32 if kind[0] == "S" else T.U32 for kind in kinds)
    body.emit(
        op, sub=int(line.has("HI")), ta=ta, tb=tb, d0=body.dest(d), a=body.row(a), b=body.row(b), c=body.integer(c)
    )


@lowers("VABSDIFF4", "VABSDIFF")
def vabsdiff(body: SassBody, line: SassLine) -> None:
    allow(line, "U8", "S8", "ACC", "U32")
    d, a, b, c = line.operands
    if line.op == "VABSDIFF":
        t = T.U32 if line.has("U32") else T.S32
        body.emit("SAD", ta=t, d0=body.dest(d), a=body.row(a), b=body.row(b), c=body.integer(c))
        return
    t = T.S32 if line.has("S8") else T.U32
    body.emit(
        "VABSDIFF", sub=int(line.has("ACC")), vec=4, ta=t, d0=body.dest(d), a=body.row(a), b=body.row(b), c=body.row(c)
    )
