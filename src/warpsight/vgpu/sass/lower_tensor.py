"""Matrix multiply-accumulate and the loads that feed it; fragments are those of PTX's mma.sync and ldmatrix."""

from __future__ import annotations

from warpsight.vgpu.bytecode import SPECIALS, Space, T
from warpsight.vgpu.sass.body import SassBody, SassRefused, lowers
from warpsight.vgpu.sass.lower_integer import allow
from warpsight.vgpu.sass.lower_memory import address
from warpsight.vgpu.sass.read import Operand, SassLine

# shape word: number, rows of D/C (32-bit accumulators), A, B
_SHAPES = {
    "16816": (0, 4, 4, 2),
    "1688": (1, 4, 2, 1),
    "16832": (3, 4, 4, 2),
    "1684": (4, 4, 2, 1),
    "8816": (5, 2, 1, 1),
    "884": (2, 4, 2, 2),
}
_KINDS = {"BF16": T.BF16, "TF32": T.TF32, "S8": T.S8, "U8": T.U8}


def _rows(body: SassBody, o: Operand, count: int, destination: bool) -> list[int]:
    first = body.dest(o) if destination else body.row(o)
    if o.is_zero:
        return [first] * count
    return [first + i for i in range(count)]


@lowers("HMMA", "IMMA", "DMMA")
def matrix(body: SassBody, line: SassLine) -> None:
    allow(line, *_SHAPES, *_KINDS, "F32", "F16", "ROW", "COL", "SAT", "8x8x4")
    shape = next((m for m in line.mods if m in _SHAPES), "884" if line.op == "DMMA" else "")
    if shape not in _SHAPES or (shape == "884" and line.op != "DMMA"):
        raise SassRefused("shape of a matrix product")
    number, n_d, n_a, n_b = _SHAPES[shape]
    kinds = [_KINDS[m] for m in line.mods if m in _KINDS]
    t, result, kind_b = T.F16, T.F32, None
    if line.op == "DMMA":
        t, result = T.F64, T.F64
        d, a, b, c = line.operands[:4]
        rows = [
            body.dest(d),
            body.dest(d) + 2,
            body.row(a),
            body.row(b),
            body.row(c),
            body.row(c) + 2 if not c.is_zero else -1,
        ]
        body.emit("MMA", sub=number, ta=t, tb=result, vec=6, e=int(t), list=body.new_list(rows))
        return
    if line.op == "IMMA":
        t, kind_b, result = kinds[0], kinds[1], T.S32
        if shape == "16816":
            n_a, n_b = 2, 1
    elif kinds:
        t = kinds[0]
        n_a, n_b = ((4, 2) if shape == "1688" else (2, 1)) if t is T.TF32 else (n_a, n_b)
    if line.op == "HMMA" and not line.has("F32"):
        result, n_d = T.F16, 2
    d, a, b, c = line.operands[:4]
    counts = ((d, n_d), (a, n_a), (b, n_b), (c, n_d))
    rows = [r for i, (o, n) in enumerate(counts) for r in _rows(body, o, n, i == 0)]
    body.emit(
        "MMA",
        sub=number,
        ta=t,
        tb=result,
        vec=len(rows),
        e=int(kind_b or t),
        list=body.new_list(rows),
        imm=int(line.has("SAT")),
    )


@lowers("LDSM")
def load_matrix(body: SassBody, line: SassLine) -> None:
    allow(line, "16", "M88", "MT88", "2", "4", "1")
    d, where = line.operands
    count = next((int(m) for m in line.mods if m in ("1", "2", "4")), 1)
    a, offset = address(body, where, Space.SHARED)
    rows = body.dests(d, count)
    if a in rows:  # lanes read where other lanes point: the addresses must outlive the first row written
        a = body.hide("MOV", ta=T.B32, a=a)
    body.emit(
        "LDMATRIX", sub=int(line.has("MT88")), ta=T.B16, width=2, vec=count, a=a, imm=offset, list=body.new_list(rows)
    )


@lowers("MOVM")
def transpose(body: SassBody, line: SassLine) -> None:
    """An 8 x 8 matrix of 16-bit elements. Lane i holds two neighbours of row i / 4, and wants those of column i / 4."""
    allow(line, "16", "MT88")
    if not line.has("MT88") or len(line.operands) != 2:
        raise SassRefused("a move of a matrix that is not transposed")
    d, source = line.operands
    lane = body.hide("S2R", sub=SPECIALS.index("laneid"))
    row = body.hide("SHR", ta=T.U32, a=lane, b=body.word(2))
    column = body.hide("AND", ta=T.B32, a=lane, b=body.word(3))
    first = body.hide("SHL", ta=T.B32, a=column, b=body.word(3))  # the lane that starts row 2 * column
    first = body.hide("ADD", ta=T.U32, a=first, b=body.hide("SHR", ta=T.U32, a=row, b=body.word(1)))
    second = body.hide("ADD", ta=T.U32, a=first, b=body.word(4))
    held = body.row(source)
    low, high = (body.hide("SHFLA", sub=3, ta=T.B32, a=held, b=at, c=body.word(31)) for at in (first, second))
    odd = body.hide("AND", ta=T.B32, a=row, b=body.word(1))
    shifted = body.hide("MUL", ta=T.U32, a=odd, b=body.word(0x2222))  # the upper halves of both
    chosen = body.hide("ADD", ta=T.U32, a=shifted, b=body.word(0x5410))
    body.emit("PRMT", ta=T.B32, d0=body.dest(d), a=low, b=high, c=chosen)
