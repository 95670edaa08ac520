"""Bit operations: logic, shifts, fields, permutes, and logic on predicates. Each lane as one Python integer where
that reads best.
"""

from __future__ import annotations

import numpy as np

from warpsight.vgpu.definition.lanes import SIGNED_TYPES, UNSIGNED, Ins, Lanes, bits_of, exact, wrap
from warpsight.vgpu.definition.operations import lanewise, operation

ALL_ONES = 0xFFFFFFFF


@operation("AND")
def bit_and(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return a & b


@operation("OR")
def bit_or(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return a | b


@operation("XOR")
def bit_xor(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return a ^ b


@operation("NOT")
def bit_not(x: Ins, a: Lanes) -> Lanes:
    return ~a


@operation("CNOT")
def is_zero(x: Ins, a: Lanes) -> Lanes:
    return (a == 0).astype(a.dtype)


def _table(table: int, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Bitwise choice from an 8-entry table whose index has `a` as its most significant bit."""
    result = a & ~a
    for index in range(8):
        if table >> index & 1:
            result = result | (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
    return result


@operation("LOP3")
def table_of_rows(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return _table(x.imm, a, b, c)


@operation("PLOP")
def table_of_predicates(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return _table(x.imm, a, b, c)


@operation("SHL")
def shift_left(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return wrap(exact(a) << exact(np.minimum(b, bits_of(x.ta))), x.ta)


@operation("SHR")
def shift_right(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    # Python's >> fills with the sign of an exact integer, which is what the type's own signedness asks for.
    return wrap(exact(a) >> exact(np.minimum(b, bits_of(x.ta))), x.ta)


@operation("SHF")
def funnel_shift(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    both = exact(b) << 32 | exact(a)
    amount = exact(c & np.uint32(31) if x.sub & 2 else np.minimum(c, 32))
    shifted = both >> amount if x.sub & 1 else (both << amount) >> 32
    return (shifted & ALL_ONES).astype(np.uint32)


def _unsigned(values: Lanes) -> Lanes:
    return values.view(UNSIGNED[values.dtype.itemsize])


@operation("BFE")
def extract_field(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    width, signed = bits_of(x.ta), x.ta in SIGNED_TYPES

    def extract(value: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        if length == 0:
            return 0
        fill = signed and value >> min(position + length - 1, width - 1) & 1
        available = max(0, min(length, width - position))
        field = value >> position & ((1 << available) - 1)
        return field | (-1 << available if fill else 0)

    return wrap(lanewise(extract, object, _unsigned(a), b, c), x.ta)


@operation("BFI")
def insert_field(x: Ins, a: Lanes, b: Lanes, c: Lanes, e: Lanes) -> Lanes:
    def insert(field: int, into: int, position: int, length: int) -> int:
        field_mask = ((1 << (length & 255)) - 1) << (position & 255)
        return into & ~field_mask | field << (position & 255) & field_mask

    return wrap(lanewise(insert, object, _unsigned(a), _unsigned(b), c, e), x.ta)


@operation("BFIND")
def find_leading(x: Ins, a: Lanes) -> Lanes:
    width = bits_of(x.ta)

    def position(value: int) -> int:
        found = (value if value >= 0 else ~value).bit_length() - 1
        if found < 0:
            return ALL_ONES
        return width - 1 - found if x.sub & 1 else found

    return lanewise(position, np.uint32, a)


@operation("BREV")
def reverse(x: Ins, a: Lanes) -> Lanes:
    def one(value: int) -> int:
        return int(f"{value:0{bits_of(x.ta)}b}"[::-1], 2)

    return wrap(lanewise(one, object, _unsigned(a)), x.ta)


@operation("CLZ")
def leading_zeros(x: Ins, a: Lanes) -> Lanes:
    return bits_of(x.ta) - lanewise(int.bit_length, np.uint32, _unsigned(a))


@operation("POPC")
def population(x: Ins, a: Lanes) -> Lanes:
    return lanewise(int.bit_count, np.uint32, _unsigned(a))


@operation("FNS")
def nth_set(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    def find(mask: int, base: int, offset: int) -> int:
        upward = [i for i in range(base, 32) if mask >> i & 1]
        downward = [i for i in range(base, -1, -1) if mask >> i & 1] if base < 32 else []
        if offset == 0:
            return base if base in upward else ALL_ONES
        found, count = (upward, offset) if offset > 0 else (downward, -offset)
        return found[count - 1] if count <= len(found) else ALL_ONES

    return lanewise(find, np.uint32, a, b, c.view(np.int32))


def _chosen_bytes(mode: int, selector: int) -> list[tuple[int, bool]]:
    """For each result byte: which byte of (b:a), and whether its sign is replicated."""
    if mode == 0:
        return [(selector >> 4 * i & 7, bool(selector >> 4 * i & 8)) for i in range(4)]
    s = selector & 3
    picks = {
        1: [s + i for i in range(4)],
        2: [(s - i) & 7 for i in range(4)],
        3: [s] * 4,
        4: [max(i, s) for i in range(4)],
        5: [min(i, s) for i in range(4)],
        6: [2 * (s & 1) + (i & 1) for i in range(4)],
    }
    return [(pick, False) for pick in picks[mode]]


@operation("PRMT")
def permute(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    def pick(low: int, high: int, selector: int) -> int:
        source = (high << 32 | low).to_bytes(8, "little")
        chosen = [(source[index], sign) for index, sign in _chosen_bytes(x.sub, selector)]
        return int.from_bytes(bytes((255 if byte & 128 else 0) if sign else byte for byte, sign in chosen), "little")

    return lanewise(pick, np.uint32, a, b, c)


def _amount(x: Ins, value: int) -> int:
    return value & 31 if x.sub & 1 else min(value, 32)


@operation("BMSK")
def bit_mask(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    def one(position: int, count: int) -> int:
        return ((1 << _amount(x, count)) - 1) << _amount(x, position) & ALL_ONES

    return lanewise(one, np.uint32, a, b)


@operation("SZEXT")
def extend(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    def from_bits(value: int, amount: int) -> int:
        count = _amount(x, amount)
        field = value & ((1 << count) - 1)
        negative = count and x.ta in SIGNED_TYPES and field >> (count - 1) & 1
        return field - (1 << count) if negative else field

    return wrap(lanewise(from_bits, object, _unsigned(a), b), x.ta)
