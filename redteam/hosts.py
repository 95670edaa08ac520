"""Run an attack that is a worker: a process in the jail that answers in the place of the OpenCL worker.

The parent's side is the real one, from laying out the arrays to the decision; the baseline is an honest kernel in an
honest worker. The hostile file stands for a native kernel that has taken its process over.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.spin import spin_kernel

from redteam.entries import FOLDER, Attack
from redteam.kernels import SPIN_STEPS, Outcome, attacked_task, told
from warpsight.devices.opencl import OpenClDevice
from warpsight.devices.opencl_build import build_opencl, worker_files
from warpsight.devices.opencl_lane import GUARD_BYTES, LaneSettings, OpenClLane
from warpsight.gate.check import check_candidate
from warpsight.gate.compare_pair import compare_measured
from warpsight.gate.kernel import kernel_on, timed_workload
from warpsight.jail import JailedWorker, Limits, wire, worker_io
from warpsight.nouns import Build, Evaluation

PROGRAM = FOLDER / "hostile.py"
SHOWN = (Path(worker_io.__file__), Path(wire.__file__), PROGRAM)
DEADLINE_S = 4.0
CANARY = Path("/tmp/warpsight-redteam-was-here")


class HostileLane(OpenClLane):
    """The parent's side as it is, with another program as the worker."""

    def __init__(self, build: Build, entry: str, settings: LaneSettings, attack: Path) -> None:
        super().__init__(build, entry, settings)
        self.attack = attack

    def _started(self) -> JailedWorker:
        words = [f"guard={GUARD_BYTES}", *(f"in={file.parent}" for file in SHOWN)]
        return JailedWorker(
            [sys.executable, "-I", str(PROGRAM), str(self.attack), *words],
            limits=Limits(wall_s=DEADLINE_S, answer_bytes=1 << 30),
            readable=(*worker_files(), *SHOWN),
            name="the hostile worker",
            level="work",
        )

    def _open_request(self) -> tuple[dict[str, Any], list[memoryview]]:
        return {"op": "open"}, []


class HostileDevice(OpenClDevice):
    """Kernels whose build is `hostile` get the hostile worker; all others are run honestly."""

    def __init__(self, attack: Path, hostile: Build, deadline_s: float = DEADLINE_S) -> None:
        super().__init__(deadline_seconds=deadline_s, threads=2)
        self.attack, self.hostile = attack, hostile

    def open_lane(self, build: Build, entry: str) -> OpenClLane:
        if build == self.hostile:
            return HostileLane(build, entry, self.settings, self.attack)
        return super().open_lane(build, entry)


def run_worker(attack: Attack) -> Outcome:
    """The attack in the place of a candidate's worker: through the check, and if it is right through the timing."""
    started = time.monotonic()
    task = attacked_task(attack.task)
    candidate, baseline = spin_kernel(task, 20), spin_kernel(task, SPIN_STEPS)
    build = build_opencl(task, candidate)
    workload = timed_workload(task)
    with HostileDevice(attack.file, build) as device:
        check = check_candidate(task, candidate, device, build=build)
        timing = None
        if check.verdict == "right":
            theirs = kernel_on(baseline, build_opencl(task, baseline), workload)
            mine = kernel_on(candidate, build, workload)
            timing = compare_measured(task, workload, theirs, mine, device, seed=5)
    found, detail, improved = told(Evaluation(candidate_sha256=candidate.sha256, check=check, timing=timing))
    if CANARY.exists():
        CANARY.rmdir()
        found, improved = "ran_in_the_parent", True
    return Outcome(attack, found, " ".join(detail.split())[:160], improved, time.monotonic() - started)
