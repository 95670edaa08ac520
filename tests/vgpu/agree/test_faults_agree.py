"""The guilty kernels on both executors: the same kind of fault at the same instruction, thread and block.

Only what the definition watches: addresses, traps, waiting and depth. Races and reads of what nobody wrote are the
core's alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.vgpu.agree.both import run_both
from tests.vgpu.faults.cases import CASES
from tests.vgpu.run import build

FOLDER = Path(__file__).parents[1] / "faults" / "kernels"
KINDS = {
    "load_past_end": "out_of_bounds",
    "load_before_start": "out_of_bounds",
    "store_past_end": "out_of_bounds",
    "shared_past_end": "out_of_bounds",
    "dynamic_shared_too_small": "out_of_bounds",
    "local_index": "out_of_bounds",
    "null_pointer": "out_of_bounds",
    "misaligned_float4": "misaligned",
    "misaligned_shared": "misaligned",
    "write_to_input": "write_to_const",
    "write_to_constant_memory": "write_to_const",
    "assertion": "assert_failed",
    "trap": "trap",
    "deadlock_named_barrier": "deadlock",
    "shuffle_never_meets": "warp_sync_divergence",
    "shuffle_not_in_mask": "warp_sync_divergence",
    "endless_loop": "endless_loop",
    "lock_never_freed": "endless_loop",
    "endless_recursion": "stack_overflow",
}


@pytest.mark.parametrize("name", KINDS)
def test_both_name_the_same_fault_at_the_same_place(name: str) -> None:
    case, program = CASES[name], build((FOLDER / f"{name}.cu").read_text())
    budget = 3_000 if KINDS[name] == "endless_loop" else 20_000
    core, meaning = run_both(
        program, case.arguments, grid=case.grid, block=case.block, shared=case.shared, max_instructions=budget
    )
    assert core.fault is not None and core.fault[0] == KINDS[name]
    assert meaning.fault is not None
    if KINDS[name] == "endless_loop":  # where in the loop the budget ends is left open: its kind and line are not
        assert (core.fault[0], *core.fault[2:]) == (meaning.fault[0], *meaning.fault[2:])
    else:
        assert core.fault == meaning.fault
