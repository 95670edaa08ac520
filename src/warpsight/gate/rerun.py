"""Run the two kernels of a certificate again on this machine, and say whether the same comes out.

Simulated: with the revealed seed, times are equal to the digit where the versions are the same. The decision must be
the same too: what newer error tables call LIKELY_FASTER is not shown to be FASTER. Measured: a time cannot repeat, so
the candidate must be FASTER again and the two intervals must meet.
"""

from __future__ import annotations

from contextlib import ExitStack

from warpsight.devices.device import Device
from warpsight.devices.registry import device_names, open_device
from warpsight.errors import UsageError
from warpsight.gate.evaluate import evaluate
from warpsight.gate.timing import Progress
from warpsight.gate.verify import Verified
from warpsight.nouns import Task, Timing
from warpsight.nouns.certificate import Certificate
from warpsight.tasks import read_candidate, written_in


def rerun_certificate(found: Certificate, task: Task, progress: Progress = lambda _: None) -> Verified:
    """One finding, `rerun`."""
    stated = found.timing
    workload = next((w for w in task.workloads if w.name == stated.workload), None)
    if workload is None:
        return Verified("rerun", False, f"the task has no workload {stated.workload!r}")
    opencl = stated.device == "opencl"
    candidate, baseline = (
        read_candidate(text, task, name, "opencl" if opencl else written_in(text))
        for name, text in (("candidate", found.candidate.text), ("baseline", found.baseline.text))
    )
    with ExitStack() as stack:
        device = _device(stated.device, stack)
        again = evaluate(task, candidate, baseline, device, seed=found.seed.value, workload=workload, progress=progress)
    if again.timing is None:
        return Verified("rerun", False, f"the check says {again.check.verdict} now: {again.check.reason}")
    return _agrees(stated, again.timing)


def _agrees(stated: Timing, now: Timing) -> Verified:
    told = f"stated {stated.decision} {stated.ratio}, now {now.decision} {now.ratio} {now.reason}".strip()
    if stated.source == "simulated":
        if (stated.likelihood and stated.likelihood.tables) != (now.likelihood and now.likelihood.tables):
            told += "; it was made with other error tables than this version's"
        same = (stated.decision, stated.samples_us, stated.baseline_us) == (
            now.decision, now.samples_us, now.baseline_us,
        )  # fmt: skip
        return Verified("rerun", same, told)
    if stated.interval is None or now.interval is None or now.decision != "FASTER":
        return Verified("rerun", False, told)
    meet = stated.interval[0] <= now.interval[1] and now.interval[0] <= stated.interval[1]
    return Verified("rerun", meet, told)


def _device(name: str, stack: ExitStack) -> Device:
    kind, _, gpu = name.partition(":")
    if kind not in device_names():
        raise UsageError(f"expected a certificate of {', '.join(device_names())}, it is of {name!r}")
    device = open_device(kind, default_gpu=gpu or None)
    close = getattr(device, "close", None)
    if close is not None:
        stack.callback(close)
    return device
