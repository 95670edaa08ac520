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
    in_block: int | None = 0
    array: str | None = None
    says: str = ""
    how: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _floats(n: int) -> np.ndarray:
    return np.arange(n, dtype=F32)


def _ints(n: int) -> np.ndarray:
    return np.arange(n, dtype=I32)


# Arguments are copied for each launch, so cases may share them.
X32, X64, F40 = constant(_ints(32)), constant(_ints(64)), constant(_floats(40))
Y32, Y64 = output(32, I32), output(64, I32)
_TRIPS = np.array([1] * 16 + [3] * 16, I32)

CASES: Mapping[str, Case] = {
    # ---- addresses
    "load_past_end": Case(
        {"x": F40, "y": _floats(40), "n": I32(40)},
        grid=2,
        thread=8,
        in_block=1,
        array="x",
        says="4 bytes at byte 160 of array 'x'",
    ),
    "load_before_start": Case(
        {"x": F40, "y": _floats(40), "n": I32(40)}, grid=2, thread=0, array="x", says="byte -4 of array 'x'"
    ),
    "store_past_end": Case(
        {"x": F40, "y": _floats(40), "n": I32(40)},
        grid=2,
        thread=8,
        in_block=1,
        array="y",
        says="byte 160 of array 'y'",
    ),
    "shared_past_end": Case({"y": _ints(64)}, block=64, thread=63),
    "dynamic_shared_too_small": Case({"y": _ints(64)}, block=64, shared=128, thread=32),
    "local_index": Case({"at": constant(_ints(32) * 1000), "y": _ints(32)}, array="local memory"),
    "null_pointer": Case({"y": np.uint64(0)}, thread=0),
    "misaligned_float4": Case(
        {"x": constant(_floats(256)), "y": _floats(128)}, thread=0, array="x", says="16 bytes at byte 4 of array 'x'"
    ),
    "misaligned_shared": Case(
        {"y": np.zeros(32), "by": I32(4)}, thread=0, array="bytes", says="8 bytes at byte 4 of shared array 'bytes'"
    ),
    "atomic_past_end": Case({"x": X32, "bins": np.zeros(20, I32)}, thread=20, array="bins"),
    "async_copy_past_end": Case({"x": constant(_ints(120)), "y": output(128, I32)}, thread=30, array="x"),
    "vector_past_end": Case({"x": constant(_floats(30)), "y": output(32, F32), "n": I32(30)}, thread=7, array="x"),
    "device_table_past_end": Case({"x": X32, "y": Y32}, thread=16, array="table"),
    "constant_table_past_end": Case({"x": X32, "y": Y32}, thread=1, array="constant memory"),
    "matrix_misaligned": Case({"y": output(32, np.uint32)}, thread=1, array="s"),
    "fragment_past_end": Case({"a": constant(np.ones((16, 16), np.float16)), "c": output(256, F32)}, array="a"),
    "call_in_another_function": Case({"x": F40, "y": output(32, F32)}, thread=20, array="x"),
    "private_array_of_a_function": Case({"x": X32, "y": Y32}, thread=1, array="local memory"),
    # ---- what was never written, what must not be
    "output_read_first": Case(
        {"x": F40, "y": output(40, F32), "n": I32(40)}, grid=2, thread=0, array="y", says="4 bytes at byte 0"
    ),
    "shared_read_first": Case({"x": X32, "y": _ints(32)}, thread=31, array="tile", says="byte 128 of shared array"),
    "partly_written": Case(
        {"y": output(32, np.uint32), "z": output(32, np.uint32)}, thread=0, array="y", says="4 bytes at byte 3"
    ),
    "async_copy_not_waited": Case({"x": constant(_ints(128)), "y": output(128, I32)}, thread=0, array="tile"),
    "async_copy_read_before_wait": Case({"x": constant(_ints(128)), "y": output(128, I32)}, thread=0, array="tile"),
    "write_to_input": Case({"x": constant(_floats(32)), "y": _floats(32)}, thread=5, array="x"),
    "write_to_constant_memory": Case({"y": _ints(32)}, thread=0, array="constant memory"),
    "atomic_to_input": Case({"x": X32, "y": Y32}, thread=0, array="x"),
    "atomic_on_output": Case({"x": X32, "bins": output(4, I32)}, thread=0, array="bins"),
    # ---- races
    "race_fence_instead_of_barrier": Case({"x": X64, "y": Y64}, block=64, array="tile"),
    "race_warp_reads_then_writes": Case({"x": X32, "y": Y32}, array="s", says="at line 6"),
    "race_atomic_and_plain_read": Case({"x": X64, "y": Y64}, block=64, array="count"),
    "race_tree_without_last_barrier": Case({"x": X64, "y": output(1, I32)}, block=64, array="s"),
    "race_library_storage_reused": Case({"x": X64, "y": output(1, I32)}, block=64),
    "race_read_then_atomic": Case({"y": Y32}, block=64, thread=32, array="count", says="at line 7"),
    "blocks_update_in_place": Case({"x": _floats(96), "n": I32(96)}, grid=3, in_block=None, array="x"),
    "grid_sum_without_zero": Case({"x": X64, "sum": _ints(1)}, grid=2, thread=0, in_block=1, array="sum"),
    "blocks_share_a_fenced_word": Case(
        {"x": X32, "word": output(1, I32), "y": Y32}, grid=2, thread=0, in_block=1, array="word"
    ),
    "race_no_barrier": Case({"x": X64, "y": Y64}, block=64, array="tile"),
    "race_two_writers": Case({"y": Y64}, block=64, thread=32, array="word", says="thread (0, 0, 0) at line 5"),
    "race_next_tile": Case(
        {"x": constant(_floats(256)), "y": output(64, F32), "tiles": I32(4)}, block=64, array="tile", says="at line 6"
    ),
    "race_in_a_warp": Case({"x": X32, "y": Y32}, thread=0, array="tile", says="thread (1, 0, 0) at line 4"),
    "race_one_instruction": Case({"y": Y32}, thread=1, array="bins", says="thread (0, 0, 0) at line 4"),
    "race_plain_histogram": Case({"x": constant(_ints(64) % 4), "y": output(4, I32)}, block=64, array="bins"),
    "race_named_barrier": Case(
        {"x": constant(_ints(128)), "y": output(128, I32)}, block=128, array="tile", says="at line 5"
    ),
    "blocks_write_one_word": Case(
        {"y": output(4, I32)}, grid=3, thread=0, in_block=1, array="y", says="of block (0, 0, 0) at line 3"
    ),
    "block_reads_another": Case(
        {"x": output(64, F32)},
        grid=2,
        thread=0,
        in_block=1,
        array="x",
        says="thread (31, 0, 0) of block (0, 0, 0) at line 4",
    ),
    "block_overwrites_read": Case(
        {"x": _floats(64), "y": output(64, F32)}, grid=2, in_block=1, array="x", says="of block (0, 0, 0) at line"
    ),
    "sum_without_atomics": Case(
        {"x": constant(_floats(96)), "sum": np.zeros(1, F32)}, grid=3, thread=0, in_block=1, array="sum"
    ),
    "last_block_without_fence": Case(
        {"x": constant(_floats(96)), "part": output(3, F32), "sum": output(1, F32)},
        grid=3,
        thread=0,
        in_block=2,
        array="part",
        says="at line 7",
    ),
    # ---- waiting for those who never come
    "barrier_half_warp": Case({"y": Y64}, block=64),
    "barrier_two_branches": Case({"y": Y64}, block=64),
    "barrier_in_divergent_loop": Case({"trips": constant(_TRIPS), "y": Y32}),
    "deadlock_named_barrier": Case({"y": output(96, I32)}, block=96, thread=0),
    "deadlock_two_barriers": Case({"y": Y64}, block=64, thread=0),
    "syncwarp_never_meets": Case({"x": X32, "y": Y32}, thread=1),
    "blocks_wait_for_each_other": Case(
        {"flag": np.zeros(2, I32)}, grid=2, in_block=None, how={"max_instructions": 500_000}
    ),
    "shuffle_never_meets": Case({"y": _ints(32)}, thread=1),
    "shuffle_not_in_mask": Case({"y": Y32, "mask": np.uint32(0xFFFFFF)}, thread=24, says="not in its own member mask"),
    "endless_loop": Case({"go": _ints(1), "y": Y32}, how={"max_instructions": 300_000}),
    "lock_never_freed": Case({"y": Y32}, how={"max_instructions": 300_000}),
    # ---- giving up
    "assertion": Case({"x": X64, "y": Y64}, grid=2, thread=8, in_block=1, says="v < 40"),
    "trap": Case({"x": constant(_ints(32) * 2), "y": Y32}, thread=21),
    "endless_recursion": Case({"x": constant(_ints(2)), "y": Y32}),
}
