"""Findings about what is shared on the chip: banks, constant memory, atomics, barriers."""

from __future__ import annotations

from warpsight.lens.findings.gains import Change, gain, stall
from warpsight.lens.findings.reading import (
    address_cycles,
    at_line,
    executed,
    hottest,
    lsu_cycles,
    place,
    warps_in,
    whole,
)
from warpsight.nouns import Build, Finding, Profile


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
    all_cycles = max(1.0, lsu_cycles(profile, work))
    factor = 1 - max(0.0, before - ideal) / all_cycles
    # A warp in a conflict is waited for at the next barrier; half of those waits are taken to be for such warps.
    waits = {"short_scoreboard": factor, "barrier": (1 + factor) / 2}
    line = hottest(profile, "shared_bank_conflicts")
    return Finding(
        name="bank_conflicts",
        message=f"shared memory needs {passes / max(1, passes - extra):.1f} times the passes it would need without "
        f"bank conflicts{place(line)}",
        evidence=(
            *whole(profile, "shared_bank_conflicts", 0.0),
            *whole(profile, "shared_wavefronts"),
            *at_line(profile, line, "shared_bank_conflicts", 0.0),
        ),
        estimated_gain=gain(profile, Change({"lsu": factor}, waits)),
        suggestion="pad the rows of the tile by one element (33 instead of 32), or let lanes read neighbouring words",
        should_move={"shared_bank_conflicts": "down", "shared_wavefronts": "down"},
    )


def divergent_constant(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes read different words of constant memory, which answers one word at a time."""
    work = executed(profile)
    own = [w for w in work if w.space == "constant" and w.count("wavefronts") > 1.5 * w.count("wavefronts_ideal") > 0]
    if not own or lsu_cycles(profile, own) < 0.1 * lsu_cycles(profile, work):
        return None
    lines = [at for at in profile.lines if at.line in {w.at.line for w in own}]
    line = max(lines, key=lambda at: at.counters.get("stall_samples", 0), default=None)
    words = sum(w.count("wavefronts") for w in own) / sum(w.count("requests") for w in own)
    ideal = lsu_cycles(profile, work) - lsu_cycles(profile, own) + address_cycles(profile) * warps_in(own)
    factor = ideal / lsu_cycles(profile, work)
    return Finding(
        name="divergent_constant",
        message=f"lanes read {words:.0f} different words of constant memory at a time, one by one{place(line)}",
        evidence=(*whole(profile, "busy_lsu", 100.0), *at_line(profile, line, "stall_samples")),
        estimated_gain=gain(profile, Change({"lsu": factor}, {"short_scoreboard": factor})),
        suggestion="let all lanes read the same constant at the same time, or keep the table in shared memory",
        should_move={"busy_lsu": "down", "stall_short_scoreboard": "down"},
    )


def atomic_contention(profile: Profile, build: Build | None) -> Finding | None:
    """Atomics queue at the same address: in L2, or lanes of a warp in shared memory."""
    c = profile.counters
    requests, passes = c.get("atomic_requests", 0), c.get("atomic_passes", 0)
    work = executed(profile)
    own = [w for w in work if w.space == "atomic_shared"]
    share = lsu_cycles(profile, own) / max(1.0, lsu_cycles(profile, work))
    meeting = passes > 2 * requests > 0 and share > 0.2
    if c.get("busy_atomics", 0.0) < 50 and not meeting:
        return None
    one = address_cycles(profile) * sum(w.count("requests") for w in own)
    factor = 1 - share + one / max(1.0, lsu_cycles(profile, work)) if own else 1.0
    blocks = max(1.0, c.get("atomic_lanes", 0) / profile.total_blocks)
    others = {"atomics": 1 / blocks, "l2": 0.5, "lsu": min(1.0, factor)}
    waits = {"long_scoreboard": 0.1 if c.get("busy_atomics", 0.0) >= 50 else 1.0, "barrier": min(1.0, factor)}
    line = hottest(profile, "atomic_passes")
    return Finding(
        name="atomic_contention",
        message=f"atomics meet at one address: {passes / max(1, requests):.1f} lanes of a warp one after the other"
        f"{place(line)}",
        evidence=(
            *whole(profile, "atomic_passes"),
            *whole(profile, "busy_atomics" if "busy_atomics" in c else "atomic_requests"),
            *at_line(profile, line, "atomic_passes"),
        ),
        estimated_gain=gain(profile, Change(others, waits)),
        suggestion="add up in registers, a warp (__shfl_down_sync) or shared memory first, with one atomic for each "
        "block; or give lanes copies of their own",
        should_move={"atomic_passes": "down", "atomic_requests": "down", "busy_atomics": "down"},
    )


def barriers(profile: Profile, build: Build | None) -> Finding | None:
    """Warps wait for one another at barriers that come often."""
    c = profile.counters
    often = c.get("barriers", 0) / max(1, c.get("instructions", 0))
    if stall(profile, "barrier") < 0.1 or often < 0.05:
        return None
    # Some waiting stays: uneven warps meet at the next barrier, or at the end of the block.
    change = Change({"issue": 1 - often}, {"barrier": 0.3, "wait": 1 - often})
    line = hottest(profile, "barriers")
    return Finding(
        name="barriers",
        message=f"one instruction in {1 / often:.0f} is a barrier, and warps spend "
        f"{c['stall_barrier']:.0f} % of their time at them{place(line)}",
        evidence=(
            *whole(profile, "stall_barrier", 0.0),
            *whole(profile, "barriers"),
            *at_line(profile, line, "barriers"),
        ),
        estimated_gain=gain(profile, change),
        suggestion="drop barriers that protect nothing; within a warp use __shfl_sync or __syncwarp instead of "
        "shared memory and __syncthreads; let a block do more between two of them",
        should_move={"barriers": "down", "stall_barrier": "down"},
    )
