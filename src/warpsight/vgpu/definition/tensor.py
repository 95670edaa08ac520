"""Matrix operations of a warp: MMA in PTX's fragment layouts, and wmma fragments in our own.

A layout is a function from (lane, element) to a matrix position; everything else is the same for all shapes: gather,
multiply, scatter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import TYPE_BYTES, Round, Space, T
from warpsight.vgpu.definition import reals
from warpsight.vgpu.definition.floats import finish
from warpsight.vgpu.definition.lanes import LANES, Ins, Lanes, dtype_of, lanes_of
from warpsight.vgpu.definition.operations import lanewise
from warpsight.vgpu.definition.special import from_f64, to_f64
from warpsight.vgpu.definition.state import Warp, action

Matrix = NDArray[Any]
A, B, C = range(3)
SHAPES = (
    (16, 8, 16), (16, 8, 8), (8, 8, 4), (16, 8, 32), (16, 8, 4), (8, 8, 16),
    (16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 8), (8, 8, 4),
)  # fmt: skip
FIRST_WMMA = 6


@dataclass(frozen=True)
class Fragment:
    """One matrix spread over a warp: where element j of a lane sits, and how elements fill rows."""

    shape: int
    role: int
    kind: T

    @property
    def size(self) -> tuple[int, int]:
        m, n, k = SHAPES[self.shape]
        return ((m, k), (k, n), (m, n))[self.role]

    @property
    def per_row(self) -> int:
        """Elements in one 32-bit row; a 64-bit element takes a pair."""
        return max(1, 4 // TYPE_BYTES[self.kind])

    @property
    def elements(self) -> int:
        """Elements a lane holds. PTX gives f16 wmma operands 16, whatever the shape; all others hold each element
        once.
        """
        if self.shape >= FIRST_WMMA and self.kind == T.F16 and self.role != C:
            return 16
        rows, columns = self.size
        return rows * columns // LANES

    @property
    def registers(self) -> int:
        return self.elements // self.per_row

    def position(self, lane: int, j: int) -> tuple[int, int]:
        rows, columns = self.size
        if self.shape >= FIRST_WMMA:
            return divmod((lane * self.elements + j) % (rows * columns), columns)
        group, member = divmod(lane, 4)
        if self.role == C:
            return group + 8 * (j // 2), 2 * member + j % 2
        register, part = divmod(j, self.per_row)
        along = self.per_row * member + part
        if self.role == B:
            return along + 4 * self.per_row * register, group
        tall = rows // 8
        return group + 8 * (register % tall), along + 4 * self.per_row * (register // tall)


def _split(w: Warp, fragment: Fragment, rows: list[int]) -> Matrix:
    """Registers to elements: an array [lane, element] of the type's bits."""
    if TYPE_BYTES[fragment.kind] == 8:
        return np.stack([w.registers.pair(r) for r in rows], axis=1)
    words = np.ascontiguousarray(np.stack([w.registers.row(r) for r in rows], axis=1))
    return words.view(dtype_of(fragment.kind)).reshape(LANES, fragment.elements)


def _gather(w: Warp, fragment: Fragment, rows: list[int]) -> Matrix:
    elements = _split(w, fragment, rows)
    matrix = np.zeros(fragment.size, dtype_of(fragment.kind))
    # Where an element has copies the lowest lane's counts, so it is written last.
    for lane in range(LANES - 1, -1, -1):
        for j in range(fragment.elements):
            matrix[fragment.position(lane, j)] = elements[lane, j]
    return matrix


def _put_elements(w: Warp, fragment: Fragment, rows: list[int], elements: Matrix, mask: int) -> None:
    if TYPE_BYTES[fragment.kind] == 8:
        words = elements
    else:
        words = np.ascontiguousarray(elements).view(np.uint32).reshape(LANES, fragment.registers)
    for i, row in enumerate(rows):
        w.registers.put(row, np.ascontiguousarray(words[:, i]), mask)


def _scatter(w: Warp, fragment: Fragment, rows: list[int], matrix: Matrix, mask: int) -> None:
    elements = np.zeros((LANES, fragment.elements), dtype_of(fragment.kind))
    for lane in range(LANES):
        for j in range(fragment.elements):
            elements[lane, j] = matrix[fragment.position(lane, j)]
    _put_elements(w, fragment, rows, elements, mask)


def _values(kind: T, bits: Matrix) -> Matrix:
    """Bits to float64."""
    if kind == T.TF32:
        return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    return to_f64(kind, bits.reshape(-1)).reshape(bits.shape)


def _multiply_f64(a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """F64: a chain of fused multiply-adds over k, each rounded once."""
    fmt = reals.FORMATS[T.F64]

    def fused(p: int, q: int, r: int) -> int:
        numbers = [reals.decode(fmt, v) for v in (p, q, r)]
        return reals.encode(fmt, Round.RN, reals.total(reals.product(numbers[0], numbers[1]), numbers[2], Round.RN))

    result = c.reshape(-1)
    for k in range(a.shape[1]):
        left = np.repeat(a[:, k], b.shape[1])
        result = lanewise(fused, np.uint64, left, np.tile(b[k], a.shape[0]), result)
    return result.reshape(c.shape)


def _multiply_floats(x: Ins, kinds: tuple[T, T, T, T], a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    left, right, accumulator = _values(kinds[A], a), _values(kinds[B], b), _values(kinds[C], c)
    for k in range(left.shape[1]):
        accumulator = accumulator + left[:, k : k + 1] * right[k : k + 1]
    bits = from_f64(kinds[3], accumulator.reshape(-1))
    return finish(x._replace(mod=0), kinds[3], bits).reshape(c.shape)


def _multiply_integers(a: Matrix, b: Matrix, c: Matrix, saturate: bool) -> Matrix:
    total = a.astype(object) @ b.astype(object) + c.astype(object)
    if saturate:
        total = np.clip(total, -(2**31), 2**31 - 1)
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


@action("MMA")
def multiply_accumulate(w: Warp, x: Ins, mask: int) -> None:
    kind_b = T(x.e) if x.e > 0 else x.ta
    kind_d = T(x.width) if x.width else x.tb
    if x.ta not in (T.F16, T.BF16, T.TF32, T.F64, T.S8, T.U8):
        raise UnsupportedInstruction(f"MMA on {x.ta.name}")
    fragments = [Fragment(x.sub, r, k) for r, k in ((C, kind_d), (A, x.ta), (B, kind_b), (C, x.tb))]
    starts = np.cumsum([0, *(f.registers for f in fragments)]).tolist()
    rows = [w.list_rows(x, f.registers, start) for f, start in zip(fragments, starts, strict=False)]
    a, b, c = (_gather(w, f, r) for f, r in zip(fragments[1:], rows[1:], strict=True))
    if x.ta in (T.S8, T.U8):
        result = _multiply_integers(a, b, c, bool(x.imm & 1))
    elif x.ta == T.F64:
        result = _multiply_f64(a, b, c)
    else:
        result = _multiply_floats(x, (x.ta, kind_b, x.tb, kind_d), a, b, c)
    _scatter(w, fragments[0], rows[0], result, mask)


def _wmma_offset(x: Ins, stride: int, fragment: Fragment, lane: int, j: int) -> int:
    row, column = fragment.position(lane, j)
    index = column * stride + row if x.imm & 1 else row * stride + column
    return index * TYPE_BYTES[fragment.kind]


@action("WMMALD")
def load_fragment(w: Warp, x: Ins, mask: int) -> None:
    fragment, size = Fragment(x.target, x.sub, x.ta), TYPE_BYTES[x.ta]
    bases, strides = w.addresses(x.a, 0, Space(x.width)), w.registers.row(x.b).tolist()
    elements: Lanes = np.zeros((LANES, fragment.elements), dtype_of(x.ta))
    for lane in lanes_of(mask):
        for j in range(fragment.elements):
            address = bases[lane] + _wmma_offset(x, strides[lane], fragment, lane, j)
            data = w.read(lane, Space(x.width), address, size, size)
            elements[lane, j] = np.frombuffer(data, dtype_of(x.ta))[0]
    _put_elements(w, fragment, w.list_rows(x, fragment.registers), elements, mask)


@action("WMMAST")
def store_fragment(w: Warp, x: Ins, mask: int) -> None:
    fragment, size = Fragment(x.target, x.sub, x.ta), TYPE_BYTES[x.ta]
    bases, strides = w.addresses(x.a, 0, Space(x.width)), w.registers.row(x.b).tolist()
    elements = _split(w, fragment, w.list_rows(x, fragment.registers))
    for lane in lanes_of(mask):
        for j in range(fragment.elements):
            address = bases[lane] + _wmma_offset(x, strides[lane], fragment, lane, j)
            w.write(lane, Space(x.width), address, elements[lane, j].tobytes(), size)
