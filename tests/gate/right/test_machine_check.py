"""Machine code is checked like PTX: what is timed must be right wherever the check looked."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code
from warpsight.devices.memory import lay_out
from warpsight.devices.virtual import VirtualGpu, program_of
from warpsight.gate.kernel import timed_workload
from warpsight.gate.machine_check import machine_code_difference
from warpsight.nouns import Build, Task
from warpsight.tasks import read_candidate, read_task
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import machine
from warpsight.vgpu.gpus import find_gpu


@pytest.fixture(scope="module")
def task() -> Task:
    return read_task("tasks/vector_add")


def built(text: str) -> Build:
    return compile_cuda(text, gpu_arch="sm_80", entry="vector_add")


def two_faced(checked: str, timed: str) -> Build:
    """A build whose PTX is of one text and whose machine code is of another."""
    one, other = built(checked), built(timed)
    return one.model_copy(update={"cubin": other.cubin})


def difference(task: Task, build: Build, seed: int = 3) -> str:
    device = VirtualGpu(gpu=find_gpu("a100"))
    candidate = read_candidate(task.kernel, task)
    found = machine_code_difference(task, timed_workload(task), candidate, build, device, seed=seed)
    return "" if found is None else found.told


def test_machine_code_that_is_right_everywhere_has_no_difference(task: Task) -> None:
    assert difference(task, built(task.kernel)) == ""


def test_machine_code_that_is_wrong_at_a_size_of_the_task_is_told(task: Task) -> None:
    assert "with workload" in difference(task, two_faced(task.kernel, task.kernel.replace("i < N", "i < N - 1")))


def test_machine_code_that_is_wrong_for_a_family_only_is_told(task: Task) -> None:
    big = task.kernel.replace("c[i] =", "c[i] = a[i] > 1000.0f ? 0.0f :")
    assert "wide inputs" in difference(task, two_faced(task.kernel, big))


CLOCKS = """
extern "C" __global__ void vector_add(unsigned long long* out) {
    unsigned long long first = clock64(), second, third;
    if (threadIdx.x % 3 == 0) first += clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(second));
    for (int i = 0; i < (int)threadIdx.x % 4; ++i) second += clock();
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(third));
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    out[blockIdx.x * blockDim.x + threadIdx.x] = first * 31 + second * 7 + third + sm;
}
"""


def test_clocks_say_the_same_in_ptx_and_in_machine_code() -> None:
    build = built(CLOCKS)
    found: list[np.ndarray] = []
    for program in (program_of(build.ptx, "vector_add"), machine_code(build.cubin, "vector_add").program):
        assert program is not None
        memory, params, arrays = lay_out(program, [Value("out", np.zeros(192, np.uint64), True)])
        assert not machine.launch(program, memory, grid=(3, 1, 1), block=(64, 1, 1), params=params).faults
        found.append(arrays["out"])
    assert np.array_equal(found[0], found[1]) and len(set(found[0].tolist())) > 8
