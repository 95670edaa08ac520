"""What a hostile or endless kernel cannot do: leave its memory, outlast its budget or deadline, flood the output."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from tests.vgpu.run import constant, output, run

I32, F32 = np.int32, np.float32

# A valid access first: the machine remembers the allocation it found last.
WILD = """
extern "C" __global__ void k(int *y, unsigned long long a) {
    y[threadIdx.x] = 1;
    %s
}"""
EDGES = [0, 8, 1 << 32, 1 << 40, 1 << 47, 1 << 63, 2**64 - (1 << 32), 2**64 - 16]
WAYS = {
    "load": "y[0] = *(volatile int *)(a + 12);",
    "store": "*(volatile int *)(a + 12) = 3;",
    "wide load": "int4 v = *(int4 *)a; y[0] = v.x + v.w;",
    "wide store": "*(int4 *)a = make_int4(1, 2, 3, 4);",
    "byte": "*(volatile char *)(a + 15) = 1;",
    "atomic": "atomicAdd((int *)(a + 12), 1);",
    "spread": "*(volatile int *)(a + 12 + 4 * (threadIdx.x & 1)) = 3;",
}


@pytest.mark.parametrize("way", WAYS)
def test_no_address_leaves_the_arrays(way: str) -> None:
    for address in EDGES:
        (fault,) = run(WILD % WAYS[way], {"y": np.zeros(32, I32), "a": np.uint64(address)}, check=False).launched.faults
        assert (fault.kind, fault.line) == ("out_of_bounds", 4), hex(address)


@pytest.mark.parametrize("index", [-1, -16, 16, 1 << 20, -(1 << 28)])
def test_no_index_leaves_constant_memory(index: int) -> None:
    source = """
    __constant__ int w[16] = {1, 2, 3};
    extern "C" __global__ void k(const int *x, int *y) { y[threadIdx.x] = w[x[threadIdx.x]]; }"""
    (fault,) = run(source, {"x": constant(np.full(32, index, I32)), "y": output(32, I32)}, check=False).launched.faults
    assert (fault.kind, fault.line, fault.thread) == ("out_of_bounds", 3, (0, 0, 0))


@pytest.mark.parametrize("index", [-1, 32, -(1 << 20), 1 << 20])
def test_no_index_leaves_shared_memory(index: int) -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[32];
        s[threadIdx.x] = 1;
        y[threadIdx.x] = s[x[threadIdx.x]];
    }"""
    (fault,) = run(source, {"x": constant(np.full(32, index, I32)), "y": output(32, I32)}, check=False).launched.faults
    assert (fault.kind, fault.line) == ("out_of_bounds", 5)


@pytest.mark.parametrize("index", [-1, 8, -(1 << 20), 1 << 20])
def test_no_index_leaves_local_memory(index: int) -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int mine[8];
        for (int i = 0; i < 8; i++) mine[i] = x[i];
        mine[x[threadIdx.x]] = 3;
        y[threadIdx.x] = mine[x[0] & 7];
    }"""
    (fault,) = run(source, {"x": constant(np.full(32, index, I32)), "y": output(32, I32)}, check=False).launched.faults
    assert (fault.kind, fault.line) == ("out_of_bounds", 5)


@pytest.mark.parametrize(
    "body", ["while (*go == 0) {}", "while (*go == 0) __syncthreads();", "while (*go == 0) __nanosleep(100);"]
)
@pytest.mark.parametrize("check", [False, True])
def test_a_deadline_ends_every_kind_of_waiting(body: str, check: bool) -> None:
    source = f'extern "C" __global__ void k(volatile int *go) {{\n    {body}\n}}'
    (fault,) = run(source, {"go": np.zeros(1, I32)}, check=check, block=64, deadline_seconds=0.1).launched.faults
    assert (fault.kind, fault.line) == ("deadline", 2)


def test_a_deadline_ends_a_launch_of_too_many_blocks() -> None:
    source = """
    extern "C" __global__ void k(int *y) { y[threadIdx.x] = 1; }"""
    ran = run(source, {"y": output(32, I32)}, grid=3_000_000, deadline_seconds=0.1, check=False)
    assert ran.kinds == ["deadline"]
    assert ran.launched.blocks_run < 3_000_000


LONG = """
extern "C" __global__ void k(float *y, int rounds, int steps) {
    y += blockIdx.x * blockDim.x;
    float v = y[threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < steps; i++) v = v * 0.999f + 0.5f;
        __syncthreads();
    }
    y[threadIdx.x] = v;
}"""


@pytest.mark.parametrize("check", [False, True])
def test_a_deadline_is_seen_inside_a_block_that_takes_many_short_turns(check: bool) -> None:
    """No warp uses up a turn and there are few barriers, and yet it is millions of instructions."""
    values = {"y": np.ones(1024, F32), "rounds": I32(100), "steps": I32(5000)}
    ran = run(LONG, values, block=1024, check=check, deadline_seconds=0.01)
    assert ran.kinds == ["deadline"] and ran.launched.blocks_run == 0
    assert ran.launched.warp_instructions < 20_000_000


@pytest.mark.parametrize("check", [False, True])
def test_a_deadline_is_seen_among_a_few_long_blocks(check: bool) -> None:
    """Fewer than 64 of them, each shorter than a turn."""
    values = {"y": np.ones(60 * 32, F32), "rounds": I32(1), "steps": I32(20_000)}
    ran = run(LONG, values, grid=60, check=check, deadline_seconds=0.001)
    assert ran.kinds == ["deadline"] and ran.launched.blocks_run < 60


def test_a_deadline_ends_a_flood_of_prints() -> None:
    source = r"""
    extern "C" __global__ void k(int *y) {
        for (int i = 0; i < 4000; i++) printf("%500d %500d %500d %500d\n", i, i, i, i);
    }"""
    (fault,) = run(source, {"y": output(32, I32)}, deadline_seconds=0.02, check=False).launched.faults
    assert (fault.kind, fault.line) == ("deadline", 3)


def test_what_printf_returns_does_not_change_when_the_text_is_full() -> None:
    source = r"""
    extern "C" __global__ void k(int *y, int many) {
        for (int i = 0; i < many; i++) y[threadIdx.x] = printf("%400d %s %.3f\n", i, "text", 0.5f);
    }"""
    for many in (1, 200):
        ran = run(source, {"y": output(32, I32), "many": I32(many)})
        assert ran.launched.faults == () and set(ran.arrays["y"].tolist()) == {3}
    assert len(ran.launched.output) == 1 << 20


def test_the_budget_covers_the_whole_launch() -> None:
    source = """
    extern "C" __global__ void k(int *y) { y[threadIdx.x] = 1; }"""
    ran = run(source, {"y": output(32, I32)}, grid=50_000, max_instructions=10_000, check=False)
    assert ran.kinds == ["launch_too_large"]
    assert ran.launched.faults[0].line is None
    assert ran.launched.warp_instructions < 100_000


def test_an_interrupt_ends_a_launch() -> None:
    source = """
    extern "C" __global__ void k(float *y) { float v = y[0]; while (v < 5.0f) v *= 0.5f; y[0] = v; }"""
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(source, {"y": np.ones(1, F32)}, max_instructions=2_000_000_000, check=False)
    timer.join()


def test_printing_is_capped() -> None:
    source = r"""
    extern "C" __global__ void k(int *y) {
        printf("%999999999d\n", 5);
        for (int i = 0; i < 2000; i++) printf("line %d of a text that goes on and on\n", i);
    }"""
    ran = run(source, {"y": output(32, I32)}, block=64)
    assert ran.launched.faults == ()
    assert 1000 < len(ran.launched.output) <= 1 << 20


def test_a_wild_string_is_a_fault() -> None:
    source = r"""
    extern "C" __global__ void k(const char *text) { printf("%s\n", text); }"""
    (fault,) = run(source, {"text": np.uint64(0x1234)}, block=1).launched.faults
    assert (fault.kind, fault.line) == ("out_of_bounds", 2)


@pytest.mark.parametrize("block", [(1025,), (64, 64, 1), (0,)])
def test_impossible_blocks_are_refused(block: tuple[int, ...]) -> None:
    source = """
    extern "C" __global__ void k(int *y) { y[0] = 1; }"""
    with pytest.raises(ValueError, match="1 to 1024 threads"):
        run(source, {"y": output(1, I32)}, block=block)


def test_the_first_fault_does_not_depend_on_the_cores() -> None:
    source = """
    extern "C" __global__ void k(int *y) {
        if (blockIdx.x % 7 == 3) {
            if (blockIdx.x & 1) y[1 << 20] = 1;
            else __trap();
        }
        y[blockIdx.x] = 1;
    }"""
    seen = {
        (f.kind, f.block)
        for _ in range(10)
        for f in run(source, {"y": output(64, I32)}, grid=64, cores=2, check=False).launched.faults[:1]
    }
    assert seen == {("out_of_bounds", (3, 0, 0))}
