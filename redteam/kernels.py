"""Run an attack that is a kernel through the whole gate, as a candidate, and say what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.spin import spin_kernel, spin_task

from redteam.entries import BASELINES, Attack
from warpsight.devices.device import Device
from warpsight.devices.opencl import OpenClDevice
from warpsight.devices.opencl_build import blocks_of, build_opencl, compile_opencl
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError, ToolchainError, UsageError
from warpsight.gate.check import check_candidate
from warpsight.gate.compare_pair import compare_measured
from warpsight.gate.evaluate import evaluate
from warpsight.gate.kernel import kernel_on, timed_workload
from warpsight.nouns import Candidate, Evaluation, Task
from warpsight.tasks import generate_inputs, read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu

TASKS = Path(__file__).parents[1] / "tasks"
DEADLINE_S = 15.0
SPIN_STEPS = 2000
ASSEMBLY = "// assembly: allowed\n"
SMALLER = {"matmul_naive": {"M": 256, "N": 256, "K": 256}}  # timed on less, so that a run is seconds and not minutes


@dataclass(frozen=True)
class Outcome:
    """What the gate said. `found` is the reason, or the decision where there is none."""

    attack: Attack
    found: str
    detail: str
    improved: bool
    seconds: float

    @property
    def caught(self) -> bool:
        """Rejected for a reason that is right."""
        return not self.improved and self.found in self.attack.expect


def run_kernel(attack: Attack) -> Outcome:
    """The attack against the task's own kernel."""
    started = time.monotonic()
    try:
        found, detail, improved = told(_evaluated(attack))
    except (TaskError, UsageError) as refused:  # the text is refused before anything is compiled
        found, detail, improved = "request_refused", refused.message, False
    except ToolchainError as stopped:
        found, detail, improved = "compiler_stopped", stopped.message, False
    return Outcome(attack, found, " ".join(detail.split())[:160], improved, time.monotonic() - started)


def _evaluated(attack: Attack) -> Evaluation:
    task = attacked_task(attack.task)
    candidate = read_candidate(attack_text(attack, task), task, attack.name)
    if attack.device == "virtual":
        return evaluate(task, candidate, read_candidate(baseline_text(attack, task), task), virtual_gpu(task))
    baseline = spin_kernel(task, SPIN_STEPS) if task.name == "spin" else read_candidate(task.opencl, task, "kernel.cl")
    with OpenClDevice(deadline_seconds=DEADLINE_S, threads=2) as device:
        if ASSEMBLY in candidate.source:
            return _with_assembly(task, candidate, baseline, device)
        return evaluate(task, candidate, baseline, device)


def _with_assembly(task: Task, candidate: Candidate, baseline: Candidate, device: OpenClDevice) -> Evaluation:
    """The walls behind the first: the same gate on a build that may call the system, which a candidate may not."""
    build = compile_opencl(candidate.source, entry=task.entry, blocks=blocks_of(task, candidate))
    check = check_candidate(task, candidate, device, build=build)
    if check.verdict != "right":
        return Evaluation(candidate_sha256=candidate.sha256, check=check)
    workload = timed_workload(task)
    theirs = kernel_on(baseline, build_opencl(task, baseline), workload)
    timing = compare_measured(task, workload, theirs, kernel_on(candidate, build, workload), device, seed=5)
    return Evaluation(candidate_sha256=candidate.sha256, check=check, timing=timing)


def baseline_text(attack: Attack, task: Task) -> str:
    """The kernel to be beaten: the one that the attack names, or the task's own."""
    return (BASELINES / attack.baseline).read_text() if attack.baseline else task.kernel


def attacked_task(name: str) -> Task:
    """An example task, on a smaller timed workload where its own would take long."""
    if name == "spin":
        with TemporaryDirectory() as folder:
            return spin_task(Path(folder) / "spin")
    task = read_task(TASKS / name)
    axes = SMALLER.get(name)
    if axes is None:
        return task
    workloads = tuple(w.model_copy(update={"axes": axes}) if w.profile else w for w in task.workloads)
    return task.model_copy(update={"workloads": workloads})


def virtual_gpu(task: Task) -> Device:
    """The GPU that the task is for."""
    return VirtualGpu(cores=2, gpu=find_gpu(task.gpu), deadline_seconds=DEADLINE_S)


def attack_text(attack: Attack, task: Task) -> str:
    """The text, with what a public seed tells put in: the first word of the inputs of the timed workload."""
    text = attack.file.read_text()
    if "@PUBLIC_A0@" in text:
        first = next(iter(generate_inputs(task, timed_workload(task), 0).values()))
        text = text.replace("@PUBLIC_A0@", str(int(first.reshape(-1)[:1].view(np.int32)[0])))
    return text


def told(found: Evaluation) -> tuple[str, str, bool]:
    check, timing = found.check, found.timing
    if check.verdict in ("does_not_compile", "refused"):
        return check.verdict, check.reason, False
    if check.verdict != "right":
        return check.faults[0].kind if check.faults else check.named, check.reason, False
    if timing is None or timing.decision is None:
        return "no_time", "", False
    return timing.reason or timing.decision, timing.detail, timing.improves
