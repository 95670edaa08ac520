"""The guilty kernels of kernels/*.cu with their arguments, and where the fault lies when that is determined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.vgpu.run import constant, output

I32, F32 = np.int32, np.float32
Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """`thread`, `block` and `array` are None where the first culprit is not determined by the kernel alone."""

    arguments: Mapping[str, Any]
    grid: int = 1
    block: int = 32
    shared: int = 0
    thread: int | None = None
    in_block: int | None = None
    array: str | None = None
    says: str = ""
    how: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _floats(n: int) -> np.ndarray:
    return np.arange(n, dtype=F32)


def _ints(n: int) -> np.ndarray:
    return np.arange(n, dtype=I32)


_TRIPS = np.array([1] * 16 + [3] * 16, I32)

CASES: Mapping[str, Case] = {
    # ---- addresses
    "load_past_end": Case(
        {"x": constant(_floats(40)), "y": _floats(40), "n": I32(40)},
        grid=2, thread=8, in_block=1, array="x", says="4 bytes at byte 160 of array 'x'",
    ),
    "load_before_start": Case(
        {"x": constant(_floats(40)), "y": _floats(40), "n": I32(40)}, grid=2, thread=0, in_block=0, array="x", says="byte -4 of array 'x'"
    ),
    "store_past_end": Case(
        {"x": constant(_floats(40)), "y": _floats(40), "n": I32(40)}, grid=2, thread=8, in_block=1, array="y", says="byte 160 of array 'y'"
    ),
    "shared_past_end": Case({"y": _ints(64)}, block=64, thread=63, in_block=0),
    "dynamic_shared_too_small": Case({"y": _ints(64)}, block=64, shared=128, thread=32, in_block=0),
    "local_index": Case({"at": constant(_ints(32) * 1000), "y": _ints(32)}, array="local memory"),
    "null_pointer": Case({"y": np.uint64(0)}, thread=0, in_block=0),
    "misaligned_float4": Case({"x": constant(_floats(256)), "y": _floats(128)}, thread=0, in_block=0, array="x", says="16 bytes at byte 4 of array 'x'"),
    "misaligned_shared": Case({"y": np.zeros(32), "by": I32(4)}, thread=0, in_block=0, array="bytes", says="8 bytes at byte 4 of shared array 'bytes'"),
    # ---- what was never written, what must not be
    "output_read_first": Case(
        {"x": constant(_floats(40)), "y": output(40, F32), "n": I32(40)}, grid=2, thread=0, in_block=0, array="y", says="4 bytes at byte 0"
    ),
    "shared_read_first": Case({"x": constant(_ints(32)), "y": _ints(32)}, thread=31, in_block=0, array="tile", says="byte 128 of shared array"),
    "partly_written": Case({"y": output(32, np.uint32), "z": output(32, np.uint32)}, thread=0, in_block=0, array="y", says="4 bytes at byte 3"),
    "async_copy_not_waited": Case({"x": constant(_ints(128)), "y": output(128, I32)}, thread=0, in_block=0, array="tile"),
    "write_to_input": Case({"x": constant(_floats(32)), "y": _floats(32)}, thread=5, in_block=0, array="x"),
    "write_to_constant_memory": Case({"y": _ints(32)}, thread=0, in_block=0, array="constant memory"),
    # ---- races
    "race_no_barrier": Case({"x": constant(_ints(64)), "y": output(64, I32)}, block=64, in_block=0, array="tile"),
    "race_two_writers": Case({"y": output(64, I32)}, block=64, thread=32, in_block=0, array="word", says="thread (0, 0, 0) at line 5"),
    "race_next_tile": Case({"x": constant(_floats(256)), "y": output(64, F32), "tiles": I32(4)}, block=64, in_block=0, array="tile", says="at line 6"),
    "race_in_a_warp": Case({"x": constant(_ints(32)), "y": output(32, I32)}, thread=0, in_block=0, array="tile", says="thread (1, 0, 0) at line 4"),
    "race_one_instruction": Case({"y": output(32, I32)}, thread=1, in_block=0, array="bins", says="thread (0, 0, 0) at line 4"),
    "race_plain_histogram": Case({"x": constant(_ints(64) % 4), "y": output(4, I32)}, block=64, in_block=0, array="bins"),
    "race_named_barrier": Case({"x": constant(_ints(128)), "y": output(128, I32)}, block=128, in_block=0, array="tile", says="at line 5"),
    "blocks_write_one_word": Case({"y": output(4, I32)}, grid=3, thread=0, in_block=1, array="y", says="of block (0, 0, 0) at line 3"),
    "block_reads_another": Case({"x": output(64, F32)}, grid=2, thread=0, in_block=1, array="x", says="thread (31, 0, 0) of block (0, 0, 0) at line 4"),
    "block_overwrites_read": Case({"x": _floats(64), "y": output(64, F32)}, grid=2, in_block=1, array="x", says="of block (0, 0, 0) at line"),
    "sum_without_atomics": Case({"x": constant(_floats(96)), "sum": np.zeros(1, F32)}, grid=3, thread=0, in_block=1, array="sum"),
    "last_block_without_fence": Case(
        {"x": constant(_floats(96)), "part": output(3, F32), "sum": output(1, F32)}, grid=3, thread=0, in_block=2, array="part", says="at line 7"
    ),
    # ---- waiting for those who never come
    "barrier_half_warp": Case({"y": output(64, I32)}, block=64, in_block=0),
    "barrier_two_branches": Case({"y": output(64, I32)}, block=64, in_block=0),
    "barrier_in_divergent_loop": Case({"trips": constant(_TRIPS), "y": output(32, I32)}, in_block=0),
    "deadlock_named_barrier": Case({"y": output(96, I32)}, block=96, thread=0, in_block=0),
    "shuffle_never_meets": Case({"y": _ints(32)}, thread=1, in_block=0),
    "shuffle_not_in_mask": Case({"y": output(32, I32), "mask": np.uint32(0xFFFFFF)}, thread=24, in_block=0, says="not in its own member mask"),
    "endless_loop": Case({"go": _ints(1), "y": output(32, I32)}, in_block=0, how={"max_instructions": 300_000}),
    "lock_never_freed": Case({"y": output(32, I32)}, in_block=0, how={"max_instructions": 300_000}),
    # ---- giving up
    "assertion": Case({"x": constant(_ints(64)), "y": output(64, I32)}, grid=2, thread=8, in_block=1, says="v < 40"),
    "trap": Case({"x": constant(_ints(32) * 2), "y": output(32, I32)}, thread=21, in_block=0),
    "endless_recursion": Case({"x": constant(_ints(2)), "y": output(32, I32)}, in_block=0),
}  # fmt: skip
