"""The example tasks as launches that can be repeated and timed: their profile workload, ready in device memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warpsight.devices.device import Value
from warpsight.devices.memory import lay_out
from warpsight.gate.check import kernel_values
from warpsight.gate.kernel import build_candidate
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize, evaluate_launch, read_candidate, read_task
from warpsight.vgpu import counters, machine
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.ptx import load_ptx

TASKS = Path(__file__).parents[1] / "tasks"


@dataclass(frozen=True)
class Example:
    name: str
    build: Build
    program: Program
    values: tuple[Value, ...]
    size: LaunchSize

    def run(self, cores: int, *, check: bool = False) -> tuple[float, int]:
        """Seconds of one launch, and the thread-instructions it executed."""
        memory, params, _ = lay_out(self.program, self.values)
        start = time.perf_counter()
        done = machine.launch(
            self.program,
            memory,
            grid=self.size.grid,
            block=self.size.block,
            params=params,
            dynamic_shared_bytes=self.size.shared_bytes,
            cores=cores,
            check=check,
        )
        seconds = time.perf_counter() - start
        return seconds, int(done.counts[:, counters.INDEX["threads"]].sum())

    def best(self, cores: int, repeats: int) -> tuple[float, int]:
        return min(self.run(cores) for _ in range(repeats))


def examples() -> Iterator[Example]:
    for folder in sorted(p for p in TASKS.iterdir() if (p / "kernel.cu").exists()):
        task = read_task(folder)
        candidate = read_candidate(task.kernel, task)
        workload = next(w for w in task.workloads if w.profile)
        build = build_candidate(task, candidate)
        _, values = kernel_values(task, workload, seed=0)
        program = load_ptx(build.ptx, task.entry)
        yield Example(task.name, build, program, values, evaluate_launch(candidate, workload.axes))


def geometric_mean(values: list[float]) -> float:
    product = 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product
