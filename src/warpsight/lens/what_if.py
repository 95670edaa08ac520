"""What removing a cause would change in a launch: which instructions, accesses and terms of the time model.

A pure function of the profile that the cause was found in. Each change is as small as the cause: a scattered access
becomes as if lanes lay side by side, what shared memory would keep is loaded one time in four, a walk is shared by at
most 32 threads. What a repair costs elsewhere (a barrier for a tile, shuffles for a shared sum) is not in it, so this
is what there is to gain at best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warpsight.causes import causes, require_named
from warpsight.errors import UsageError
from warpsight.lens.findings.arithmetic import routine_work
from warpsight.lens.findings.loops import is_backward_branch, keeps_its_address, loop_around
from warpsight.lens.findings.reading import Work, executed, is_conversion_to_double
from warpsight.lens.findings.walking import share_of_gpu
from warpsight.nouns import Profile
from warpsight.vgpu.what_if import WhatIf

REUSE = 4  # times that a modest tile, window or patch of registers serves a value
WIDE = 4  # elements in an access of 16 bytes
SPREAD = 32  # threads that share a walk, at most
_GLOBAL = ("global_load", "global_store")


@dataclass(frozen=True)
class Scenario:
    """A change, and what it assumes, in words."""

    change: WhatIf
    assumes: str


Making = Callable[[Profile, Sequence[Work]], Scenario]


def scenario(profile: Profile, word: str) -> Scenario:
    """What removing a cause changes. UsageError where no such cause can be simulated away, or it is not there."""
    names = [name for name in require_named(word) if name in SCENARIOS]
    if not names:
        known = ", ".join(SCENARIOS)
        raise UsageError(f"expected a cause that can be simulated away: {known}; got {word!r}", hint=_why(word))
    if profile.isa != "sass" or not profile.gpu:
        raise UsageError("expected a kernel with machine code and a simulated time", hint="use --device virtual")
    return SCENARIOS[names[0]](profile, executed(profile))


def _why(word: str) -> str:
    known = [name for name in require_named(word) if name in causes()]
    return "" if not known else f"{known[0]}: {causes()[known[0]].meaning}"


def _coalesced(profile: Profile, work: Sequence[Work]) -> Scenario:
    return Scenario(
        WhatIf(ideal=_ideal(work)), "lanes of every global access lie side by side; each warp touches the same bytes"
    )


def _rows(profile: Profile, work: Sequence[Work]) -> Scenario:
    threads = _more_threads(profile)
    return Scenario(
        WhatIf(ideal=_ideal(work), split=threads),
        f"lanes lie side by side, and {threads} threads share the walk of one; combining what they gather is free",
    )


def _split(profile: Profile, work: Sequence[Work]) -> Scenario:
    threads = _more_threads(profile)
    if any(w.base == "BAR" for w in work):
        raise UsageError("expected a kernel without barriers: work between barriers cannot be split in a simulation")
    return Scenario(
        WhatIf(split=threads), f"{threads} threads share the work of one; combining what they gather is free"
    )


def _reused(*spaces: str) -> Making:
    def made(profile: Profile, work: Sequence[Work]) -> Scenario:
        own = {w.at.index: REUSE for w in work if w.space in spaces}
        kinds = " and ".join(one.replace("_", " ") for one in spaces)
        return Scenario(WhatIf(keep=own), f"of {REUSE} {kinds}s one is left; filling a tile is free")

    return made


def _dropped(words: str, chosen: Callable[[Work, Sequence[Work]], bool]) -> Making:
    def made(profile: Profile, work: Sequence[Work]) -> Scenario:
        return Scenario(WhatIf(keep=_hidden_too(profile, {w.at.index: 0 for w in work if chosen(w, work)})), words)

    return made


def _terms(words: str, *terms: str) -> Making:
    def made(profile: Profile, work: Sequence[Work]) -> Scenario:
        return Scenario(WhatIf(without=terms), words)

    return made


def _occupied(profile: Profile, work: Sequence[Work]) -> Scenario:
    return Scenario(
        WhatIf(full_occupancy=True), "as many blocks on a multiprocessor at once as its warps allow; nothing spills"
    )


def _single(profile: Profile, work: Sequence[Work]) -> Scenario:
    gone = {w.at.index: 0 for w in work if is_conversion_to_double(w)}
    return Scenario(
        WhatIf(keep=_hidden_too(profile, gone), single_precision=True),
        "double-precision instructions are as fast as single ones, and conversions between them are gone",
    )


def _unrolled(profile: Profile, work: Sequence[Work]) -> Scenario:
    keep: dict[int, int] = {}
    for w in work:
        inside = loop_around(w, list(work)) if is_backward_branch(w) else []
        counting = [v for v in inside if v.base in ("ISETP", "UISETP")][-1:]
        keep |= {v.at.index: 8 for v in (w, *counting)}
    return Scenario(WhatIf(keep=keep), "of 8 turns of a loop one compares and branches")


def _cheap(profile: Profile, work: Sequence[Work]) -> Scenario:
    keep = {w.at.index: 0 for w in routine_work(work)}
    return Scenario(WhatIf(keep=_hidden_too(profile, keep)), "divisions and slow functions take a few instructions")


def _wide(profile: Profile, work: Sequence[Work]) -> Scenario:
    looped = [w for w in work if w.space in _GLOBAL and w.warps >= WIDE * work[0].warps]
    if not looped:
        raise UsageError("expected accesses in a loop: without one, wider accesses need fewer threads, not fewer turns")
    return Scenario(WhatIf(keep={w.at.index: WIDE for w in looped}), f"one global access in place of {WIDE}")


def _is_reload(w: Work, work: Sequence[Work]) -> bool:
    return w.space in _GLOBAL and keeps_its_address(w, list(work))


SCENARIOS: dict[str, Making] = {
    "uncoalesced": _coalesced,
    "thread_per_row": _rows,
    "serial_loop": _split,
    "too_few_blocks": _split,
    "missing_tile": _reused("global_load"),
    "overlapping_reads": _reused("global_load"),
    "one_output_a_thread": _reused("shared_load"),
    "bank_conflicts": _terms("shared memory answers each request in one pass", "bank conflicts"),
    "scalar_access": _wide,
    "block_too_small": _occupied,
    "block_too_large": _occupied,
    "shared_hog": _occupied,
    "too_many_registers": _occupied,
    "low_occupancy": _occupied,
    "spills": _dropped("no value is kept in local memory", lambda w, _: w.space == "local"),
    "local_memory": _dropped("no value is kept in local memory", lambda w, _: w.space == "local"),
    "contended_atomics": _dropped("no atomics are left", lambda w, _: w.space in ("atomic", "atomic_shared")),
    "accidental_double": _single,
    "division_in_loop": _cheap,
    "slow_math": _cheap,
    "missing_unroll": _unrolled,
    "reloads": _dropped("what a loop loads or stores at one place stays in a register", _is_reload),
    "needless_barriers": _dropped("there are no barriers", lambda w, _: w.base == "BAR"),
    "tail": _terms("all multiprocessors end together", "tail"),
    "exposed_latency": _terms("global memory answers at once", "memory latency"),
    "dependent_chain": _terms("no instruction waits for the one before it", "stall counts"),
    "at_roofline": _terms("L2 and DRAM are never the limit", "L2 and DRAM bandwidth"),
}
"""What can be simulated away. Not: lanes that wait for others, the launch itself, the units that a kernel uses."""


def _ideal(work: Sequence[Work]) -> dict[int, int]:
    """Of the accesses that are scattered, the sectors that one touches where lanes lie side by side."""
    found: dict[int, int] = {}
    for w in work:
        requests = w.count("requests")
        if w.space in _GLOBAL and requests and w.count("sectors") > 1.1 * w.count("sectors_ideal"):
            found[w.at.index] = max(1, round(w.count("sectors_ideal") / requests))
    return found


def _more_threads(profile: Profile) -> int:
    """Threads that share the walk of one: no more than fill the GPU."""
    held = share_of_gpu(profile)
    return SPREAD if held is None else max(1, min(SPREAD, round(1 / max(held, 1e-9))))


def _hidden_too(profile: Profile, keep: dict[int, int]) -> dict[int, int]:
    """With the parts of an instruction that the profile does not show: they follow it."""
    indices = [at.index for at in profile.instructions]
    after = dict(zip(indices, (*indices[1:], indices[-1] + 1), strict=True))
    return {part: count for index, count in keep.items() for part in range(index, after[index])}
