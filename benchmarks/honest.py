"""Kernels that people write (`tests/honest`), checked with fresh secret seeds: which are right, and how long it took.

Every line but `right` is a fault of ours. `honest:5` takes five seeds instead of two.
"""

from __future__ import annotations

import secrets
import sys
import tempfile
import time
from pathlib import Path

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.tasks import read_candidate

sys.path.insert(0, str(Path(__file__).parents[1]))
SEEDS = 2


def main(seeds: str = str(SEEDS)) -> None:
    from tests.honest.collection import entries

    drawn = [secrets.randbits(40) for _ in range(int(seeds))]
    print(f"secret seeds: {', '.join(map(str, drawn))}")
    print(f"{'kernel':22} {'language':8} {'verdict':16} {'s':>5}  why")
    right, tried = 0, entries()
    for entry in tried:
        with tempfile.TemporaryDirectory() as folder:
            task = entry.task(Path(folder))
            candidate = read_candidate(task.kernel, task, task.kernel_file)
            start, verdict, why = time.perf_counter(), "right", ""
            for seed in drawn:
                found = check_candidate(task, candidate, VirtualGpu(), seed=seed % 1000, secret_seed=seed)
                if found.verdict != "right":
                    verdict, why = found.verdict, f"{found.reason[:90]} (seed {seed})"
                    break
        right += verdict == "right"
        language = "triton" if entry.is_triton else "cuda"
        print(f"{entry.name:22} {language:8} {verdict:16} {time.perf_counter() - start:5.1f}  {why}", flush=True)
    print(f"{right} of {len(tried)} are right")
