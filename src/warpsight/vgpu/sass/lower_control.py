"""Branches, calls by address, convergence barriers, warp operations, block barriers, special registers.

A code address is the byte address inside the kernel's text; a jump to one in a register goes through a table of all.
Convergence barriers hold the mask of the lanes that will meet, one copy per lane; BSYNC waits for exactly these.
"""

from __future__ import annotations

from warpsight.vgpu.bytecode import SHARED_WINDOW, SPECIALS, T
from warpsight.vgpu.sass.body import TRUE, SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_integer import allow
from warpsight.vgpu.sass.read import Operand, SassLine

_RESULT_ROW, _YIELD_ROW, _RESULT_PRED = 16, 17, 15  # after the 16 barrier rows; after the uniform predicates


def _condition(body: SassBody, preds: list[Operand]) -> int:
    """The guard of a jump: its own and the predicates among its operands."""
    guard = body.guard
    for p in preds:
        both = body.temp_pred()
        body.emit("PLOP", hidden=True, d0=both, a=guard, b=body.pred(p), c=TRUE, imm=0xC0)
        guard = 2 * both
    return guard


@lowers("BRA", "JMP", "CALL")
def branch(body: SassBody, line: SassLine) -> None:
    body.exclusive = None
    allow(line, "U", "DIV", "CONV", "REL", "ABS", "NOINC", "INC")
    operands = list(line.operands)
    if line.op == "CALL" and operands[0].kind in ("r", "ur"):
        _jump_to_register(body, line, operands[0], body.number_of(operands[1]) if len(operands) > 1 else 0)
        return
    target = body.number_of(operands.pop())
    preds = [o for o in operands if o.kind in ("p", "up")]
    masks = [o for o in operands if o.kind not in ("p", "up")]
    guard = _condition(body, preds)
    if line.has("DIV", "CONV"):
        # All lanes that run it take the branch unless (CONV: if) those whose guard is true are all of the mask.
        mask = body.integer(masks[0]) if masks else body.word(0xFFFFFFFF)
        diverged = body.temp_pred()
        body.emit("DIVERGED", hidden=True, d0=diverged, a=mask, b=guard)
        guard = 2 * diverged + line.has("CONV")
    elif masks:
        raise SassRefused(masks[0].text)
    body.jump(body.emit("BRA", guard=guard), target)


def _jump_to_register(body: SassBody, line: SassLine, o: Operand, start: int) -> None:
    row = body.row(o)
    if start:
        row = body.hide("ADD", ta=T.U32, a=row, b=body.word(start))
    row = body.hide("SHR", ta=T.U32, a=row, b=body.word(4))
    body.indirect.append(body.emit("BRX", a=row))


@lowers("BRX", "BRXU", "JMX")
def branch_indirect(body: SassBody, line: SassLine) -> None:
    """Relative to the next instruction (JMX: absolute): the number after the register is added."""
    allow(line)
    o, offset = line.operands[0], body.number_of(line.operands[1]) if len(line.operands) > 1 else 0
    _jump_to_register(body, line, o, offset + (0 if line.op == "JMX" else line.address + 16))


@lowers("RET")
def give_back(body: SassBody, line: SassLine) -> None:
    allow(line, "REL", "ABS", "NODEC", "DEC")
    o, *rest = line.operands
    _jump_to_register(body, line, o, body.number_of(rest[0]) if rest else 0)


@lowers("LEPC", "PCNT")
def own_address(body: SassBody, line: SassLine) -> None:
    d, *rest = line.operands
    at = body.number_of(rest[0]) if rest else line.address
    body.emit("MOV", ta=T.B64, d0=body.dest(d), a=body.constants.words(at, 0))


@lowers("EXIT")
def end(body: SassBody, line: SassLine) -> None:
    allow(line)
    body.emit("EXIT", guard=_condition(body, [o for o in line.operands if o.kind in ("p", "up")]))


@lowers("BPT")
def trap(body: SassBody, line: SassLine) -> None:
    allow(line, "TRAP", "INT", "DRAIN", "PAUSE")
    body.emit("TRAP" if line.has("TRAP") else "NOP")


@lowers("NOP", "ENDCOLLECTIVE", "PREEXIT", "ACQBULK", "CGAERRBAR")
def nothing(body: SassBody, line: SassLine) -> None:
    if line.op == "ENDCOLLECTIVE":
        body.exclusive = None
    body.emit("NOP")


@lowers("YIELD")
def let_others_run(body: SassBody, line: SassLine) -> None:
    body.emit("YIELD", d0=body.barrier_base + _YIELD_ROW)


@lowers("NANOSLEEP")
def sleep(body: SassBody, line: SassLine) -> None:
    body.emit("NANOSLEEP", a=body.row(line.operands[-1]))


# --- convergence


def _barrier(body: SassBody, o: Operand) -> int:
    if o.kind != "b" or o.number > 15:
        raise SassRefused(o.text)
    return body.barrier_base + o.number


@lowers("BSSY")
def begin(body: SassBody, line: SassLine) -> None:
    allow(line, "RECONVERGENT", "RELIABLE")
    b = next(o for o in line.operands if o.kind == "b")
    body.emit("BSSY", d0=_barrier(body, b))


@lowers("BSYNC")
def meet(body: SassBody, line: SassLine) -> None:
    allow(line, "RECONVERGENT", "RELIABLE")
    preds = [o for o in line.operands if o.kind in ("p", "up")]
    b = next(o for o in line.operands if o.kind == "b")
    body.exclusive = None
    body.emit("WARPBAR", guard=_condition(body, preds), a=_barrier(body, b))


@lowers("BREAK")
def leave(body: SassBody, line: SassLine) -> None:
    allow(line, "RELIABLE")
    preds = [o for o in line.operands if o.kind in ("p", "up")]
    b = next(o for o in line.operands if o.kind == "b")
    body.emit("BREAK", guard=_condition(body, preds), d0=_barrier(body, b))


@lowers("BMOV")
def move_barrier(body: SassBody, line: SassLine) -> None:
    """Between barriers and registers; .CLEAR empties the barrier that is read."""
    allow(line, "32", "64", "CLEAR", "PQUAD")
    d, a = line.operands[:2]
    if d.kind == "b":
        body.emit("MOV", ta=T.B32, d0=_barrier(body, d), a=body.row(a))
        return
    row = _barrier(body, a)
    if d.is_zero:
        body.emit("NOP")
    else:
        body.emit("MOV", ta=T.B32, d0=body.dest(d), a=row)


@lowers("WARPSYNC")
def warpsync(body: SassBody, line: SassLine) -> None:
    allow(line, "ALL", "EXCLUSIVE", "COLLECTIVE")
    operands = line.operands
    if line.has("EXCLUSIVE", "COLLECTIVE"):
        body.exclusive = body.row(operands[0])
    body.emit("WARPBAR", a=body.row(operands[0]) if operands and not line.has("ALL") else body.word(0xFFFFFFFF))


# --- among lanes


def _members(body: SassBody, field: str) -> tuple[str, dict[str, int]]:
    """Ending of the operation's name and its mask: the lanes that run it, or those of an exclusive stretch."""
    return ("A", {}) if body.exclusive is None else ("", {field: body.exclusive})


@lowers("SHFL")
def shuffle(body: SassBody, line: SassLine) -> None:
    allow(line, "UP", "DOWN", "BFLY", "IDX")
    p, d, a, b, c = line.operands
    sub = ("UP", "DOWN", "BFLY", "IDX").index(line.mods[0])
    ending, mask = _members(body, "e")
    body.emit(
        f"SHFL{ending}",
        **mask,
        sub=sub,
        ta=T.B32,
        d0=body.dest(d),
        d1=body.dest_pred(p),
        a=body.row(a),
        b=body.row(b),
        c=body.row(c),
    )


@lowers("VOTE", "VOTEU")
def vote(body: SassBody, line: SassLine) -> None:
    allow(line, "ALL", "ANY", "EQ")
    operands = list(line.operands)
    d = body.dest(operands.pop(0)) if operands[0].kind in ("r", "ur") else -1
    target, source = operands
    p, a = body.dest_pred(target), body.pred(source)
    kind = ("ALL", "ANY", "EQ").index(line.mods[0])
    ending, mask = _members(body, "b")
    if d >= 0 and p:
        held = body.temp_pred()
        body.emit(f"VOTE{ending}", **mask, hidden=True, guard=body.guard, sub=kind, d1=held, a=a)
        body.emit(f"VOTE{ending}", **mask, sub=3, d0=d, a=a)
        body.emit("PLOP", hidden=True, guard=body.guard, d0=p, a=2 * held, b=TRUE, c=TRUE, imm=0xF0)
    elif d >= 0:
        body.emit(f"VOTE{ending}", **mask, sub=3, d0=d, a=a)
    else:
        body.emit(f"VOTE{ending}", **mask, sub=kind, d1=p, a=a)


@lowers("MATCH")
def match(body: SassBody, line: SassLine) -> None:
    allow(line, "ANY", "ALL", "U32", "U64")
    operands = list(line.operands)
    p = body.dest_pred(operands.pop(0)) if operands[0].kind == "p" else 0
    d, a = operands
    t = T.B64 if line.has("U64") else T.B32
    ending, mask = _members(body, "b")
    body.emit(
        f"MATCH{ending}",
        **mask,
        sub=int(line.has("ALL")),
        ta=t,
        d0=body.dest(d),
        d1=p,
        a=body.row(a, 2 if line.has("U64") else 1),
    )


@lowers("REDUX")
def reduce(body: SassBody, line: SassLine) -> None:
    allow(line, "SUM", "MIN", "MAX", "AND", "OR", "XOR", "S32", "U32")
    names = ("SUM", "MIN", "MAX", "AND", "OR", "XOR")
    sub = next((names.index(m) for m in line.mods if m in names), 3)
    d, a = line.operands
    ending, mask = _members(body, "b")
    body.emit(f"REDUX{ending}", **mask, sub=sub, ta=T.S32 if line.has("S32") else T.U32, d0=body.dest(d), a=body.row(a))


@lowers("R2UR", "UR2R")
def to_uniform(body: SassBody, line: SassLine) -> None:
    allow(line, "OR", "FILL", "BROADCAST")
    operands = [o for o in line.operands if o.kind not in ("p", "up")]
    preds = [body.dest_pred(o) for o in line.operands if o.kind in ("p", "up")]
    row = body.row(operands[1])
    if not any(preds):
        body.emit("MOV", ta=T.B32, d0=body.dest(operands[0]), a=row)
        return
    same = body.temp_pred()  # the predicate says that lanes differ
    body.emit("MATCHA", hidden=True, guard=body.guard, sub=1, ta=T.B32, d1=same, a=row)
    body.emit("MOV", hidden=True, guard=body.guard, ta=T.B32, d0=body.dest(operands[0]), a=row)
    body.emit("PLOP", d0=preds[0], a=2 * same + 1, b=TRUE, c=TRUE, imm=0xF0)


# --- block barriers


@lowers("BAR", "UBAR")
def barrier(body: SassBody, line: SassLine) -> None:
    allow(line, "SYNC", "ARV", "RED", "POPC", "AND", "OR", "DEFER_BLOCKING")
    values = [o for o in line.operands if o.kind not in ("p", "up")]
    preds = [o for o in line.operands if o.kind in ("p", "up")]
    sub = 1 if line.has("ARV") else 0
    if line.has("RED"):
        sub = 2 if line.has("POPC") else 3 if line.has("AND") else 4
    count = body.row(values[1]) if len(values) > 1 else -1
    body.emit(
        "BAR",
        sub=sub,
        d0=body.barrier_base + _RESULT_ROW if sub == 2 else -(2**31),
        d1=_RESULT_PRED if sub > 2 else 0,
        a=body.row(values[0]) if values else -1,
        b=count,
        c=body.pred(preds[0]) if preds else TRUE,
    )


@lowers("B2R")
def barrier_result(body: SassBody, line: SassLine) -> None:
    allow(line, "RESULT")
    d = body.dest(line.operands[0])
    p = body.dest_pred(line.operands[1]) if len(line.operands) > 1 else 0
    if p:
        if d >= 0:
            body.emit("MOV", hidden=True, guard=body.guard, ta=T.B32, d0=d, a=body.barrier_base + _RESULT_ROW)
        body.emit("PLOP", d0=p, a=2 * _RESULT_PRED, b=TRUE, c=TRUE, imm=0xF0)
    else:
        body.emit("MOV", ta=T.B32, d0=d, a=body.barrier_base + _RESULT_ROW)


# --- special registers

_NAMES = {
    "SR_LANEID": "laneid",
    "SR_EQMASK": "lanemask_eq",
    "SR_LEMASK": "lanemask_le",
    "SR_LTMASK": "lanemask_lt",
    "SR_GEMASK": "lanemask_ge",
    "SR_GTMASK": "lanemask_gt",
    "SR_CLOCKLO": "clock",
    "SR_CLOCKHI": "clock_hi",
    "SR_GLOBALTIMERLO": "globaltimer_lo",
    "SR_GLOBALTIMERHI": "globaltimer_hi",
    "SR_VIRTUALSMID": "smid",
    "SR_SMEMSZ": "total_smem_size",
    "SR_WARPID": "warpid",
    "SR_VIRTID": "smid",
} | {f"SR_{n}.{x.upper()}": f"{n.lower()}.{x}" for n in ("TID", "CTAID", "NTID", "NCTAID") for x in "xyz"}
_FIXED = {"SRZ": 0, "SR_CgaCtaId": 0, "SR_SWINHI": SHARED_WINDOW >> 32, "SR_SWINLO": SHARED_WINDOW & 0xFFFFFFFF}


@lowers("S2R", "S2UR", "CS2R", "CS2UR")
def special(body: SassBody, line: SassLine) -> None:
    allow(line, "32", "64")
    d, source = line.operands
    wide = line.op.startswith("CS") and not line.has("32")
    if source.text in _FIXED:
        t = T.B64 if wide else T.B32
        body.emit(
            "MOV",
            ta=t,
            d0=body.dest(d),
            a=body.constants.words(*((_FIXED[source.text], 0) if wide else (_FIXED[source.text],))),
        )
    elif source.text == "SR_CLOCKLO" and wide:
        body.emit("CLOCK", ta=T.U64, d0=body.dest(d))
    elif source.text in _NAMES and not wide:
        body.emit("S2R", sub=SPECIALS.index(_NAMES[source.text]), d0=body.dest(d))
    elif source.text == "SR_GLOBALTIMERLO":
        body.emit("CLOCK", ta=T.U64, d0=body.dest(d))
    else:
        raise SassRefused(f"special register {source.text}")
