"""Types of the native module that `core/bind.cpp` defines. The TypedDicts exist for type checkers only.

Arrays are C-contiguous and in the CPU's memory. Those a call writes to (`Memory.add`, `run_lanes`) are used in place.
"""

from collections.abc import Sequence
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

class FaultRecord(TypedDict):
    """One fault in numbers: instruction indices, linear thread and block; `other_pc` is -1 where no other is known."""

    kind: str
    pc: int
    thread: int
    block: int
    address: int
    other_pc: int
    other_thread: int
    other_block: int
    count: int
    is_write: bool
    size: int
    text: bytes
    why: str
    seen_pc: int
    rounds: int

class LaunchRecord(TypedDict):
    """What a launch did; `counts` is indexed [instruction, counter]."""

    counts: NDArray[np.uint64]
    faults: list[FaultRecord]
    output: bytes
    blocks_run: int
    warp_instructions: int
    heap_used: int
    cores_used: int
    traces: Traces
    work: NDArray[np.uint64]
    waves: list[tuple[list[int], int]]
    loaded_sectors: int
    stored_sectors: int
    hottest_atomic: int
    failed_polls: int
    excused_swaps: list[tuple[int, int]]

class SimulationRecord(TypedDict):
    """What one simulated multiprocessor did; `stalls` is indexed [instruction, reason]."""

    cycles: int
    issued: int
    lsu_busy: int
    samples: int
    pipe_busy: list[int]
    l1_hits: int
    l1_misses: int
    load_sectors: int
    store_sectors: int
    atomic_sectors: int
    local_hits: int
    local_misses: int
    block_end: list[int]
    stalls: NDArray[np.uint64]

class Program:
    """A program in the core's own form; made by `load`."""

    @property
    def unsupported(self) -> int:
        """Index of the first instruction that the core cannot run, or -1."""
    @property
    def n_instructions(self) -> int: ...

class Memory:
    """Global memory: allocations in ascending order of address."""

    def __init__(self) -> None: ...
    def add(self, base: int, data: NDArray[np.uint8], writable: bool = True, initialised: bool = True) -> None: ...
    def insert(self, base: int, data: NDArray[np.uint8], writable: bool = True, initialised: bool = True) -> None:
        """As `add`, in any order; ValueError where it is empty or meets another."""
    def remove(self, base: int, /) -> None: ...
    def mark(self, address: int, bytes: int, /) -> None:
        """These bytes have been written; what lies outside of an allocation is left alone."""
    def copy_marks(self, to: int, source: int, bytes: int, /) -> None:
        """These bytes are as much written as those that were copied to them."""
    def digest(self, base: int, bytes: int, /) -> bytes:
        """64 bytes that differ, as good as surely, where the contents of the allocation differ."""
    def touched(self) -> list[tuple[int, bool]]:
        """Allocations that launches touched since the last call, and whether they wrote them."""
    def unwritten(self, index: int, /) -> tuple[int, int]:
        """How many bytes of an allocation nothing has written, and the first of them; after a checked launch."""
    def writers(self, index: int, /) -> list[int]:
        """The instructions that wrote to an allocation, after a checked launch."""

class Traces:
    """What the warps of the traced blocks did, step by step; `table` is one row of ten numbers per instruction."""

    @property
    def steps(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    def chosen(self, which: Sequence[int], /) -> Traces:
        """Some of them, by their place in the list."""
    def changed(self, keep: Sequence[int], ideal: Sequence[int], split: int, /) -> Traces:
        """As they would be without a cause; core/what_if.hpp says what the numbers of each instruction mean."""
    def moved(self, table: NDArray[np.uint16], /) -> list[int]:
        """Sectors that the traced accesses move, by what they are (StepKind)."""
    def work(self, table: NDArray[np.uint16], /) -> list[int]:
        """What the traced steps did, in the numbers of core/work.hpp."""
    def hottest_atomic(self, table: NDArray[np.uint16], /) -> int: ...
    def local_shares(self, instructions: int, /) -> list[float]: ...
    def footprints(self, table: NDArray[np.uint16], counts: Sequence[int], /) -> list[tuple[int, int]]:
        """(loaded, stored) sectors of the first n blocks, for each n of `counts`."""

def load(
    code: bytes,
    lists: NDArray[np.int32],
    tables: NDArray[np.int32],
    consts: NDArray[np.uint32],
    functions: NDArray[np.int32],
    n_rows: int,
    n_preds: int,
    order_sensitive: bool,
    slots: NDArray[np.uint32],
    guards: Sequence[tuple[int, bool, Sequence[int], Sequence[int]]],
    facing: Sequence[tuple[int, int]],
) -> Program:
    """`slots` holds start and size of each numbered shared array, in order of the numbers; 0 is not used. `guards` are
    those of flow.py, as (pc, rejoins, toward, barriers); `facing` are pairs of barriers, from there too."""

def launch(
    program: Program,
    memory: Memory,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared_bytes: int,
    dynamic_shared_bytes: int,
    local_bytes: int,
    params: bytes,
    const_data: bytes,
    blocks: Sequence[int],
    check: bool,
    count: bool,
    cores: int,
    max_instructions: int,
    deadline_seconds: float,
    heap_base: int = 0,
    heap_bytes: int = 0,
    heap_used: int = 0,
    max_trace_steps: int = 0,
    traced: Sequence[int] = ...,
    watched: NDArray[np.uint16] | None = None,
    concurrent: int = 0,
    round_trip: int = ...,
    swap_passes: int = 1,
    last_warp_first: bool = False,
    waves: Sequence[int] = (),
) -> LaunchRecord: ...
def progress() -> tuple[int, int]:
    """Blocks that the running launch has begun, and all that it has; from another thread. Zeros: nothing runs."""

def end_launch() -> None:
    """From another thread: the launch that runs now ends soon, unfinished."""

def dispatch(clocks: NDArray[np.float64], multiprocessors: int, resident: int) -> NDArray[np.uint32]:
    """The multiprocessor of each block."""

def simulate(traces: Traces, table: NDArray[np.uint16], numbers: dict[str, int | float]) -> SimulationRecord: ...
def run_lanes(program: Program, rows: NDArray[np.uint32], preds: NDArray[np.uint32], mask: int) -> None: ...

STALLS: Final[int]
OPS: Final[list[str]]
COUNTERS: Final[list[str]]
