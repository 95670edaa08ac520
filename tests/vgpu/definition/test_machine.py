"""Control flow, waiting, barriers, calls, counts and faults, on small programs by hand."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.vgpu.bytecode import FUNCTION_WINDOW, GLOBAL_BASE, Cmp, Flag, Space, T
from warpsight.vgpu.definition import DefinitionFault, Memory, run, run_lanes
from warpsight.vgpu.definition.fragments import program

FULL = 0xFFFFFFFF
LANE = {"op": "S2R", "sub": 12, "d0": 0}


def lanes_after(p, mask: int = FULL) -> tuple[np.ndarray, np.ndarray]:
    return run_lanes(p, np.zeros((p.n_rows, 32), np.uint32), np.zeros(p.n_preds, np.uint32), mask)


def less_than(limit: int, pred: int = 1) -> dict[str, int | str]:
    """Predicate := lane < constant row `limit`."""
    return {"op": "SETP", "ta": T.U32, "sub": Cmp.LT, "d0": pred, "a": 0, "b": ~limit, "c": 0}


def test_divergent_lanes_meet_again_at_the_lowest_instruction() -> None:
    p = program(
        LANE,
        less_than(2),
        {"op": "BRA", "guard": 2, "target": 5},
        {"op": "MOV", "ta": T.U32, "d0": 1, "a": ~3},
        {"op": "BRA", "target": 6},
        {"op": "MOV", "ta": T.U32, "d0": 1, "a": ~4},
        {"op": "ACTIVEMASK", "d0": 2},
        consts=(0, 0, 8, 100, 200),
    )
    rows, _ = lanes_after(p)
    assert rows[1].tolist() == [200] * 8 + [100] * 24
    assert set(rows[2].tolist()) == {FULL}


def test_a_loop_runs_each_lane_its_own_number_of_times() -> None:
    p = program(
        LANE,
        {"op": "ADD", "ta": T.U32, "d0": 1, "a": 1, "b": ~2},
        {"op": "SETP", "ta": T.U32, "sub": Cmp.LT, "d0": 1, "a": 1, "b": 0},
        {"op": "BRA", "guard": 2, "target": 1},
        consts=(0, 0, 1),
    )
    rows, _ = lanes_after(p)
    assert rows[1].tolist() == [1, *range(1, 32)]


def test_lanes_outside_the_mask_and_guarded_off_keep_their_rows() -> None:
    p = program(LANE, less_than(2), {"op": "MOV", "ta": T.U32, "d0": 1, "a": ~3, "guard": 3}, consts=(0, 0, 4, 9))
    rows, preds = lanes_after(p, 0x0000FFFF)
    assert rows[1].tolist() == [0] * 4 + [9] * 12 + [0] * 16
    assert preds[1] == 0xF
    assert rows[0].tolist() == [*range(16)] + [0] * 16


def test_a_shuffle_waits_for_lanes_on_the_other_path() -> None:
    p = program(
        LANE,
        less_than(2),
        {"op": "BRA", "guard": 3, "target": 4},
        {"op": "ADD", "ta": T.U32, "d0": 0, "a": 0, "b": ~4},
        {"op": "SHFL", "sub": 3, "d0": 1, "d1": 2, "a": 0, "b": ~1, "c": ~3, "e": ~5},
        consts=(0, 0, 8, 31, 50, FULL),
    )
    rows, preds = lanes_after(p)
    assert set(rows[1].tolist()) == {50}
    assert preds[2] == FULL


@pytest.mark.parametrize(
    "kind, amount, control, wanted",
    [
        (0, 1, 0, [0, *range(31)]),
        (1, 30, 31, [30, 31, *range(2, 32)]),
        (2, 1, 31, [lane ^ 1 for lane in range(32)]),
        (3, 3, 0x1C1F - 0x001C, [4 * (lane // 4) + 3 for lane in range(32)]),
        (1, 1, 0x1C1F, [lane + 1 if lane % 4 != 3 else lane for lane in range(32)]),
    ],
)
def test_shuffles_follow_the_table(kind: int, amount: int, control: int, wanted: list[int]) -> None:
    control = 0x1C1F if kind == 3 else control
    p = program(
        LANE,
        {"op": "SHFL", "sub": kind, "d0": 1, "d1": 1, "a": 0, "b": ~2, "c": ~3, "e": ~4},
        consts=(0, 0, amount, control, FULL),
    )
    rows, preds = lanes_after(p)
    assert rows[1].tolist() == wanted
    out_of_range = [lane for lane in range(32) if not preds[1] >> lane & 1]
    assert all(wanted[lane] == lane for lane in out_of_range)


def test_votes_matches_and_reductions_see_member_lanes_only() -> None:
    member = 0x0000FFFF
    p = program(
        LANE,
        less_than(2, pred=1),
        {"op": "AND", "ta": T.U32, "d0": 1, "a": 0, "b": ~4},
        {"op": "VOTE", "sub": 3, "d0": 2, "a": 2, "b": ~3},
        {"op": "VOTE", "sub": 0, "d1": 2, "a": 2, "b": ~3},
        {"op": "VOTE", "sub": 1, "d1": 3, "a": 2, "b": ~3},
        {"op": "VOTE", "sub": 2, "d1": 4, "a": 2, "b": ~3},
        {"op": "MATCH", "sub": 0, "ta": T.U32, "d0": 3, "a": 1, "b": ~3},
        {"op": "MATCH", "sub": 1, "ta": T.U32, "d0": 4, "d1": 5, "a": ~4, "b": ~3},
        {"op": "REDUX", "sub": 0, "ta": T.U32, "d0": 5, "a": 0, "b": ~3},
        {"op": "REDUX", "sub": 1, "ta": T.S32, "d0": 6, "a": ~5, "b": ~3},
        {"op": "ELECT", "d0": 7, "d1": 6, "a": ~3},
        consts=(0, 0, 4, member, 1, FULL),
    )
    rows, preds = lanes_after(p, member)
    assert rows[2][0] == 0xF
    assert [int(preds[i]) for i in (2, 3, 4, 5, 6)] == [0, member, 0, member, 1]
    assert rows[3][:2].tolist() == [0x5555, 0xAAAA]
    assert (rows[4][0], rows[5][3], rows[6][0], rows[7][9]) == (member, 120, FULL, 0)


def test_a_wait_ends_when_the_missing_lanes_exit() -> None:
    p = program(
        LANE,
        less_than(2),
        {"op": "BRA", "guard": 3, "target": 5},
        {"op": "WARPBAR", "a": ~3},
        {"op": "MOV", "ta": T.U32, "d0": 1, "a": ~3},
        {"op": "EXIT"},
        consts=(0, 0, 8, FULL),
    )
    rows, _ = lanes_after(p)
    assert rows[1].tolist() == [FULL] * 8 + [0] * 24


def test_a_warp_barrier_is_met_in_two_branches() -> None:
    p = program(
        LANE,
        less_than(2),
        {"op": "BRA", "guard": 2, "target": 5},
        {"op": "WARPBAR", "a": ~3},
        {"op": "EXIT"},
        {"op": "WARPBAR", "a": ~3},
        {"op": "MOV", "ta": T.U32, "d0": 1, "a": ~3},
        consts=(0, 0, 8, FULL),
    )
    rows, _ = lanes_after(p)
    assert rows[1].tolist() == [FULL] * 8 + [0] * 24


STORE = {"op": "ST", "ta": T.U32, "width": 4, "vec": 1, "list": 0}


def test_a_block_barrier_orders_shared_memory_between_warps() -> None:
    """Thread t writes t to shared[t]; after the barrier it reads shared[(t + 32) mod 64] and stores it."""
    p = program(
        {"op": "S2R", "sub": 0, "d0": 0},
        {"op": "SHL", "ta": T.U32, "d0": 1, "a": 0, "b": ~2},
        {**STORE, "sub": Space.SHARED, "a": 1},
        {"op": "BAR", "a": -1, "b": -1},
        {"op": "ADD", "ta": T.U32, "d0": 2, "a": 1, "b": ~3},
        {"op": "AND", "ta": T.U32, "d0": 2, "a": 2, "b": ~4},
        {"op": "LD", "ta": T.U32, "width": 4, "vec": 1, "list": 1, "sub": Space.SHARED, "a": 2},
        {"op": "LD", "ta": T.U64, "width": 8, "vec": 1, "list": 2, "sub": Space.PARAM, "a": -1},
        {"op": "MADWIDE", "ta": T.U32, "tb": T.U64, "d0": 4, "a": 0, "b": ~5, "c": 4},
        {**STORE, "list": 1, "sub": Space.GLOBAL, "a": 4},
        {"op": "EXIT"},
        consts=(0, 0, 2, 128, 255, 4),
        lists=(0, 3, 4),
        shared_bytes=256,
        param_bytes=8,
    )
    memory = Memory()
    out = memory.alloc("out", bytes(256))
    result = run(p, grid=(1, 1, 1), block=(64, 1, 1), params=out.to_bytes(8, "little"), memory=memory)
    assert np.frombuffer(memory.read(out, 256), np.uint32).tolist() == [(t + 32) % 64 for t in range(64)]
    assert result.warps.tolist() == [2] * 11
    assert result.threads.tolist() == [64] * 11


def test_barrier_reductions_count_threads_of_all_warps() -> None:
    p = program(
        {"op": "S2R", "sub": 0, "d0": 0},
        less_than(2),
        {"op": "BAR", "sub": 2, "a": -1, "b": -1, "c": 2, "d0": 1},
        {"op": "BAR", "sub": 3, "a": -1, "b": -1, "c": 2, "d1": 2},
        {"op": "BAR", "sub": 4, "a": -1, "b": -1, "c": 2, "d1": 3},
        {"op": "P2R", "d0": 2, "a": 4, "imm": 10},
        {"op": "P2R", "d0": 3, "a": 6, "imm": 100},
        {"op": "ADD", "ta": T.U32, "d0": 1, "a": 1, "b": 2},
        {"op": "ADD", "ta": T.U32, "d0": 1, "a": 1, "b": 3},
        {"op": "ATOM", "sub": Space.GLOBAL, "ta": T.U32, "tb": 2, "a": ~3, "b": 1},
        consts=(0, 0, 40, GLOBAL_BASE & FULL, GLOBAL_BASE >> 32),
    )
    memory = Memory()
    out = memory.alloc("out", bytes(4))
    run(p, grid=(1, 1, 1), block=(64, 1, 1), memory=memory)
    assert int.from_bytes(memory.read(out, 4), "little") == 140


def test_direct_indirect_and_recursive_calls() -> None:
    """f(n) = n == 0 ? 0 : n + f(n - 1), with the link and n saved in frames; called through its address."""
    p = program(
        LANE,
        {"op": "CALLX", "d0": 2, "a": ~3, "imm": 0},
        {"op": "EXIT"},
        {"op": "SETP", "ta": T.U32, "sub": Cmp.EQ, "d0": 1, "a": 0, "b": -1},
        {"op": "RET", "guard": 2, "a": 2},
        {"op": "PUSH", "target": 3, "list": 0, "imm": 0},
        {"op": "SUB", "ta": T.U32, "d0": 0, "a": 0, "b": ~2},
        {"op": "CALL", "d0": 2, "target": 3, "imm": 12},
        {"op": "POP", "target": 3, "list": 0, "imm": 0},
        {"op": "ADD", "ta": T.U32, "d0": 1, "a": 1, "b": 0},
        {"op": "RET", "a": 2},
        consts=(0, 0, 1, FUNCTION_WINDOW & FULL, FUNCTION_WINDOW >> 32),
        lists=(0, 2, 3),
        functions=(3,),
        local_bytes=12 * 32,
    )
    rows, _ = lanes_after(p)
    assert rows[1].tolist() == [n * (n + 1) // 2 for n in range(32)]


def test_branch_tables() -> None:
    p = program(
        LANE,
        {"op": "AND", "ta": T.U32, "d0": 1, "a": 0, "b": ~2},
        {"op": "BRX", "a": 1, "imm": 1, "target": 2},
        {"op": "MOV", "ta": T.U32, "d0": 2, "a": ~3},
        {"op": "EXIT"},
        {"op": "MOV", "ta": T.U32, "d0": 2, "a": ~4},
        consts=(0, 0, 1, 30, 40),
        tables=(99, 3, 5),
    )
    rows, _ = lanes_after(p)
    assert rows[2].tolist() == [30, 40] * 16


def test_hidden_instructions_are_not_counted_and_guards_are() -> None:
    p = program(LANE, less_than(2), {"op": "NOP", "flags": Flag.HIDDEN}, {"op": "NOP", "guard": 2}, consts=(0, 0, 4))
    result = run(p, grid=(3, 1, 1), block=(40, 1, 1))
    assert result.warps.tolist() == [6, 6, 0, 6]
    assert result.threads.tolist() == [120, 120, 0, 120]
    assert result.threads_on.tolist() == [120, 120, 0, 24]


def test_given_blocks_run_alone_and_know_their_index() -> None:
    p = program(
        {"op": "S2R", "sub": 6, "d0": 0},
        {"op": "S2R", "sub": 7, "d0": 1},
        {"op": "S2R", "sub": 8, "d0": 2},
        {"op": "ST", "ta": T.U32, "width": 4, "vec": 4, "list": 0, "sub": Space.GLOBAL, "a": ~2},
        consts=(0, 0, GLOBAL_BASE & FULL, GLOBAL_BASE >> 32),
        lists=(0, 1, 2, 3),
    )
    memory = Memory()
    out = memory.alloc("out", bytes(16))
    run(p, grid=(4, 3, 2), block=(1, 1, 1), memory=memory, blocks=[17])
    assert np.frombuffer(memory.read(out, 16), np.uint32).tolist() == [1, 1, 1, 0]


def test_a_spinning_group_gives_way_to_the_lanes_it_waits_for() -> None:
    """Lanes 0..30 spin on a flag in shared memory which lane 31, behind them, sets."""
    p = program(
        LANE,
        less_than(2),
        {"op": "BRA", "guard": 3, "target": 6},
        {
            "op": "LD",
            "ta": T.U32,
            "width": 4,
            "vec": 1,
            "list": 0,
            "sub": Space.SHARED,
            "a": -1,
            "flags": Flag.VOLATILE,
        },
        {"op": "SETP", "ta": T.U32, "sub": Cmp.EQ, "d0": 2, "a": 1, "b": -1},
        {"op": "BRA", "guard": 4, "target": 3},
        {
            "op": "ST",
            "ta": T.U32,
            "width": 4,
            "vec": 1,
            "list": 1,
            "sub": Space.SHARED,
            "a": -1,
            "flags": Flag.VOLATILE,
        },
        consts=(0, 0, 31),
        lists=(1, 0),
        shared_bytes=4,
    )
    rows, _ = lanes_after(p)
    assert rows[1].tolist() == [31] * 31 + [0]


def faulting(p, **launch: object) -> DefinitionFault:
    with pytest.raises(DefinitionFault) as caught:
        run(p, **{"grid": (1, 1, 1), "block": (32, 1, 1), **launch})  # type: ignore[arg-type]
    return caught.value


def test_faults_name_what_where_and_who() -> None:
    load = {"op": "LD", "ta": T.U32, "width": 4, "vec": 1, "list": 0, "sub": Space.SHARED, "a": 1}
    shifted = [LANE, {"op": "SHL", "ta": T.U32, "d0": 1, "a": 0, "b": ~2}]
    beyond = faulting(program(*shifted, load, consts=(0, 0, 2), lists=(2,), shared_bytes=64), blocks=[0])
    assert (beyond.kind, beyond.instruction, beyond.thread, beyond.address) == (
        "out_of_bounds",
        2,
        16,
        0x7000_0000_0040,
    )
    crooked = faulting(program(LANE, {**load, "a": 0}, lists=(2,), shared_bytes=64))
    assert (crooked.kind, crooked.thread) == ("misaligned", 1)
    const = faulting(program({**STORE, "sub": Space.CONST, "a": -1}, lists=(0,), const_data=bytes(8)))
    assert const.kind == "write_to_const"
    assert faulting(program({"op": "TRAP"})).kind == "trap"
    assert faulting(program({"op": "BRA", "target": 0}), max_instructions=1000).kind == "endless_loop"
    assert faulting(program({"op": "CALL", "target": 0, "d0": 2, "imm": 16}, local_bytes=64)).kind == "stack_overflow"
    assert faulting(program({"op": "BRX", "a": ~2, "target": 1}, consts=(0, 0, 5), tables=(0,))).kind == "bad_jump"


def test_waiting_for_ever_is_a_fault() -> None:
    half = [LANE, less_than(2), {"op": "BAR", "guard": 2, "a": -1, "b": ~3}, {"op": "EXIT"}]
    stuck = faulting(program(*half, consts=(0, 0, 8, 64)))
    assert (stuck.kind, stuck.instruction) == ("deadlock", 2)
    alone = [LANE, {"op": "VOTE", "sub": 3, "d0": 1, "b": ~2}]
    assert faulting(program(*alone, consts=(0, 0, 1))).kind == "warp_sync_divergence"


def test_exited_threads_do_not_hold_a_barrier() -> None:
    p = program(
        LANE, less_than(2), {"op": "EXIT", "guard": 2}, {"op": "BAR", "a": -1, "b": -1}, {"op": "NOP"}, consts=(0, 0, 8)
    )
    assert run(p, grid=(1, 1, 1), block=(64, 1, 1)).threads.tolist() == [64, 64, 64, 48, 48]
