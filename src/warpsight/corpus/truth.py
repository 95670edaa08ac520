"""What is right to recommend, measured: every single removal goes through the gate on the task's own GPU and size.

Simulated times, from the virtual GPU. Each removal is checked, then decided against the task's kernel as any candidate
is. The answer is the removal that helps most; removals within 3 % of it are as right; when none is FASTER by 3 %, the
answer is `nothing`. FASTER is the simulation's own word here; how far it may be from a real card is not asked.
Measured on the canonical text: names and layout do not reach the machine code.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsight.causes import NOTHING, TIE
from warpsight.corpus.families import families
from warpsight.corpus.looks import BadDefect, KernelTimes, Spent, look
from warpsight.corpus.specs import Spec, task_of
from warpsight.corpus.variants import plant
from warpsight.errors import WarpsightError
from warpsight.gate.compare_pair import simulated_timing
from warpsight.gate.roofline_cap import simulated_roof
from warpsight.nouns import Noun, Workload
from warpsight.nouns.timing import IMPROVEMENTS, Decision, Roof
from warpsight.vgpu.gpus import find_gpu


class BelowRoof(WarpsightError):
    """The model says a time that no kernel can have on this GPU: the task is not used."""


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


def measure(spec: Spec, spent: Spent | None = None, *, checked: bool = False) -> Truth:
    """The truth about one task; BelowRoof where the model contradicts the roofline. `checked`: its kernels were found
    right when its corpus was made, and are timed alone."""
    whole = look_at(spec, spec.defects, spent, checked=checked)
    fast = look_at(spec, (), spent, checked=checked)
    removals = {
        d: look_at(spec, tuple(kept for kept in spec.defects if kept != d), spent, checked=checked)
        for d in spec.defects
    }
    roof = _roof(spec)
    for found in (whole, fast, *removals.values()):
        if found.boost_us < roof.floor_us:
            raise BelowRoof(f"{spec.key}: {found.boost_us:.2f} us, moving the data takes {roof.floor_us:.2f} at least")
    without = {defect: found.boost_us for defect, found in removals.items()}
    decisions: dict[str, Decision] = {d: _decided(spec, whole, found, roof) for d, found in removals.items()}
    right = right_answers(whole.boost_us, without, decisions)
    return Truth(time_us=whole.boost_us, without_us=without, fast_us=fast.boost_us, right=right, decisions=decisions)


def right_answers(
    time_us: float, without_us: Mapping[str, float], decisions: Mapping[str, Decision]
) -> tuple[str, ...]:
    """The removals that help most, ties included; `nothing` when none is faster by more than a tie."""
    helping = {d: t for d, t in without_us.items() if decisions[d] in IMPROVEMENTS and time_us / t >= TIE}
    if not helping:
        return (NOTHING,)
    best = min(helping.values())
    return tuple(sorted(d for d, t in helping.items() if t <= best * TIE))


def look_at(spec: Spec, defects: tuple[str, ...], spent: Spent | None = None, *, checked: bool = False) -> KernelTimes:
    """The family's kernel with these defects, checked and timed at the task's size on the task's GPU."""
    text = plant(families()[spec.family], defects, spec.constants)
    if text is None:
        raise BadDefect(f"{spec.family}: {', '.join(defects)} cannot be planted together")
    return look(task_of(spec, text), spent, checked=checked)


def _roof(spec: Spec) -> Roof:
    """By the family's own task and not the planted text: what must be moved does not depend on it."""
    workload = Workload(name="profile", axes=dict(spec.size), profile=True)
    return simulated_roof(families()[spec.family].task, workload, find_gpu(spec.gpu))


def _decided(spec: Spec, whole: KernelTimes, removal: KernelTimes, roof: Roof) -> Decision:
    found = simulated_timing(spec.gpu, "profile", removal.times_us, whole.times_us, roof)
    return found.decision or "REJECTED"
