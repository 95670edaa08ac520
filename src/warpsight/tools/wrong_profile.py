"""A diagnosis of another kernel, for feedback `wrong`: real, well formed, and not about the kernel that was asked for.

The choice follows from the kernel's hash. What must stay true: it is never given where it could be believed in earnest
(`Session` refuses the mode without decoys, and only the bench has decoys), and its first finding is not the true one.
"""

from __future__ import annotations

from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns import Candidate, Task
from warpsight.session.session import Diagnosed, Session


def wrong_profile(session: Session, candidate: Candidate) -> Diagnosed:
    """Another kernel's profile and findings, under the name of this one."""
    true = {finding.name for finding in session.diagnose(candidate)[:1]}
    start = int(candidate.sha256[:8], 16)
    others = sorted((task for task in session.decoys if task.name != session.task.name), key=lambda task: task.name)
    for step in range(len(others)):
        found = _diagnosed(session, others[(start + step) % len(others)])
        if found is not None and found[1] and found[1][0].name not in true:
            profile, findings = found
            return profile.model_copy(update={"kernel": session.task.entry}), findings
    raise UsageError("feedback `wrong`: none of the other tasks has another diagnosis", hint="give more tasks")


def _diagnosed(session: Session, task: Task) -> Diagnosed | None:
    """What the lens says of a task's own kernel, on the same GPU; None where it says nothing."""
    if session.simulator is None:
        raise UsageError("feedback `wrong` is for the virtual GPU: other devices have no diagnosis")
    try:
        other = Session(task, device=session.device, seed=session.seed, unsafe=session.unsafe)
        return session.diagnosed_decoys.of(task.name, lambda: (other.counters(), other.diagnose()))
    except WarpsightError:
        return None
