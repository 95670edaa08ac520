"""Random programs of reads, writes, atomics and barriers against an exact happens-before order.

One kernel interprets the program, so nothing is compiled anew. The checker promises never to accuse an ordered pair;
it may forget a reader among many, so that every race is found is asked only where two threads meet at a word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.vgpu.run import constant, output, run

I32 = np.int32
THREADS, WORDS = 64, 4
WRITE, READ, BLOCK_BARRIER, WARP_BARRIER, ATOMIC = 1, 2, 3, 4, 5
QUIET = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)

INTERPRETER = """
extern "C" __global__ void k(const int *op, const int *at, int *out, int steps) {
    __shared__ int s[4];
    int t = threadIdx.x, threads = blockDim.x, sum = 0;
    if (t < 4) s[t] = 0;
    __syncthreads();
    for (int n = 0; n < steps; n++) {
        int i = at[n * threads + t];
        switch (op[n]) {
        case 1: if (i >= 0) s[i] = n * threads + t + 1; break;
        case 2: if (i >= 0) sum += s[i]; break;
        case 3: __syncthreads(); break;
        case 4: __syncwarp(); break;
        case 5: if (i >= 0) atomicAdd(&s[i], 1000000); break;
        }
    }
    out[t] = sum;
}"""


@dataclass(frozen=True)
class Step:
    """One operation; for an access, which thread goes to which word."""

    operation: int
    touches: dict[int, int]


def accesses() -> st.SearchStrategy[dict[int, int]]:
    threads = st.sampled_from([0, 1, 5, 31, 32, 40, 63])
    return st.dictionaries(threads, st.integers(0, WORDS - 1), min_size=1, max_size=3)


def programs() -> st.SearchStrategy[list[Step]]:
    access = st.builds(Step, st.sampled_from([WRITE, READ, ATOMIC]), accesses())
    barrier = st.builds(Step, st.sampled_from([BLOCK_BARRIER, WARP_BARRIER]), st.just({}))
    return st.lists(st.one_of(access, access, barrier), min_size=2, max_size=7)


@st.composite
def meetings(draw: st.DrawFn) -> list[Step]:
    """Two threads, one word, and whatever barriers lie between."""
    first, second = draw(st.lists(st.sampled_from([0, 5, 31, 32, 63]), min_size=2, max_size=2, unique=True))
    kinds = st.sampled_from([WRITE, READ, ATOMIC])
    between = draw(st.lists(st.sampled_from([BLOCK_BARRIER, WARP_BARRIER, 0]), max_size=2))
    middle = [Step(b, {}) for b in between]
    return [Step(draw(kinds), {first: 1}), *middle, Step(draw(kinds), {second: 1})]


def has_race(program: list[Step]) -> bool:
    for n, a in enumerate(program):
        for m, b in enumerate(program[n:], start=n):
            kinds = {a.operation, b.operation}
            if not a.touches or not b.touches or kinds in ({READ}, {ATOMIC}):
                continue
            between = {step.operation for step in program[n + 1 : m]}
            for thread, word in a.touches.items():
                for other, same in b.touches.items():
                    ordered = BLOCK_BARRIER in between or (WARP_BARRIER in between and thread // 32 == other // 32)
                    if thread != other and word == same and not ordered:
                        return True
    return False


def accused(program: list[Step]) -> bool:
    at = np.full((len(program), THREADS), -1, I32)
    for n, step in enumerate(program):
        for thread, word in step.touches.items():
            at[n, thread] = word
    operations = np.array([step.operation for step in program], I32)
    arguments = {
        "op": constant(operations),
        "at": constant(at),
        "out": output(THREADS, I32),
        "steps": I32(len(program)),
    }
    kinds = run(INTERPRETER, arguments, block=THREADS).kinds
    assert set(kinds) <= {"shared_race"}
    return bool(kinds)


@QUIET
@given(programs())
def test_nobody_is_accused_without_a_race(program: list[Step]) -> None:
    assert not accused(program) or has_race(program)


@QUIET
@given(meetings())
def test_two_threads_that_race_are_always_accused(program: list[Step]) -> None:
    assert accused(program) == has_race(program)
