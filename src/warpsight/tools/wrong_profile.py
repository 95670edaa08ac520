"""A diagnosis of another kernel, for feedback `wrong`: real, well formed, and not about the kernel that was asked for.

The choice follows from the kernel's hash. What must stay true: it is never given where it could be believed in earnest
(`Workbench` refuses the mode without decoys, and only the bench has decoys), and its first finding is not the true one.
"""

from __future__ import annotations

from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns import Candidate, Task
from warpsight.tasks import read_candidate
from warpsight.tools.workbench import Diagnosis, Workbench


def wrong_profile(bench: Workbench, candidate: Candidate) -> Diagnosis:
    """Another kernel's profile and findings, under the name of this one."""
    true = {finding.name for finding in bench.findings(candidate)[:1]}
    start = int(candidate.sha256[:8], 16)
    others = sorted((task for task in bench.decoys if task.name != bench.task.name), key=lambda task: task.name)
    for step in range(len(others)):
        found = _diagnosed(bench, others[(start + step) % len(others)])
        if found is not None and found[1] and found[1][0].name not in true:
            profile, findings = found
            return profile.model_copy(update={"kernel": bench.task.entry}), findings
    raise UsageError("feedback `wrong`: none of the other tasks has another diagnosis", hint="give more tasks")


def _diagnosed(bench: Workbench, task: Task) -> Diagnosis | None:
    """What the lens says of a task's own kernel, on the same GPU; None where it says nothing."""
    if not isinstance(bench.device, VirtualGpu):
        raise UsageError("feedback `wrong` is for the virtual GPU: other devices have no diagnosis")
    try:
        other = Workbench(
            task, bench.device, read_candidate(task.kernel, task, task.kernel_file), seed=bench.seed,
            unsafe=bench.unsafe,
        )  # fmt: skip
        return bench.diagnosed_decoys.of(task.name, lambda: (other.profile(other.given), other.findings(other.given)))
    except WarpsightError:
        return None
