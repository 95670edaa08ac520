"""Random programs of blocks that read, write and add to a few words of global memory: any meeting is a race.

One kernel interprets the program. Atomics count as handing over together with fences, so that every race is found is
asked of plain accesses only; that nobody is accused without a race is asked of all.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.vgpu.run import constant, output, run

I32 = np.int32
BLOCKS, WORDS = 3, 4
WRITE, READ, FENCE, ATOMIC = 1, 2, 3, 5
QUIET = settings(
    max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
Program = list[tuple[int, tuple[int, ...]]]  # an operation, and the word of each block (-1: does nothing)

INTERPRETER = """
extern "C" __global__ void k(const int *op, const int *at, int *words, int *out, int steps) {
    int sum = 0, b = blockIdx.x;
    for (int n = 0; n < steps; n++) {
        int i = at[n * gridDim.x + b];
        switch (op[n]) {
        case 1: if (i >= 0) words[i] = n * gridDim.x + b + 1; break;
        case 2: if (i >= 0) sum += words[i]; break;
        case 3: __threadfence(); break;
        case 5: if (i >= 0) atomicAdd(&words[i], 1000000); break;
        }
    }
    out[b] = sum;
}"""


def programs(*operations: int) -> st.SearchStrategy[Program]:
    word = st.one_of(st.just(-1), st.integers(0, WORDS - 1))
    step = st.tuples(st.sampled_from(operations), st.tuples(*[word] * BLOCKS))
    return st.lists(step, min_size=1, max_size=5)


def has_race(program: Program) -> bool:
    touches = [(o, b, w) for o, at in program if o != FENCE for b, w in enumerate(at) if w >= 0]
    return any(
        block != other and word == same and {a, b} not in ({READ}, {ATOMIC})
        for a, block, word in touches
        for b, other, same in touches
    )


def accused(program: Program) -> bool:
    arguments = {
        "op": constant(np.array([o for o, _ in program], I32)),
        "at": constant(np.array([at for _, at in program], I32)),
        "words": np.zeros(WORDS, I32),
        "out": output(BLOCKS, I32),
        "steps": I32(len(program)),
    }
    kinds = run(INTERPRETER, arguments, grid=BLOCKS, block=1).kinds
    assert set(kinds) <= {"global_race"}
    return bool(kinds)


@QUIET
@given(programs(WRITE, READ, FENCE, ATOMIC))
def test_no_block_is_accused_without_a_race(program: Program) -> None:
    assert not accused(program) or has_race(program)


@QUIET
@given(programs(WRITE, READ))
def test_blocks_that_meet_plainly_are_always_accused(program: Program) -> None:
    assert accused(program) == has_race(program)
