"""A compiler that the machine gave no time says nothing of the kernel."""

from __future__ import annotations

import pytest
from tests.gate.right.candidates import task_named

from warpsight.gate import check, kernel
from warpsight.nouns import Build
from warpsight.tasks import read_candidate
from warpsight.toolchain.process import DeadlinePassed, MachineTooBusy


@pytest.mark.parametrize("stopped", [MachineTooBusy, DeadlinePassed])
def test_only_used_up_processor_time_is_a_text_that_does_not_compile(
    monkeypatch: pytest.MonkeyPatch, stopped: type[DeadlinePassed]
) -> None:
    def stop(*_: object, **__: object) -> Build:
        raise stopped("the CUDA compiler did not finish")

    task = task_named("vector_add")
    monkeypatch.setattr(kernel, "compile_cuda", stop)
    candidate = read_candidate(task.kernel, task, "kernel.cu")
    if stopped is MachineTooBusy:
        with pytest.raises(MachineTooBusy):
            check.build_candidate(task, candidate)
    else:
        assert not check.build_candidate(task, candidate).ok
