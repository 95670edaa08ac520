"""What the time would be without a cause, from the profile's own numbers: the one place where gains are estimated.

The time of a launch is the longest of what its resources need and of what its warps wait for:

    time  = max(L2, DRAM, atomics, SM)          each as a share of the simulated time, from the counters busy_...
    SM    = max(busy_issue, busy_lsu, ..., busy_tensor, waits)
    waits = part of the SM x (selected + wait + scoreboards + barrier + branch), from the counters stall_...

Stalls for want of a unit (throttles, not_selected) are left out of the waits: the unit's own share stands for them. A
finding says by which factors its cause scales counters; the gain is the time before over the time after, with the
launch overhead in both. What must stay true: no change means a gain of 1, and never less; and a gain follows from the
profile and the factors alone (`gain_of`), so that anyone can derive it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpsight.errors import UsageError
from warpsight.nouns import Profile
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu

ON_SM = ("issue", "fma", "alu", "sfu", "fp64", "tensor", "lsu")
POOLS = ("l2", "dram", "atomics")
WAITS = (
    "selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "branch_resolving", "membar",
    "no_instruction",
)  # fmt: skip
# Scaled as the issue slots are unless a finding says otherwise: fewer instructions, fewer of these.
WITH_ISSUE = ("selected", "wait", "branch_resolving", "no_instruction")
SCOREBOARDS = ("long_scoreboard", "short_scoreboard")
QUEUED = 0.6  # a load/store unit, L2 or DRAM this busy has a queue: the wait for values is mostly the wait in it
SCHEDULERS = 4
OVERHEAD = "launch_overhead_us"


@dataclass(frozen=True)
class Change:
    """What removing a cause does: factors on the work of resources, on waits, on all waits, on all of the SM.

    `launch` is the factor on the time that the launch itself takes.
    """

    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    stalls: Mapping[str, float] = field(default_factory=dict[str, float])
    waits: float = 1.0
    sm: float = 1.0
    launch: float = 1.0


def gain(profile: Profile, change: Change) -> float | None:
    """Time before over time after, at least 1; None when the profile has no time."""
    return gain_of(profile, factors(profile, change))


def gain_of(profile: Profile, scaled: Mapping[str, float]) -> float | None:
    """The gain when each named counter is multiplied by its factor."""
    duration = profile.counters.get("duration_us", 0.0)
    if not duration:
        return None
    before, after = _relative_time(profile, {}), _relative_time(profile, scaled)
    overhead = min(profile.counters.get(OVERHEAD, 0.0), duration)
    left = (duration - overhead) * (after / before if before else 1.0) + overhead * scaled.get(OVERHEAD, 1.0)
    return round(max(1.0, duration / left), 3) if left > 0 else 1.0


def factors(profile: Profile, change: Change) -> dict[str, float]:
    """The change as a factor for each counter of the profile that it scales."""
    found = {f"busy_{name}": change.resources.get(name, 1.0) for name in POOLS}
    found |= {f"busy_{name}": change.sm * change.resources.get(name, 1.0) for name in ON_SM}
    waits: dict[str, float] = {reason: change.resources.get("issue", 1.0) for reason in WITH_ISSUE}
    if busy(profile, "lsu") >= QUEUED:
        waits.update({reason: change.resources.get("lsu", 1.0) for reason in SCOREBOARDS})
    full = [name for name in ("l2", "dram") if busy(profile, name) >= QUEUED]
    if full:
        waits["long_scoreboard"] = max(change.resources.get(name, 1.0) for name in full)
    waits.update(change.stalls)
    found |= {f"stall_{reason}": change.sm * change.waits * waits.get(reason, 1.0) for reason in WAITS}
    found[OVERHEAD] = change.launch
    return {name: round(factor, 4) for name, factor in found.items() if factor != 1.0 and name in profile.counters}


def _relative_time(profile: Profile, scaled: Mapping[str, float]) -> float:
    """The modelled time as a share of the profile's, with counters scaled."""
    resources = [busy(profile, name) * scaled.get(f"busy_{name}", 1.0) for name in (*POOLS, *ON_SM)]
    waits = sum(stall(profile, reason) * scaled.get(f"stall_{reason}", 1.0) for reason in WAITS)
    return max(*resources, sm_part(profile) * waits)


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


def at_once(profile: Profile) -> bool:
    """Whether all blocks are on the multiprocessors from the start: then the slowest warp decides."""
    return profile.counters.get("waves", 2.0) <= 1.0


def gpu_of(profile: Profile) -> Gpu | None:
    """The data sheet of the profile's GPU, where it is a known one."""
    try:
        return find_gpu(profile.gpu) if profile.gpu else None
    except UsageError:
        return None
