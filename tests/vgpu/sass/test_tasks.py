"""Every example task: the machine code gives the bits of the PTX, and moves the same data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.vgpu.sass.both import ARCHITECTURES, build, programs, same_bits

from warpsight.devices.virtual import lay_out
from warpsight.gate.check import kernel_values
from warpsight.tasks import evaluate_launch, read_candidate, read_task
from warpsight.vgpu import counters, machine
from warpsight.vgpu.bytecode import OPS, Flag, Program, T

TASKS = sorted(p.parent for p in (Path(__file__).parents[3] / "tasks").glob("*/kernel.cu"))
ANCHORS = (
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "shared_store_requests",
    "barriers",
    "atomic_lanes",
)
# The compiler unrolls these loops, whose lanes leave at different turns: warps issue their loads in other groups.
OTHER_LOADS = {"layer_norm", "spmv_csr"}


def fused_products(program: Program, counts: np.ndarray) -> int:
    """Threads that ran a fused multiply-add of F64 or F32, as loads of work go (divisions and roots have their own)."""
    fma = (program.code["op"] == OPS["FMA"].number) & (program.code["ta"] == T.F32)
    visible = (program.code["flags"] & Flag.HIDDEN) == 0
    return int(counts[fma & visible, counters.INDEX["threads_on"]].sum())


@pytest.mark.parametrize("gpu_arch", ARCHITECTURES)
@pytest.mark.parametrize("folder", TASKS, ids=lambda p: p.name)
def test_machine_code_of_a_task_equals_its_ptx(folder: Path, gpu_arch: str) -> None:
    task = read_task(folder)
    candidate = read_candidate(task.kernel, task)
    ordered = sorted(task.workloads, key=lambda w: float(np.prod([float(n) for n in w.axes.values()])))
    made = build(candidate.source, gpu_arch, candidate.options)
    loaded = programs(made, task.entry)
    for workload in (ordered[0], ordered[len(ordered) * 2 // 3]):
        size = evaluate_launch(candidate, workload.axes)
        _, values = kernel_values(task, workload, 1)
        results, derived, products = [], [], []
        for program in loaded:
            memory, params, arrays = lay_out(program, values)
            done = machine.launch(
                program, memory, grid=size.grid, block=size.block, params=params, dynamic_shared_bytes=size.shared_bytes
            )
            assert done.faults == ()
            results.append(arrays)
            derived.append(counters.derive(counters.Selector.of(program), done.counts))
            products.append(fused_products(program, done.counts))
        same_bits(results[0], results[1])
        for name in ANCHORS:
            if not (name.startswith("global_load") and task.name in OTHER_LOADS):
                assert derived[0][name] == derived[1][name], (workload.name, name)
        if task.name.startswith(("matmul", "batched", "saxpy", "conv2d")):
            assert products[0] == products[1] > 0


def test_one_counted_instruction_for_each_of_the_machine_code() -> None:
    folder = next(p for p in TASKS if p.name == "matmul_tiled")
    task = read_task(folder)
    _, program = programs(build(task.kernel, "sm_86"), task.entry)
    visible = (program.code["flags"] & Flag.HIDDEN) == 0
    assert program.isa == "sass" and program.sched is not None
    addresses = program.sched["address"][visible]
    assert addresses.tolist() == list(range(0, 16 * len(addresses), 16))
    assert program.sched["stall"].max() > 4 and set(program.sched["write_bar"].tolist()) - {7}
    assert program.code["op"][visible].tolist().count(OPS["BAR"].number) == sum(
        t.startswith("BAR") for t in np.array(program.texts)[visible]
    )
