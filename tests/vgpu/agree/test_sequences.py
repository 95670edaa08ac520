"""Random programs on the registers of one warp: after them, every row and every predicate is the same in both."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vgpu.agree.sequences import (
    ALL_PREDICATES,
    DATA_ROWS,
    DRAWN_CONSTANTS,
    ROWS,
    WIDE_ROWS,
    Text,
    bodies,
    instructions,
    legal,
    make,
)

from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.coverage import awkward
from warpsight.vgpu.definition import run_lanes

FIXED = settings(derandomize=True, database=None, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)
MASKS = st.just(0xFFFFFFFF) | st.integers(1, 2**32 - 1)


def assert_same(program: Program, seed: int, mask: int) -> None:
    from warpsight.vgpu import _core

    rng = np.random.default_rng(seed)
    pairs = awkward(rng, 8, (ROWS // 2, 32)).view(np.uint32).reshape(-1, 32, 2).transpose(0, 2, 1).reshape(ROWS, 32)
    rows = np.where(rng.random((ROWS // 2, 1)).repeat(2, 0) < 0.6, awkward(rng, 4, (ROWS, 32)), pairs)
    rows[WIDE_ROWS:DATA_ROWS] = awkward(rng, 2, (DATA_ROWS - WIDE_ROWS, 32))
    preds = rng.integers(0, 2**32, ALL_PREDICATES, dtype=np.uint32)
    preds[0] = 0xFFFFFFFF
    core_rows, core_preds = rows.copy(), preds.copy()
    _core.run_lanes(machine.load(program), core_rows, core_preds, mask)
    true_rows, true_preds = run_lanes(program, rows, preds, mask)
    shown = "\n".join(str({k: v for k, v in zip(r.dtype.names, r.tolist(), strict=True) if v}) for r in program.code)
    np.testing.assert_array_equal(core_rows, true_rows, err_msg=shown)
    np.testing.assert_array_equal(core_preds, true_preds, err_msg=shown)


def constants(seed: int) -> list[int]:
    return awkward(np.random.default_rng(seed), 4, (DRAWN_CONSTANTS,)).tolist()


def test_the_instructions_are_many() -> None:
    operations = {dict(line)["op"] for line in legal()}
    assert len(legal()) > 800 and {"FMA", "CVT", "SHFL", "MATCH", "PRMT", "SETP", "ADDC", "S2R"} <= operations


@settings(FIXED, max_examples=400)
@given(st.lists(instructions(), min_size=1, max_size=12), SEEDS, MASKS)
def test_straight_lines_agree(lines: list[dict[str, int]], seed: int, mask: int) -> None:
    assert_same(make(lines, mask, constants(seed)), seed, mask)


@settings(FIXED, max_examples=120)
@given(st.builds(Text).flatmap(bodies), SEEDS, MASKS)
def test_branches_loops_and_switches_agree(text: Text, seed: int, mask: int) -> None:
    assert_same(make(text.lines, mask, constants(seed), text.tables), seed, mask)
