"""Findings about what is shared on the chip: banks, constant memory, atomics, barriers."""

from __future__ import annotations

from warpsight.lens.findings.gains import Change, gpu_of, stall
from warpsight.lens.findings.reading import (
    Work,
    address_cycles,
    at_line,
    executed,
    hottest,
    lsu_cycles,
    warps_in,
    whole,
)
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, Profile

OFTEN = 0.1  # barriers among instructions
SECTOR = 32
AGAIN = 0.25  # of the bytes that atomics touch
MEET = 4  # lanes of a warp on one address; a few meet by chance


def bank_conflicts(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes of a warp meet in a bank of shared memory."""
    c = profile.counters
    passes, extra = c.get("shared_wavefronts", 0), c.get("shared_bank_conflicts", 0)
    if extra < 0.15 * passes or not extra:
        return None
    work = executed(profile)
    own = [w for w in work if w.space in ("shared_load", "shared_store", "atomic_shared")]
    least = address_cycles(profile)
    ideal = sum(max(least * w.count("requests"), w.count("wavefronts_ideal"), w.count("atomic_passes")) for w in own)
    before = lsu_cycles(profile, own)
    factor = 1 - max(0.0, before - ideal) / max(1.0, lsu_cycles(profile, work))
    line = hottest(profile, "shared_bank_conflicts")
    return finding(
        profile,
        "bank_conflicts",
        "of {shared_wavefronts} passes through shared memory {shared_bank_conflicts} are because of bank conflicts",
        [*whole(profile, "shared_bank_conflicts", 0.0), *at_line(profile, line, "shared_bank_conflicts", 0.0)],
        # A warp in a conflict is waited for at the next barrier; half of those waits are taken to be for such warps.
        change=Change({"lsu": factor}, {"short_scoreboard": factor, "barrier": (1 + factor) / 2}),
        suggestion="pad the rows of the tile by one element (33 instead of 32), or let lanes read neighbouring words",
        should_move={"shared_bank_conflicts": "down", "shared_wavefronts": "down"},
        line=line,
    )


def divergent_constant(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes read different words of constant memory, which answers one word at a time."""
    work = executed(profile)
    own = [w for w in work if w.space == "constant" and w.count("wavefronts") > 1.5 * w.count("wavefronts_ideal") > 0]
    if not own or lsu_cycles(profile, own) < 0.1 * lsu_cycles(profile, work):
        return None
    lines = [at for at in profile.lines if at.line in {w.at.line for w in own}]
    line = max(lines, key=lambda at: at.counters.get("stall_samples", 0), default=None)
    ideal = lsu_cycles(profile, work) - lsu_cycles(profile, own) + address_cycles(profile) * warps_in(own)
    factor = ideal / lsu_cycles(profile, work)
    return finding(
        profile,
        "divergent_constant",
        "lanes of a warp read different words of constant memory, which come one by one",
        [*whole(profile, "busy_lsu", 100.0), *at_line(profile, line, "stall_samples")],
        change=Change({"lsu": factor}, {"short_scoreboard": factor}),
        suggestion="let all lanes read the same constant at the same time, or keep the table in shared memory",
        should_move={"busy_lsu": "down", "stall_short_scoreboard": "down"},
        line=line,
    )


def contended_atomics(profile: Profile, build: Build | None) -> Finding | None:
    """Atomics queue at the same address: in L2, or lanes of a warp in shared memory."""
    c, work = profile.counters, executed(profile)
    all_cycles = max(1.0, lsu_cycles(profile, work))
    own = [w for w in work if w.space == "atomic_shared"]
    share = lsu_cycles(profile, own) / all_cycles
    rest = _l2_without_atomics(profile, work)
    many = c.get("busy_l2", 0.0) >= 60 and rest <= 0.5 and _come_again(profile, work)
    queue = (c.get("busy_atomics", 0.0) >= 50 or many) and not _one_for_a_block(profile, work)
    meeting = c.get("atomic_passes", 0) > MEET * c.get("atomic_requests", 0) > 0 and share > 0.2
    if not queue and not meeting:
        return None
    one = address_cycles(profile) * sum(w.count("requests") for w in own)
    factor = min(1.0, 1 - share + one / all_cycles) if own else 1.0
    each = max(1.0, c.get("atomic_lanes", 0) / profile.total_blocks)
    line = hottest(profile, "atomic_passes")
    return finding(
        profile,
        "contended_atomics",
        "atomics meet at one address: {atomic_requests} requests take {atomic_passes} passes, one after the other"
        if meeting or not many or c.get("busy_atomics", 0.0) >= 50
        else "{atomic_requests} requests of atomics keep L2 {busy_l2} % busy, at addresses that come again and again",
        [
            *whole(profile, "atomic_passes"),
            *whole(profile, "busy_atomics"),
            *at_line(profile, line, "atomic_passes"),
        ],
        change=Change(
            {"atomics": 1 / each, "l2": rest if queue else 1.0, "lsu": factor},
            {"long_scoreboard": 0.1 if queue else 1.0, "barrier": factor},
        ),
        suggestion="add up in registers, a warp (__shfl_down_sync) or shared memory first, with one atomic for each "
        "block; or give lanes copies of their own",
        should_move={"atomic_passes": "down", "atomic_requests": "down", "busy_atomics": "down"},
        line=line,
    )


def _l2_without_atomics(profile: Profile, work: list[Work]) -> float:
    """The part of the work of L2 that is no atomics. An atomic takes a slice longer than its bytes say, so where the
    rates are known, what is left is reckoned from its bytes; else half is taken."""
    c, gpu = profile.counters, gpu_of(profile)
    sectors = sum(w.count("sectors") for w in work if w.space == "atomic")
    busy_clocks = c.get("busy_l2", 0.0) / 100 * c.get("cycles", 0.0)
    if gpu is None or not sectors or not busy_clocks:
        return 0.5
    others = max(0.0, c.get("l2_bytes", 0.0) - SECTOR * sectors) / gpu.l2_bytes_per_clock
    return min(1.0, others / busy_clocks)


def _come_again(profile: Profile, work: list[Work]) -> bool:
    """Whether atomics go to the same sectors several times: DRAM moves far less than they touch."""
    sectors = sum(w.count("sectors") for w in work if w.space == "atomic")
    return profile.counters.get("dram_bytes", float("inf")) < AGAIN * SECTOR * sectors


def _one_for_a_block(profile: Profile, work: list[Work]) -> bool:
    """Whether blocks add up before they go to L2: fewer atomics there than half of their threads."""
    lanes = sum(w.count("threads_on") for w in work if w.space == "atomic")
    threads = profile.counters.get("threads_per_block", 0) * profile.total_blocks
    return 0 < lanes < threads / 2


def needless_barriers(profile: Profile, build: Build | None) -> Finding | None:
    """Warps wait for one another at barriers that come often."""
    c = profile.counters
    often = c.get("barriers", 0) / max(1, c.get("instructions", 0))
    after = _share_after_barriers(profile)
    if stall(profile, "barrier") + after < 0.1 or often < OFTEN:
        return None
    fixed = 1 - min(0.9, after / max(0.01, stall(profile, "wait")))
    work = executed(profile)
    shared = [w for w in work if w.space in ("shared_load", "shared_store")]
    # What goes from thread to thread between two barriers is stored and loaded; a shuffle does both in one.
    through = 1 - 0.5 * lsu_cycles(profile, shared) / max(1.0, lsu_cycles(profile, work))
    line = hottest(profile, "barriers")
    return finding(
        profile,
        "needless_barriers",
        "of {instructions} instructions {barriers} are barriers: warps wait there for one another {stall_barrier} % of "
        "their time, and then for the barrier itself",
        [*whole(profile, "stall_barrier", 0.0), *at_line(profile, line, "barriers")],
        # Some waiting stays: uneven warps meet at the next barrier, or at the end of the block.
        change=Change({"issue": 1 - often, "lsu": through}, {"barrier": 0.3, "wait": min(1 - often, fixed)}),
        suggestion="drop barriers that protect nothing; within a warp use __shfl_sync or __syncwarp instead of "
        "shared memory and __syncthreads; let a block do more between two of them",
        should_move={"barriers": "down", "stall_barrier": "down"},
        line=line,
    )


def _share_after_barriers(profile: Profile) -> float:
    """The share of samples in which a warp waits at the instruction behind a barrier: for the barrier to let it go."""
    waited = [i.counters.get("stall_samples", 0) for i in profile.instructions]
    behind = {w.place + 1 for w in executed(profile) if w.base == "BAR"}
    samples, there = sum(waited), sum(count for place, count in enumerate(waited) if place in behind)
    return (1 - stall(profile, "selected")) * there / samples if samples else 0.0
