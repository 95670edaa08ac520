"""Small PTX texts and the exact bytecode that they become; and what is refused, by name and line."""

from __future__ import annotations

from typing import Any

import pytest

from warpsight.errors import UnsupportedInstruction, UsageError
from warpsight.vgpu.bytecode import NONE, OP_NAMES, SHARED_WINDOW, Flag, Mod, Program, Space, T
from warpsight.vgpu.ptx import load_ptx

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n"


def load(body: str, before: str = "", params: str = ".param .u64 k_param_0, .param .u32 k_param_1") -> Program:
    return load_ptx(f"{HEADER}{before}.visible .entry k({params})\n{{\n{REGISTERS}{body}\nret;\n}}\n")


def only(body: str, before: str = "") -> tuple[dict[str, Any], Program]:
    """Fields of the one counted instruction of a body."""
    program = load(body, before)
    found = [ins for ins in program.code[:-1] if not ins["flags"] & Flag.HIDDEN]
    assert len(found) == 1
    fields = {name: int(found[0][name]) for name in program.code.dtype.names or ()}
    return {**fields, "op": OP_NAMES[fields["op"]]}, program


def constant(program: Program, operand: int, wide: bool = False) -> int:
    assert operand < 0
    low = int(program.consts[~operand])
    return low | int(program.consts[~operand + 1]) << 32 if wide else low


def test_types_modifiers_and_immediates_of_arithmetic() -> None:
    ins, program = only("fma.rz.ftz.sat.f32 %f1, %f2, 0f3FC00000, -2.0;")
    assert (ins["op"], ins["ta"], ins["mod"]) == ("FMA", T.F32, 1 | Mod.FTZ | Mod.SAT)
    assert (constant(program, ins["b"]), constant(program, ins["c"])) == (0x3FC00000, 0xC0000000)
    ins, program = only("add.s64 %rd1, %rd2, -8;")
    assert (ins["op"], ins["ta"], constant(program, ins["b"], wide=True)) == ("ADD", T.S64, 2**64 - 8)
    ins, program = only("and.b16 %rs1, %rs2, -2;")
    assert constant(program, ins["b"]) == 0xFFFE
    ins, _ = only("mul.wide.s32 %rd1, %r1, %r2;")
    assert (ins["op"], ins["ta"], ins["tb"]) == ("MULWIDE", T.S32, T.S64)
    ins, _ = only("cvt.rzi.s8.f32 %r1, %f1;")
    assert (ins["ta"], ins["tb"], ins["mod"], ins["vec"]) == (T.S8, T.F32, 1, 4)


def test_constant_rows_zero_and_one_are_zero_and_equal_values_share() -> None:
    program = load("add.s32 %r1, %r1, 7;\nadd.s32 %r1, %r1, 7;\nadd.s64 %rd1, %rd1, 0;")
    assert program.consts[:2].tolist() == [0, 0]
    assert program.code["b"][0] == program.code["b"][1] and program.code["b"][2] == -1


def test_setp_with_two_destinations_a_boolean_and_a_negated_source() -> None:
    ins, _ = only("@!%p4 setp.gtu.or.ftz.f32 %p1|%p2, %f1, %f2, !%p3;")
    assert (ins["op"], ins["sub"], ins["imm"], ins["mod"]) == ("SETP", 10, 1, Mod.FTZ)
    assert ins["guard"] & 1 and ins["c"] & 1 and ins["guard"] >> 1 and ins["c"] >> 1
    assert len({ins["d0"], ins["d1"], 0}) == 3
    ins, _ = only("setp.eq.s32 %p1, %r1, 0;")
    assert (ins["d1"], ins["c"], ins["b"]) == (0, 0, -1)


def test_carries_pass_through_one_predicate() -> None:
    program = load("add.cc.u32 %r1, %r2, %r3;\naddc.cc.u32 %r4, %r5, 0;\nmadc.hi.u32 %r6, %r1, %r2, %r4;")
    first, second, third = program.code[:3]
    assert (first["c"], first["d1"] > 0) == (1, True)
    assert (second["c"], second["d1"]) == (2 * first["d1"], first["d1"])
    assert (OP_NAMES[third["op"]], third["sub"], third["e"], third["d1"]) == ("MADC", 1, 2 * first["d1"], 0)


def test_loads_name_rows_width_space_and_how_far_to_extend() -> None:
    ins, program = only("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-16];")
    assert (ins["op"], ins["sub"], ins["ta"], ins["width"], ins["vec"], ins["imm"]) == (
        "LD",
        Space.GLOBAL,
        T.F32,
        4,
        4,
        -16,
    )
    assert program.lists[ins["list"] + 1] == NONE
    assert only("ld.shared.s8 %r1, [%r2];")[0]["flags"] & Flag.WIDE32
    assert only("ld.s16 %rd1, [%rd2];")[0]["flags"] & Flag.WIDE64
    assert not only("ld.local.s8 %rs1, [%rd2];")[0]["flags"]
    assert only("ld.acquire.gpu.global.u32 %r1, [%rd2];")[0]["flags"] == Flag.VOLATILE
    ins, _ = only("ld.param.u32 %r1, [k_param_1];")
    assert (ins["sub"], ins["a"], ins["imm"]) == (Space.PARAM, -1, 8)


def test_an_atomic_whose_result_nobody_reads_is_a_reduction() -> None:
    ins, program = only("atom.global.add.u32 %r1, [%rd1+4], 3;")
    assert (ins["d0"], ins["flags"], program.order_sensitive) == (NONE, Flag.UNUSED_RESULT, False)
    program = load("atom.global.add.u32 %r1, [%rd1], 3;\nst.global.u32 [%rd1], %r1;")
    assert program.code["d0"][0] >= 0 and program.order_sensitive


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("red.global.add.f32 [%rd1], %f1;", True),
        ("red.shared.add.f32 [%r1], %f1;", False),
        ("atom.global.exch.b32 %r1, [%rd1], %r2;", True),
        ("ld.volatile.global.u32 %r1, [%rd1];", True),
        ("ld.volatile.shared.u32 %r1, [%r1];", False),
        ("red.global.max.s32 [%rd1], %r1;", False),
    ],
)
def test_order_sensitivity(body: str, expected: bool) -> None:
    assert load(body).order_sensitive is expected


def test_variables_get_places_and_global_addresses_relocations() -> None:
    before = (
        ".const .align 4 .u32 pad;\n.const .align 8 .f64 kc[2] = {1.0, 0d4000000000000000};\n"
        ".global .align 4 .u32 g[3] = {1, 0x10, -1};\n"
        ".global .align 8 .u64 p[3] = {g, generic(g)+8, generic(s)};\n"
        ".shared .align 16 .b8 s[20];\n.extern .shared .align 16 .b8 dyn[];\n"
        ".global .u32 not_used = 9;\n"
    )
    body = (
        "ld.const.f64 %rd1, [kc+8];\nmov.u64 %rd2, p;\nld.global.u32 %r1, [g+4];\nmov.u32 %r2, dyn;\n"
        "ld.shared.u32 %r3, [s+4];"
    )
    program = load(body, before)
    symbols = {s.name: s for s in program.symbols}
    assert set(symbols) == {"kc", "p", "g", "s", "dyn"}
    assert program.const_data == bytes.fromhex("000000000000f03f0000000000000040") and program.code["imm"][0] == 8
    assert symbols["g"].data == bytes.fromhex("0100000010000000ffffffff")
    assert (program.shared_bytes, symbols["dyn"].start, program.uses_dynamic_shared) == (32, 32, True)
    assert (symbols["s"].slot, symbols["dyn"].slot) == (1, 2)
    assert program.code["imm"][4] == symbols["s"].offset + 4
    inside = {(r.in_symbol, r.at): (r.symbol, r.addend, r.generic) for r in program.relocations if r.in_symbol}
    assert inside == {("p", 0): ("g", 0, False), ("p", 8): ("g", 8, True)}
    assert int.from_bytes(symbols["p"].data[16:], "little") == SHARED_WINDOW + symbols["s"].offset
    rows = {r.symbol: r.row for r in program.relocations if not r.in_symbol}
    assert rows == {"p": ~program.code["a"][1], "g": ~program.code["a"][2]}


def test_scopes_hide_names_and_labels() -> None:
    body = (
        "mov.u32 %r1, 1;\n{\n.reg .b32 %r1;\n.reg .pred q;\nmov.u32 %r1, 2;\nL: setp.eq.u32 q, %r1, 3;\n@q bra L;\n}\n"
        "{ .reg .pred q; L: setp.eq.u32 q, %r1, 4; @!q bra L; }\nst.global.u32 [%rd1], %r1;"
    )
    code = load(body).code
    assert [OP_NAMES[op] for op in code["op"]] == ["MOV", "MOV", "SETP", "BRA", "SETP", "BRA", "ST", "EXIT"]
    assert code["target"][[3, 5]].tolist() == [2, 4]
    assert code["d0"][0] != code["d0"][1] == code["a"][2]
    assert code["a"][4] == code["d0"][0]


def test_branch_tables() -> None:
    body = "brx.idx %r1, T;\nA: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;\nT: .branchtargets B, A, B;"
    program = load(body)
    ins = program.code[0]
    assert program.tables[ins["imm"] : ins["imm"] + ins["target"]].tolist() == [2, 1, 2]


def test_lines_follow_the_kernels_own_file_through_inlining() -> None:
    body = (
        ".loc 2 10 1\nmov.u32 %r1, 1;\n.loc 5 99 3, function_name $L, inlined_at 2 20 7\nmov.u32 %r2, 1;\n"
        ".loc 6 1 1, function_name $L+4, inlined_at 5 99 3\nmov.u32 %r3, 1;\n"
        ".loc 2 4 4, function_name $L, inlined_at 2 30 1\nmov.u32 %r4, 1;"
    )
    assert load(body).lines.tolist()[:4] == [10, 20, 20, 4]


def test_texts_are_the_instructions_as_written() -> None:
    assert load("@%p1   add.s32 \t%r1,\n %r2, 4 ; // note").texts[0] == "@%p1 add.s32 %r1, %r2, 4"


@pytest.mark.parametrize(
    "instruction",
    [
        "frobnicate.u32 %r1, %r2",
        "add.wobbly.s32 %r1, %r2, %r3",
        "add.sat.u32 %r1, %r2, %r3",
        "add.ftz.f64 %rd1, %rd2, %rd3",
        "cvt.s32.f32 %r1, %f1",
        "cvt.rn.s32.f32 %r1, %f1",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}]",
        "shfl.down.b32 %r1, %r2, 1, 31",
        "ld.global.magic.u32 %r1, [%rd1]",
        "add.s32 %r1, %r2",
        "add.s32 %r1, %r2, %r99",
        "add.s64 %rd1, %rd2, %r3",
        "mov.u32 %r1, nowhere",
        "bra nowhere",
        "call.uni nobody",
        "mma.sync.aligned.m16n8k8.row.col.f32.s8.s8.f32 {%r1}, {%r1}, {%r1}, {%r1}",
        "cp.async.bulk.shared.global [%r1], [%rd1], 16",
        "lop3.b32 %r1, %r2, %r3, %r4, 256",
        "setp.ltu.s32 %p1, %r1, %r2",
        "mov.u32 %r1, %pm0",
    ],
)
def test_what_is_not_understood_is_refused_by_name_and_line(instruction: str) -> None:
    with pytest.raises(UnsupportedInstruction) as caught:
        load(f".loc 1 42 3\n{instruction};")
    assert caught.value.instruction == instruction
    assert caught.value.line == 42
    assert instruction in caught.value.message


def test_an_unknown_kernel_names_those_there_are() -> None:
    text = f"{HEADER}.visible .entry one() {{ ret; }}\n.visible .entry two() {{ ret; }}\n"
    assert load_ptx(text, "two").entry == "two"
    for wanted in (None, "three"):
        with pytest.raises(UsageError, match="one, two"):
            load_ptx(text, wanted)
