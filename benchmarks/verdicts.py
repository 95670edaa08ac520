"""CPU seconds of a full verdict (compile, check, time, machine code checked), each in a new process with a cold cache.

`verdicts:OTHER/TREE` runs the same verdicts with another checkout of the project too, turn by turn, and gives ratios:
its own environment must be set up. CPU seconds are those of the process and of everything it started.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
HONEST = HERE / "tests/redteam/honest"
KERNELS = (
    "transpose__padded_tile",
    "matmul_naive__register_tile",
    "softmax__online",
    "reduce_sum__float4",
    "spmv_csr__warp_a_row",
    "conv2d__filters_in_shared",
)
SEED, GPU = 11, "a100"
ONE = f"""
import json, sys
from pathlib import Path
from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.evaluate import evaluate
from warpsight.tasks import read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu
task, file = read_task(Path(sys.argv[1])), Path(sys.argv[2])
kernels = [read_candidate(text, task, task.kernel_file) for text in (file.read_text(), task.kernel)]
found = evaluate(task, *kernels, VirtualGpu(gpu=find_gpu("{GPU}")), seed={SEED})
timing = found.timing
print(json.dumps([found.check.verdict, timing and timing.decision, timing and timing.ratio]))
"""


def verdict(tree: Path, kernel: str) -> tuple[float, list[object]]:
    """CPU seconds of one verdict by a tree's own code, and what it said."""
    before = _spent()
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [tree / ".venv/bin/python", "-c", ONE, HERE / "tasks" / kernel.split("__")[0], HONEST / f"{kernel}.cu"],
            cwd=tree,
            env={**os.environ, "WARPSIGHT_CACHE": cache},
            stdout=subprocess.PIPE,
            check=True,
        )
    return _spent() - before, json.loads(done.stdout)


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(other: str = "") -> None:
    ratios: list[float] = []
    for kernel in KERNELS:
        seconds, (check, decision, ratio) = verdict(HERE, kernel)
        line = f"  {kernel:30} {seconds:6.2f} s CPU: {check}, {decision} {ratio or 0:.2f}x"
        if other:
            before, said = verdict(Path(other), kernel)
            ratios.append(seconds / before)
            line += (
                f"; the other tree {before:6.2f} s ({said[0]}, {said[1]} {said[2] or 0:.2f}x): {ratios[-1]:.2f} times"
            )
        print(line, flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"  geometric mean of the ratios {mean:.2f}, most {max(ratios):.2f} (n = {len(ratios)}, {sys.platform})")
