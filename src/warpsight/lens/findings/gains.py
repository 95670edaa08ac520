"""What the time would be without a cause, from the profile's own numbers: the one place where gains are estimated.

The time of a launch is the longest of what its resources need and of what its warps wait for:

    time  = max(L2, DRAM, atomics, SM)          each as a share of the simulated time, from the counters busy_...
    SM    = max(busy_issue, busy_lsu, ..., busy_tensor, waits)
    waits = part of the SM x (selected + wait + scoreboards + barrier + branch), from the counters stall_...

Stalls for want of a unit (throttles, not_selected) are left out of the waits: the unit's own share stands for them. A
finding says by which factors its cause scales the work of resources and the waits; the gain is the time before over
the time after, with the launch overhead in both. What must stay true: no change means a gain of 1, and never less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpsight.errors import UsageError
from warpsight.nouns import Profile
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

ON_SM = ("issue", "fma", "alu", "sfu", "fp64", "tensor", "lsu")
POOLS = ("l2", "dram", "atomics")
WAITS = ("selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "branch_resolving", "membar")
# Scaled as the issue slots are unless a finding says otherwise: fewer instructions, fewer of these.
WITH_ISSUE = ("selected", "wait", "branch_resolving")
SCOREBOARDS = ("long_scoreboard", "short_scoreboard")
QUEUED = 0.6  # a load/store unit this busy has a queue, and the wait for values is mostly the wait in it
SCHEDULERS = 4


@dataclass(frozen=True)
class Change:
    """What removing a cause does: factors on the work of resources, on waits, on all waits, on all of the SM."""

    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    stalls: Mapping[str, float] = field(default_factory=dict[str, float])
    waits: float = 1.0
    sm: float = 1.0


def gain(profile: Profile, change: Change) -> float | None:
    """Time before over time after, at least 1; None when the profile has no time."""
    duration = profile.counters.get("duration_us", 0.0)
    if not duration:
        return None
    before, after = relative_time(profile, Change()), relative_time(profile, change)
    overhead = min(LAUNCH_OVERHEAD_US, duration) if profile.source == "simulated" else 0.0
    body = duration - overhead
    left = body * (after / before if before else 1.0) + overhead
    return round(max(1.0, duration / left), 3) if left > 0 else 1.0


def relative_time(profile: Profile, change: Change) -> float:
    """The modelled time as a share of the profile's, with the change made."""
    pools = [busy(profile, name) * change.resources.get(name, 1.0) for name in POOLS]
    units = [busy(profile, name) * change.resources.get(name, 1.0) for name in ON_SM]
    return max(*pools, change.sm * max(*units, change.waits * sm_part(profile) * _waits(profile, change)))


def busy(profile: Profile, resource: str) -> float:
    """A share of the time, 0 to about 1."""
    return profile.counters.get(f"busy_{resource}", 0.0) / 100.0


def stall(profile: Profile, reason: str) -> float:
    return profile.counters.get(f"stall_{reason}", 0.0) / 100.0


def sm_part(profile: Profile) -> float:
    """How long the SMs worked, of the time: less than all of it only when L2, DRAM or an atomic address binds."""
    per_clock = profile.counters.get("issued_per_cycle", 0.0)
    if max(busy(profile, name) for name in POOLS) < 0.995 or not per_clock:
        return 1.0
    return min(1.0, busy(profile, "issue") * SCHEDULERS / per_clock)


def gpu_of(profile: Profile) -> Gpu | None:
    """The data sheet of the profile's GPU, where it is a known one."""
    try:
        return find_gpu(profile.gpu) if profile.gpu else None
    except UsageError:
        return None


def _waits(profile: Profile, change: Change) -> float:
    factors: dict[str, float] = {reason: change.resources.get("issue", 1.0) for reason in WITH_ISSUE}
    if busy(profile, "lsu") >= QUEUED:
        factors.update({reason: change.resources.get("lsu", 1.0) for reason in SCOREBOARDS})
    factors.update(change.stalls)
    return sum(stall(profile, reason) * factors.get(reason, 1.0) for reason in WAITS)
