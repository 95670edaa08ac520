"""Many texts by several compilers: the same answers, in order, and no more processes than are worth it."""

from __future__ import annotations

import pytest

from warpsight.errors import UsageError
from warpsight.nouns import Build
from warpsight.toolchain.cache import Cache
from warpsight.toolchain.compile import compile_cuda, shared_process
from warpsight.toolchain.nvrtc import NvrtcProcess
from warpsight.toolchain.together import WORTH_A_PROCESS, compile_together, processes

OFF = Cache(None)


def text_of(number: int) -> str:
    return f'extern "C" __global__ void k(int* x) {{ x[threadIdx.x] = {number}; }}'


def compiled(number: int, process: NvrtcProcess | None = None) -> Build:
    return compile_cuda(text_of(number), process=process, cache=OFF)


def test_two_compilers_give_what_one_gives_and_stay_warm() -> None:
    numbers = range(2 * WORTH_A_PROCESS)
    first = compile_together(compiled, numbers, cores=2)
    assert first == [compiled(number) for number in numbers]
    starts = [process.starts for process in processes(2)]
    assert starts[1] == 1 and compile_together(compiled, numbers, cores=2) == first
    assert [process.starts for process in processes(2)] == starts, "the second round starts no process"


def test_a_few_texts_are_compiled_by_the_shared_process() -> None:
    used = compile_together(lambda _, process: process, range(WORTH_A_PROCESS + 1), cores=8)
    assert set(used) == {shared_process()}


def test_what_is_refused_is_raised() -> None:
    def refused(number: int, process: NvrtcProcess) -> Build:
        return compile_cuda("\0" if number == 1 else text_of(number), process=process, cache=OFF)

    with pytest.raises(UsageError, match="zero byte"):
        compile_together(refused, range(2 * WORTH_A_PROCESS), cores=2)
