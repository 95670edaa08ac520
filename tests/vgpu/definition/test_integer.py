"""Integer and bit operations: hand-derived edge cases, one table."""

from __future__ import annotations

import pytest

from warpsight.vgpu.bytecode import Cmp, Mod, T
from warpsight.vgpu.definition.fragments import apply, both

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
MIN32, MIN64 = 1 << 31, 1 << 63

CASES: list[tuple[str, T, tuple[int, ...], int, dict[str, object]]] = [
    ("ADD", T.U32, (M32, 2), 1, {}),
    ("ADD", T.S32, (0x7FFFFFFF, 1), MIN32, {}),
    ("ADD", T.S32, (0x7FFFFFFF, 1), 0x7FFFFFFF, {"mod": Mod.SAT}),
    ("ADD", T.S32, (MIN32, M32), MIN32, {"mod": Mod.SAT}),
    ("ADD", T.U16, (0xFFFF, 1), 0, {}),
    ("ADD", T.U16X2, (0xFFFF_0001, 0x0001_FFFF), 0, {}),
    ("SUB", T.S32, (MIN32, 1), MIN32, {"mod": Mod.SAT}),
    ("SUB", T.U64, (0, 1), M64, {}),
    ("MUL", T.S32, (M32, M32), 1, {}),
    ("MUL", T.U64, (1 << 32, 1 << 32), 0, {}),
    ("MULHI", T.U32, (M32, M32), M32 - 1, {}),
    ("MULHI", T.S32, (M32, M32), 0, {}),
    ("MULHI", T.S32, (MIN32, MIN32), 1 << 30, {}),
    ("MULHI", T.U16, (0xFFFF, 0xFFFF), 0xFFFE, {}),
    ("MULHI", T.U64, (M64, M64), M64 - 1, {}),
    ("MULHI", T.S64, (MIN64, 2), M64, {}),
    ("MULWIDE", T.S32, (M32, 5), M64 - 4, {"tb": T.S64}),
    ("MULWIDE", T.U32, (M32, 5), M32 * 5, {"tb": T.U64}),
    ("MULWIDE", T.S16, (0x8000, 0x8000), 1 << 30, {"tb": T.S32}),
    ("MAD", T.S32, (M32, 3, 10), 7, {}),
    ("MADHI", T.S32, (MIN32, MIN32, 0x7FFFFFFF), 0x7FFFFFFF, {"mod": Mod.SAT}),
    ("MADHI", T.S32, (MIN32, MIN32, 0x7FFFFFFF), 0xBFFFFFFF, {}),
    ("MADWIDE", T.U32, (M32, M32, 1 << 40), (M32 * M32 + (1 << 40)) & M64, {"tb": T.U64}),
    ("NEG", T.S32, (MIN32,), MIN32, {}),
    ("NEG", T.S16, (1,), 0xFFFF, {}),
    ("ABS", T.S32, (MIN32,), MIN32, {}),
    ("ABS", T.S64, (M64,), 1, {}),
    ("MIN", T.S32, (M32, 0), M32, {}),
    ("MIN", T.U32, (M32, 0), 0, {}),
    ("MAX", T.S16, (0x8000, 0x7FFF), 0x7FFF, {}),
    ("MAX", T.S16X2, (0x8000_0001, 0x7FFF_FFFF), 0x7FFF_0001, {}),
    ("MIN", T.S32, (M32, 5), 0, {"mod": Mod.RELU}),
    ("MAX", T.S16X2, (0x8000_0001, 0xFFFF_0002), 0x0000_0002, {"mod": Mod.RELU}),
    ("AND", T.U64, (M64, 0xF0 << 40), 0xF0 << 40, {}),
    ("NOT", T.U16, (0,), 0xFFFF, {}),
    ("CNOT", T.U32, (0,), 1, {}),
    ("CNOT", T.U32, (7,), 0, {}),
    ("LOP3", T.U32, (0xF0, 0xCC, 0xAA), 0xCA, {"imm": 0xCA}),
    ("LOP3", T.U32, (0xF0, 0xCC, 0xAA), 0xFFFFFF97, {"imm": 0x97}),
    ("SHL", T.U32, (1, 31), MIN32, {}),
    ("SHL", T.U32, (1, 32), 0, {}),
    ("SHL", T.U32, (1, M32), 0, {}),
    ("SHL", T.U64, (1, 63), MIN64, {}),
    ("SHL", T.U16, (0xFFFF, 4), 0xFFF0, {}),
    ("SHR", T.S32, (MIN32, 31), M32, {}),
    ("SHR", T.S32, (MIN32, 32), M32, {}),
    ("SHR", T.U32, (MIN32, 255), 0, {}),
    ("SHR", T.S64, (MIN64, 64), M64, {}),
    ("SHR", T.S16, (0x8000, 3), 0xF000, {}),
    ("SHF", T.U32, (0xDDCCBBAA, 0x44332211, 8), 0x332211DD, {}),
    ("SHF", T.U32, (0xDDCCBBAA, 0x44332211, 8), 0x11DDCCBB, {"sub": 1}),
    ("SHF", T.U32, (0xDDCCBBAA, 0x44332211, 40), 0xDDCCBBAA, {}),
    ("SHF", T.U32, (0xDDCCBBAA, 0x44332211, 40), 0x332211DD, {"sub": 2}),
    ("SHF", T.U32, (0xDDCCBBAA, 0x44332211, 32), 0x44332211, {"sub": 1}),
    ("DIV", T.S32, (M32 - 6, 2), M32 - 2, {}),
    ("DIV", T.S32, (MIN32, M32), MIN32, {}),
    ("DIV", T.U32, (5, 0), M32, {}),
    ("DIV", T.S64, (5, 0), M64, {}),
    ("DIV", T.U16, (5, 0), 0xFFFF, {}),
    ("REM", T.S32, (M32 - 6, 4), M32 - 2, {}),
    ("REM", T.S32, (MIN32, M32), 0, {}),
    ("REM", T.U64, (5, 0), 5, {}),
    ("SAD", T.S32, (M32, 1, 10), 12, {}),
    ("SAD", T.U32, (1, M32, 3), 1, {}),
    ("BFE", T.U32, (0xABCD1234, 8, 12), 0xD12, {}),
    ("BFE", T.S32, (0xABCD1234, 28, 8), 0xFFFFFFFA, {}),
    ("BFE", T.U32, (0xABCD1234, 28, 8), 0xA, {}),
    ("BFE", T.S32, (0x80000000, 40, 3), M32, {}),
    ("BFE", T.S32, (M32, 3, 0), 0, {}),
    ("BFE", T.U64, (MIN64, 60, 255), 8, {}),
    ("BFE", T.S32, (0x00000F00, 8, 256 + 4), M32, {}),
    ("BFI", T.U32, (0xFF, 0, 28, 8), 0xF0000000, {}),
    ("BFI", T.U32, (0x5, M32, 4, 4), 0xFFFFFF5F, {}),
    ("BFI", T.U32, (0x5, 0x1234, 40, 4), 0x1234, {}),
    ("BFI", T.U64, (M64, 0, 60, 64), 0xF << 60, {}),
    ("BFIND", T.U32, (0,), M32, {}),
    ("BFIND", T.U32, (0x10000,), 16, {}),
    ("BFIND", T.U32, (0x10000,), 15, {"sub": 1}),
    ("BFIND", T.S32, (M32,), M32, {"sub": 1}),
    ("BFIND", T.S32, (0xFFFFFF00,), 7, {}),
    ("BFIND", T.U64, (1 << 40,), 40, {}),
    ("BREV", T.U32, (0x1,), MIN32, {}),
    ("BREV", T.U64, (0x3,), 3 << 62, {}),
    ("CLZ", T.U32, (0,), 32, {}),
    ("CLZ", T.U64, (1,), 63, {}),
    ("POPC", T.U64, (M64,), 64, {}),
    ("FNS", T.U32, (0b1011_0000, 4, 0), 4, {}),
    ("FNS", T.U32, (0b1011_0000, 3, 0), M32, {}),
    ("FNS", T.U32, (0b1011_0000, 4, 1), 4, {}),
    ("FNS", T.U32, (0b1011_0000, 0, 3), 7, {}),
    ("FNS", T.U32, (0b1011_0000, 31, M32), 7, {}),
    ("FNS", T.U32, (0b1011_0000, 31, M32 - 3), M32, {}),
    ("FNS", T.U32, (M32, 32, 1), M32, {}),
    ("PRMT", T.U32, (0x33221180, 0x77665544, 0x7410), 0x77441180, {}),
    ("PRMT", T.U32, (0x33221180, 0x77665544, 0x9998), 0x000000FF, {}),
    ("PRMT", T.U32, (0x33221100, 0x77665544, 1), 0x44332211, {"sub": 1}),
    ("PRMT", T.U32, (0x33221100, 0x77665544, 1), 0x66770011, {"sub": 2}),
    ("PRMT", T.U32, (0x33221100, 0x77665544, 2), 0x22222222, {"sub": 3}),
    ("PRMT", T.U32, (0x33221100, 0x77665544, 2), 0x33222222, {"sub": 4}),
    ("PRMT", T.U32, (0x33221100, 0x77665544, 1), 0x11111100, {"sub": 5}),
    ("PRMT", T.U32, (0x33221100, 0x77665544, 1), 0x33223322, {"sub": 6}),
    ("BMSK", T.U32, (4, 8), 0xFF0, {}),
    ("BMSK", T.U32, (28, 40), 0xF0000000, {}),
    ("BMSK", T.U32, (32, 4), 0, {}),
    ("BMSK", T.U32, (32, 4), 0xF, {"sub": 1}),
    ("BMSK", T.U32, (0, 32), 0, {"sub": 1}),
    ("SZEXT", T.S32, (0x8F, 8), 0xFFFFFF8F, {}),
    ("SZEXT", T.U32, (0x18F, 8), 0x8F, {}),
    ("SZEXT", T.S32, (M32, 0), 0, {}),
    ("SZEXT", T.S32, (0x1234, 99), 0x1234, {}),
    ("SZEXT", T.S32, (0x1234, 32), 0, {"sub": 1}),
    ("DP4A", T.S32, (0xFF01FF01, 0x02020202, 10), 10, {"tb": T.S32}),
    ("DP4A", T.U32, (0xFFFFFFFF, 0xFFFFFFFF, 0), (255 * -1 * 4) & M32, {"tb": T.S32}),
    ("DP2A", T.S32, (0xFFFF0002, 0x05040302, 1), 1 + 4 - 3, {"tb": T.U32}),
    ("DP2A", T.S32, (0xFFFF0002, 0x05040302, 1), 1 + 8 - 5, {"tb": T.U32, "sub": 1}),
    ("VABSDIFF", T.U32, (0x00FF0102, 0xFF000304, 0), 0xFFFF0202, {"vec": 4}),
    ("VABSDIFF", T.U32, (0x00FF0102, 0xFF000304, 5), 5 + 255 + 255 + 2 + 2, {"vec": 4, "sub": 1}),
    ("VABSDIFF", T.S32, (0x8000_0001, 0x7FFF_FFFF, 0), 0xFFFF_0002, {"vec": 2}),
]


@pytest.mark.parametrize("op, kind, operands, wanted, fields", CASES)
def test_edges(op: str, kind: T, operands: tuple[int, ...], wanted: int, fields: dict[str, object]) -> None:
    got = apply(op, kind, *([o] for o in operands), **fields)
    assert [hex(g) for g in got] == [hex(wanted)]


def test_carries_chain_into_a_wide_sum() -> None:
    low, carry = both("ADDC", T.U32, [M32, 1], [1, 1], [False, True])
    assert (low, carry) == ([0, 3], [True, False])
    assert both("ADDC", T.U64, [M64], [0], [True]) == [[0], [True]]
    assert both("SUBC", T.U32, [0, 5, 5], [0, 5, 4], [True, False, True]) == [[M32, 0, 0], [True, False, False]]
    assert both("MADC", T.U32, [M32], [M32], [M32], [True]) == [[1], [True]]
    assert both("MADC", T.U32, [M32], [M32], [1], [False], sub=1) == [[M32], [False]]


def test_integer_comparisons_follow_the_sign_of_the_type() -> None:
    a, b, always = [M32, 1, 5], [1, M32, 5], [True] * 3
    assert apply("SETP", T.S32, a, b, always, sub=Cmp.LT) == [True, False, False]
    assert apply("SETP", T.U32, a, b, always, sub=Cmp.LT) == [False, True, False]
    assert apply("SETP", T.U32, a, b, always, sub=Cmp.GE) == [True, False, True]
    first, second = both("SETP", T.U32, a, b, [False, True, True], sub=Cmp.EQ, imm=2)
    assert (first, second) == ([False, True, False], [True, False, True])
    assert both("SETP", T.U32, a, b, [False, True, False], sub=Cmp.NE, imm=1) == [
        [True, True, False],
        [False, True, True],
    ]


def test_predicate_logic_and_selection() -> None:
    bits = [(i >> 2 & 1, i >> 1 & 1, i & 1) for i in range(8)]
    a, b, c = ([bool(v[k]) for v in bits] for k in range(3))
    assert apply("PLOP", T.PRED, a, b, c, imm=0b1100_1010) == [bool(0b1100_1010 >> i & 1) for i in range(8)]
    assert apply("SEL", T.U64, [M64, M64], [7, 7], [True, False]) == [M64, 7]
    assert apply("P2R", T.U32, [True, False], imm=M32) == [M32, 0]
