"""Loads, stores, atomics, matrix loads, asynchronous copies, symbols and address spaces."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.vgpu.bytecode import (
    CONST_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    Atomic,
    Flag,
    Relocation,
    Space,
    Symbol,
    T,
)
from warpsight.vgpu.definition import Memory, run, run_lanes
from warpsight.vgpu.definition.fragments import apply, f16, f32, f64, program

FULL = 0xFFFFFFFF
AT_BASE = {"sub": Space.GLOBAL, "a": ~2}
BASE = (0, 0, GLOBAL_BASE & FULL, GLOBAL_BASE >> 32)


def word(value: int) -> tuple[int, int]:
    return value & FULL, value >> 32


@pytest.mark.parametrize(
    "kind, width, flags, wanted",
    [
        (T.S8, 1, 0, 0xFF80),
        (T.S8, 1, Flag.WIDE32, 0xFFFFFF80),
        (T.S8, 1, Flag.WIDE64, (1 << 64) - 128),
        (T.U8, 1, Flag.WIDE64, 0x80),
        (T.U16, 2, 0, 0xFF80),
        (T.S16, 2, 0, 0xFF80),
        (T.S16, 2, Flag.WIDE32, 0xFFFFFF80),
        (T.S32, 4, Flag.WIDE64, 0xFFFFFFFF_8000FF80),
        (T.U32, 4, Flag.WIDE64, 0x8000FF80),
        (T.F64, 8, 0, 0x12345678_8000FF80),
    ],
)
def test_small_loads_are_extended_as_their_register_asks(kind: T, width: int, flags: int, wanted: int) -> None:
    p = program(
        {"op": "LD", "ta": kind, "width": width, "vec": 1, "list": 0, "flags": flags, **AT_BASE},
        {"op": "ST", "ta": T.U64, "width": 8, "vec": 1, "list": 0, "imm": 8, **AT_BASE},
        consts=BASE,
        lists=(0,),
    )
    memory = Memory()
    memory.alloc("x", (0x12345678_8000FF80).to_bytes(8, "little") + bytes(8))
    run(p, grid=(1, 1, 1), block=(1, 1, 1), memory=memory)
    assert hex(int.from_bytes(memory.read(GLOBAL_BASE + 8, 8), "little")) == hex(wanted)


def test_vector_stores_truncate_and_vector_loads_return_them() -> None:
    p = program(
        {"op": "S2R", "sub": 12, "d0": 0},
        {"op": "MADWIDE", "ta": T.U32, "tb": T.U64, "d0": 4, "a": 0, "b": ~4, "c": ~2},
        {"op": "ST", "ta": T.U16, "width": 2, "vec": 4, "list": 0, "sub": Space.GENERIC, "a": 4},
        consts=(*BASE, 8, 0xABCD1234),
        lists=(0, ~5, ~5, 0),
    )
    memory = Memory()
    out = memory.alloc("x", bytes(256))
    run(p, grid=(1, 1, 1), block=(32, 1, 1), memory=memory)
    got = np.frombuffer(memory.read(out, 256), np.uint16).reshape(32, 4)
    assert got.tolist() == [[lane, 0x1234, 0x1234, lane] for lane in range(32)]


ATOMICS: list[tuple[T, Atomic, int, int, int, int]] = [
    (T.U32, Atomic.ADD, FULL, 2, 0, 1),
    (T.S32, Atomic.MIN, 3, FULL, 0, FULL),
    (T.U32, Atomic.MIN, 3, FULL, 0, 3),
    (T.S64, Atomic.MAX, 1 << 63, 5, 0, 5),
    (T.B32, Atomic.AND, 0xFF, 0x0F, 0, 0x0F),
    (T.B64, Atomic.OR, 0xF0, 1 << 40, 0, 0xF0 | 1 << 40),
    (T.B32, Atomic.XOR, 0xFF, 0x0F, 0, 0xF0),
    (T.B32, Atomic.EXCH, 1, 9, 0, 9),
    (T.B32, Atomic.CAS, 1, 1, 7, 7),
    (T.B16, Atomic.CAS, 1, 2, 7, 1),
    (T.U32, Atomic.INC, 4, 5, 0, 5),
    (T.U32, Atomic.INC, 5, 5, 0, 0),
    (T.U32, Atomic.DEC, 0, 5, 0, 5),
    (T.U32, Atomic.DEC, 9, 5, 0, 5),
    (T.U32, Atomic.DEC, 3, 5, 0, 2),
    (T.F32, Atomic.ADD, f32(1.5)[0], f32(2.25)[0], 0, f32(3.75)[0]),
    (T.F32, Atomic.ADD, 1, 1, 0, 2),
    (T.F64, Atomic.ADD, f64(1.0)[0], f64(2.0**-53)[0], 0, f64(1.0)[0]),
    (T.F16, Atomic.ADD, f16(1.0)[0], f16(2.0)[0], 0, f16(3.0)[0]),
    (T.F16X2, Atomic.ADD, 0x3C00_4000, 0x3C00_4000, 0, 0x4000_4400),
    (T.BF16X2, Atomic.ADD, 0x3F80_4000, 0x3F80_4000, 0, 0x4000_4080),
]


@pytest.mark.parametrize("kind, which, old, b, c, new", ATOMICS)
def test_atomics_return_the_old_value_and_store_the_new(
    kind: T, which: Atomic, old: int, b: int, c: int, new: int
) -> None:
    size = {T.B16: 2, T.F16: 2, T.S64: 8, T.B64: 8, T.F64: 8}.get(kind, 4)
    p = program(
        {"op": "ATOM", "ta": kind, "tb": which, "d0": 0, "b": ~4, "c": ~6, **AT_BASE},
        {"op": "ST", "ta": T.U64, "width": 8, "vec": 1, "list": 0, "imm": 8, **AT_BASE},
        consts=(*BASE, *word(b), *word(c)),
        lists=(0,),
    )
    memory = Memory()
    memory.alloc("x", old.to_bytes(8, "little") + bytes(8))
    run(p, grid=(1, 1, 1), block=(1, 1, 1), memory=memory)
    assert int.from_bytes(memory.read(GLOBAL_BASE, size), "little") == new
    assert int.from_bytes(memory.read(GLOBAL_BASE + 8, 8), "little") == old


def test_atomic_lanes_act_in_ascending_order() -> None:
    p = program(
        {"op": "S2R", "sub": 12, "d0": 0},
        {"op": "ATOM", "ta": T.B32, "tb": Atomic.EXCH, "sub": Space.SHARED, "d0": 1, "a": -1, "b": 0},
        shared_bytes=4,
    )
    rows, _ = run_lanes(p, np.zeros((16, 32), np.uint32), np.zeros(8, np.uint32))
    assert rows[1].tolist() == [0, *range(31)]


@pytest.mark.parametrize("transposed", [0, 1])
def test_matrix_loads_deal_out_pairs_of_elements(transposed: int) -> None:
    """Shared byte pair i holds i, so every element says where it came from."""
    p = program(
        {"op": "S2R", "sub": 12, "d0": 0},
        {"op": "SHL", "ta": T.U32, "d0": 1, "a": 0, "b": ~2},
        {"op": "SHL", "ta": T.U32, "d0": 2, "a": 0, "b": ~3},
        *[
            step
            for i in range(8)
            for step in (
                {"op": "ADD", "ta": T.U32, "d0": 3, "a": 2, "b": ~(4 + i)},
                {"op": "ST", "ta": T.U16, "width": 2, "vec": 1, "list": 2, "sub": Space.SHARED, "a": 1, "imm": 2 * i},
            )
        ],
        {"op": "LDMATRIX", "vec": 2, "sub": transposed, "list": 0, "a": 1},
        consts=(0, 0, 4, 3, *range(8)),
        lists=(4, 5, 3),
        shared_bytes=512,
    )
    rows, _ = run_lanes(p, np.zeros((16, 32), np.uint32), np.zeros(8, np.uint32))
    for lane in range(32):
        first, second = ((lane // 4, 2 * (lane % 4)), (lane // 4, 2 * (lane % 4) + 1))
        if transposed:
            first, second = first[::-1], second[::-1]
        wanted = (8 * first[0] + first[1]) | (8 * second[0] + second[1]) << 16
        assert (rows[4][lane], rows[5][lane]) == (wanted, wanted + 64 + (64 << 16))


def test_asynchronous_copies_appear_at_the_wait_group_by_group() -> None:
    copy = {"op": "CPASYNC", "width": 4, "a": -1, "b": ~2, "c": ~4}
    read = {"op": "LD", "ta": T.U32, "width": 4, "vec": 1, "sub": Space.SHARED, "a": -1}
    p = program(
        copy,
        {"op": "CPCOMMIT"},
        {**copy, "target": 4, "imm": 4, "c": ~5},
        {"op": "CPCOMMIT"},
        {**read, "list": 0},
        {"op": "CPWAIT", "imm": 1},
        {**read, "list": 1},
        {**read, "list": 2, "imm": 4},
        {"op": "CPWAIT", "imm": -1},
        {**read, "list": 3, "imm": 4},
        {"op": "ST", "ta": T.U32, "width": 4, "vec": 4, "list": 0, "imm": 16, **AT_BASE},
        consts=(*BASE, 4, 2),
        lists=(0, 1, 2, 3),
        shared_bytes=8,
    )
    memory = Memory()
    memory.alloc("x", np.array([0x11111111, 0x22222222, 0, 0, 9, 9, 9, 9], np.uint32))
    run(p, grid=(1, 1, 1), block=(1, 1, 1), memory=memory)
    assert np.frombuffer(memory.read(GLOBAL_BASE + 16, 16), np.uint32).tolist() == [0, 0x11111111, 0, 0x2222]


def test_allocations_are_aligned_and_apart() -> None:
    memory = Memory()
    first, second, third = memory.alloc("a", bytes(1)), memory.alloc("b", bytes(256)), memory.alloc("c", b"")
    assert first == GLOBAL_BASE
    assert second == GLOBAL_BASE + 4096 + 256
    assert third == second + 256 + 4096
    with pytest.raises(ValueError, match="inside one allocation"):
        memory.read(first, 2)


def test_symbols_get_addresses_and_relocations_are_patched() -> None:
    p = program(
        {"op": "LD", "ta": T.U64, "width": 8, "vec": 1, "list": 0, "sub": Space.GLOBAL, "a": ~2},
        {"op": "LD", "ta": T.U32, "width": 4, "vec": 1, "list": 1, "sub": Space.GENERIC, "a": 0},
        {"op": "LD", "ta": T.U32, "width": 4, "vec": 1, "list": 2, "sub": Space.GENERIC, "a": ~4},
        {"op": "ADD", "ta": T.U32, "d0": 2, "a": 2, "b": 3},
        {"op": "ST", "ta": T.U32, "width": 4, "vec": 1, "list": 1, "sub": Space.GLOBAL, "a": ~2, "imm": 8},
        consts=(0, 0, 0, 0, 0, 0),
        lists=(0, 2, 3),
        const_data=bytes(4) + (5).to_bytes(4, "little"),
        symbols=(
            Symbol("holder", Space.GLOBAL, 16, 8),
            Symbol("value", Space.GLOBAL, 8, 8, data=bytes(4) + (37).to_bytes(4, "little")),
            Symbol("table", Space.CONST, 4, 4, offset=4),
        ),
        relocations=(
            Relocation("holder", 0, row=2),
            Relocation("table", 0, row=4),
            Relocation("value", 4, in_symbol="holder", at=0),
        ),
    )
    memory = Memory()
    run(p, grid=(1, 1, 1), block=(1, 1, 1), memory=memory)
    holder = memory.address_of("holder")
    assert holder is not None
    assert int.from_bytes(memory.read(holder + 8, 4), "little") == 42


def test_generic_addresses_know_their_space() -> None:
    addresses = [GLOBAL_BASE, SHARED_WINDOW, LOCAL_WINDOW + 8, CONST_WINDOW, PARAM_WINDOW]
    inside = {Space.GLOBAL: [0, 4], Space.SHARED: [1], Space.LOCAL: [2], Space.CONST: [3], Space.PARAM: [4]}
    for space, found in inside.items():
        assert apply("ISSPACE", T.U64, addresses, sub=space) == [i in found for i in range(5)]
    assert apply("CVTA", T.U64, [16], sub=Space.LOCAL) == [LOCAL_WINDOW + 16]
    assert apply("CVTA", T.U64, [SHARED_WINDOW + 16], sub=Space.SHARED, imm=1) == [16]
    assert apply("CVTA", T.U64, [GLOBAL_BASE], sub=Space.GLOBAL) == [GLOBAL_BASE]


def test_the_device_heap_gives_memory_until_it_is_freed() -> None:
    p = program(
        {"op": "MALLOC", "d0": 0, "a": ~2},
        {"op": "ST", "ta": T.U64, "width": 8, "vec": 1, "list": 0, "sub": Space.GENERIC, "a": 0},
        {"op": "FREE", "a": 0},
        {"op": "MALLOC", "d0": 2, "a": ~4},
        {"op": "MALLOC", "d0": 4, "a": ~0},
        consts=(0, 0, 8, 0, 1 << 30, 0),
        lists=(0,),
    )
    rows, _ = run_lanes(p, np.zeros((16, 32), np.uint32), np.zeros(8, np.uint32))
    assert len(set(rows[0].tolist())) == 32
    assert not rows[2:6].any()
