"""A checked launch on several cores says what it says on one, whatever the cores do when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.vgpu.run import Ran, constant, output, run

from warpsight.vgpu import machine
from warpsight.vgpu.counters import INDEX

N = 4096
OWN = 'extern "C" __global__ void k(const float* x, float* y) { int i = blockIdx.x * 64 + threadIdx.x; %s }'
COUNT = """
extern "C" __global__ void k(const int* x, unsigned* n) { atomicAdd(n + (x[blockIdx.x * 64 + threadIdx.x] & 7), 1u); }
"""
BODIES = {
    "clean": "y[i] = x[i] * 2; y[i] += 1;",
    "neighbour": "y[i] = x[i]; if (i > 64) y[i] += y[i - 64];",
    "same word": "y[0] = x[i];",
    "unwritten": "if (i % 3) y[i] = x[i]; else y[i + 1] = y[i];",
    "outside": "y[i] = x[i + (blockIdx.x == 40) * 5000]; if (i == 70) y[5000] = 1;",
    "same value": "y[i] = x[i]; if (threadIdx.x == 0) y[4096] = 1;",
    "late race": "y[i] = x[i]; if (i == 4095) y[0] = 7;",
    "not all": "if (i % 2) y[i] = x[i];",
    "shared": "__shared__ float s[64]; s[threadIdx.x] = x[i]; y[i] = s[63 - threadIdx.x];",
}


def launch(body: str, cores: int, **how: Any) -> Ran:
    arguments: Mapping[str, Any] = {"x": constant(np.arange(N, dtype=np.float32)), "y": output(N + 1, np.float32)}
    return run(OWN % body, arguments, grid=64, block=64, cores=cores, **how)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_two_and_five_cores_say_what_one_says(body: str) -> None:
    one = launch(body, 1)
    for cores in (2, 5, 2):
        many = launch(body, cores)
        assert many.launched.faults == one.launched.faults
        assert many.launched.unwritten == one.launched.unwritten
        np.testing.assert_array_equal(many.arrays["y"].view(np.uint8), one.arrays["y"].view(np.uint8))
        if not one.launched.faults:
            np.testing.assert_array_equal(many.launched.counts, one.launched.counts)
            assert many.launched.warp_instructions == one.launched.warp_instructions


def test_the_cases_are_what_they_are_called() -> None:
    kinds = {name: launch(body, 2).kinds[:1] for name, body in BODIES.items()}
    assert kinds == {
        "clean": [],
        "neighbour": ["global_race"],
        "same word": ["global_race"],
        "unwritten": ["uninitialised_read"],
        "outside": ["out_of_bounds"],
        "same value": [],
        "late race": ["global_race"],
        "not all": [],
        "shared": ["shared_race"],
    }


def test_all_cores_check_what_shares_nothing() -> None:
    assert launch(BODIES["clean"], 2).launched.cores_used == 2
    assert launch(BODIES["late race"], 2).launched.cores_used == 1


def test_the_exact_pass_begins_with_the_memory_that_was_given() -> None:
    source = 'extern "C" __global__ void k(int* y) { y[threadIdx.x] += blockIdx.x + 1; }'
    one, two = (run(source, {"y": np.zeros(64, np.int32)}, grid=8, block=64, cores=cores) for cores in (1, 2))
    assert one.launched.faults == two.launched.faults != ()
    assert set(one.kinds) == {"global_race"}
    np.testing.assert_array_equal(two.arrays["y"], one.arrays["y"])
    assert one.arrays["y"][0] == sum(range(1, 9))


def test_atomics_without_a_result_are_checked_on_all_cores() -> None:
    arguments = {"x": constant(np.arange(N, dtype=np.int32)), "n": np.zeros(8, np.uint32)}
    done = run(COUNT, arguments, grid=64, block=64, cores=2)
    assert done.kinds == [] and done.launched.cores_used == 2
    np.testing.assert_array_equal(done.arrays["n"], N // 8)


def test_a_plain_write_beside_atomics_of_other_blocks_is_named_on_two_cores_too() -> None:
    source = COUNT.replace("{ atomicAdd", "{ if (blockIdx.x == 9) n[0] = 3; atomicAdd")
    arguments = {"x": constant(np.arange(N, dtype=np.int32)), "n": np.zeros(8, np.uint32)}
    one, two = (run(source, arguments, grid=64, block=64, cores=cores) for cores in (1, 2))
    assert one.launched.faults == two.launched.faults != ()


def test_what_nobody_asked_for_is_not_counted() -> None:
    program = run(OWN % BODIES["clean"], {"x": np.zeros(N, np.float32), "y": np.zeros(N, np.float32)}, grid=64).program
    memory = machine.GlobalMemory()
    params = b"".join(memory.add(name, np.zeros(N, np.float32)).to_bytes(8, "little") for name in "xy")
    how = {"grid": (64, 1, 1), "block": (64, 1, 1), "params": params}
    done = machine.launch(program, memory, count=False, **how)  # pyright: ignore[reportArgumentType]
    assert not done.counts.any() and done.warp_instructions > 0
    counted = machine.launch(program, memory, count=False, check=True, **how)  # pyright: ignore[reportArgumentType]
    assert counted.counts[:, INDEX["threads_on"]].any() and not counted.counts[:, INDEX["sectors"]].any()
