"""How long a full profile of each example task takes (compile cached): machine code counted, its time simulated."""

from __future__ import annotations

import statistics
import time

from benchmarks.kernels import TASKS
from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import kernel_values
from warpsight.gate.kernel import build_candidate
from warpsight.tasks import evaluate_launch, read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu


def main() -> None:
    seconds: list[float] = []
    for folder in sorted(p for p in TASKS.iterdir() if (p / "task.toml").exists()):
        task = read_task(folder)
        candidate = read_candidate(task.kernel, task)
        workload = next(w for w in task.workloads if w.profile)
        build, values = build_candidate(task, candidate), kernel_values(task, workload, seed=0)[1]
        device, size = VirtualGpu(gpu=find_gpu(task.gpu)), evaluate_launch(candidate, workload.axes)
        device.profile(build, task.entry, values, size, source_text=candidate.source)
        start = time.perf_counter()
        p = device.profile(build, task.entry, values, size, source_text=candidate.source)
        seconds.append(time.perf_counter() - start)
        simulated = p.counters.get("duration_us", 0.0)
        print(
            f"{task.name:26} {seconds[-1]:6.2f} s  {p.isa}  {simulated:9.1f} us simulated, bound by {p.bound}",
            flush=True,
        )
    print(f"median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s")
