"""The example tasks on both executors: the same outputs bit for bit, and every instruction ran as often.

The definition is slow, so a launch that is long runs a part of its blocks (the first, the last, some between) in both.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from tests.vgpu.agree.both import assert_agree
from tests.vgpu.run import Array

from warpsight.devices.virtual import lay_out, program_of, spread_blocks
from warpsight.gate.check import kernel_values
from warpsight.gate.kernel import build_candidate
from warpsight.nouns import Task, Workload
from warpsight.tasks import LaunchSize, evaluate_launch, read_candidate, read_task
from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import Program

FOLDERS = sorted(file.parent for file in (Path(__file__).parents[3] / "tasks").glob("*/kernel.cu"))


def chosen_blocks(program: Program, task: Task, workload: Workload, size: LaunchSize, budget: int) -> list[int]:
    """As many blocks as the budget of warp instructions allows, at least one."""
    total = prod(size.grid)
    memory, params, _ = lay_out(program, kernel_values(task, workload, seed=1)[1])
    done = machine.launch(
        program,
        memory,
        grid=size.grid,
        block=size.block,
        params=params,
        dynamic_shared_bytes=size.shared_bytes,
        cores=1,
    )
    return list(spread_blocks(total, max(1, min(total, budget * total // done.warp_instructions))))


def agree(folder: Path, workload: Workload, budget: int) -> None:
    task = read_task(folder)
    candidate = read_candidate((folder / task.kernel_file).read_text(), task)
    program = program_of(build_candidate(task, candidate).ptx, task.entry)
    size = evaluate_launch(candidate, workload.axes)
    _, values = kernel_values(task, workload, seed=1)
    arguments = {v.name: v.array if v.is_scalar else Array(v.array, writable=v.writable) for v in values}
    blocks = chosen_blocks(program, task, workload, size, budget)
    arrays = assert_agree(
        program,
        arguments,
        grid=size.grid,
        block=size.block,
        shared=size.shared_bytes,
        blocks=blocks,
        max_instructions=50 * budget,
    )
    outputs = [v for v in values if v.writable and not v.is_scalar]
    assert any(not np.array_equal(arrays[v.name], v.array.reshape(-1).view(np.uint8)) for v in outputs), (
        "nothing was written"
    )


def by_size(folder: Path) -> list[Workload]:
    workloads = [w for w in read_task(folder).workloads if not w.profile]
    return sorted(workloads, key=lambda w: prod(w.axes.values()))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_a_small_workload_agrees(folder: Path) -> None:
    """The smallest that is shown: hidden ones are often a single element."""
    agree(folder, next(w for w in by_size(folder) if not w.hidden), budget=5_000)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_every_workload_agrees(folder: Path) -> None:
    for workload in by_size(folder):
        agree(folder, workload, budget=10_000)
