"""What is right to recommend, measured: every single removal goes through the gate on the task's own GPU and size.

Simulated times, from the virtual GPU. Each removal is checked, then decided against the task's kernel as any candidate
is. The answer is the removal that helps most; removals within 3 % of it are as right; when none is FASTER by 3 %, the
answer is `nothing`. Measured on the canonical text: names and layout do not reach the machine code.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsight.corpus.families import families
from warpsight.corpus.kinds import NOTHING
from warpsight.corpus.looks import BadDefect, Look, Spent, look
from warpsight.corpus.specs import Spec, task_of
from warpsight.corpus.variants import plant
from warpsight.gate.compare_pair import simulated_timing
from warpsight.gate.roofline_cap import simulated_roof
from warpsight.nouns import Noun, Task, Timing, Workload
from warpsight.nouns.timing import Decision
from warpsight.vgpu.gpus import find_gpu

TIE = 1.03


class Truth(Noun):
    """Simulated times of a task and of each removal, the gate's decisions, and what is right to recommend."""

    time_us: float
    without_us: Mapping[str, float]
    fast_us: float
    right: tuple[str, ...]
    decisions: Mapping[str, Decision] = {}

    @property
    def gain(self) -> float:
        """How much faster the best single removal makes it."""
        return self.time_us / min(self.without_us.values())


def measure(spec: Spec, spent: Spent | None = None) -> Truth:
    """The truth about one task."""
    whole = look_at(spec, spec.defects, spent)
    removals = {defect: look_at(spec, tuple(d for d in spec.defects if d != defect), spent) for defect in spec.defects}
    without = {defect: found.boost_us for defect, found in removals.items()}
    decisions = {defect: _decided(spec, whole, found).decision for defect, found in removals.items()}
    return Truth(
        time_us=whole.boost_us,
        without_us=without,
        fast_us=look_at(spec, (), spent).boost_us,
        right=right_answers(whole.boost_us, without, decisions),
        decisions=decisions,
    )


def right_answers(
    time_us: float, without_us: Mapping[str, float], decisions: Mapping[str, Decision]
) -> tuple[str, ...]:
    """The removals that help most, ties included; `nothing` when none is faster by more than a tie."""
    helping = {d: t for d, t in without_us.items() if decisions[d] == "FASTER" and time_us / t >= TIE}
    if not helping:
        return (NOTHING,)
    best = min(helping.values())
    return tuple(sorted(d for d, t in helping.items() if t <= best * TIE))


def look_at(spec: Spec, defects: tuple[str, ...], spent: Spent | None = None) -> Look:
    """The family's kernel with these defects, checked and timed at the task's size on the task's GPU."""
    text = plant(families()[spec.family], defects, spec.constants)
    if text is None:
        raise BadDefect(f"{spec.family}: {', '.join(defects)} cannot be planted together")
    return look(task_of(spec, text), spent)


def _decided(spec: Spec, whole: Look, removal: Look) -> Timing:
    task: Task = families()[spec.family].task  # not the task's own text: what must be moved does not depend on it
    workload = Workload(name="profile", axes=dict(spec.size), profile=True)
    roof = simulated_roof(task, workload, find_gpu(spec.gpu))
    found = simulated_timing(spec.gpu, "profile", removal.times_us, whole.times_us, roof)
    if found.decision == "REJECTED":
        raise BadDefect(f"{spec.key}: a removal was rejected: {found.detail}")
    return found
