"""Findings about enough threads, all at work: the launch, the blocks, the warps, the lanes, and what hides latency."""

from __future__ import annotations

import math

from warpsight.lens.findings.gains import ON_SM, POOLS, Change, busy, gain, gpu_of, stall
from warpsight.lens.findings.reading import Work, at_line, executed, hottest, lsu_cycles, place, warps_in, whole
from warpsight.nouns import Build, Finding, LineCounters, Profile
from warpsight.vgpu.occupancy import occupancy
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

FULL_LANES = 32.0
BUSY = 0.75  # a unit this busy is what to relieve, not the wait for it


def launch_overhead(profile: Profile, build: Build | None) -> Finding | None:
    """The launch is so short that starting it takes most of the time."""
    duration = profile.counters.get("duration_us", 0.0)
    body = (
        duration - LAUNCH_OVERHEAD_US if profile.source == "simulated" else duration
    )  # profilers leave the launch out
    if not duration or body > 0.6 * LAUNCH_OVERHEAD_US:
        return None
    total = body + LAUNCH_OVERHEAD_US
    busiest = max(busy(profile, name) for name in (*POOLS, *ON_SM))
    left = max(0.01, body * max(0.05, min(1.0, busiest)))
    return Finding(
        name="launch_overhead",
        message=f"of {total:.1f} us, {LAUNCH_OVERHEAD_US:.0f} us are the launch itself: it has too little work",
        evidence=(*whole(profile, "duration_us", LAUNCH_OVERHEAD_US),),
        estimated_gain=round(max(1.0, total / left), 3),
        suggestion="do the work of many such launches in one (larger grid, loop in the kernel), or use a CUDA graph",
        should_move={"duration_us": "up"},
    )


def too_few_blocks(profile: Profile, build: Build | None) -> Finding | None:
    """There are multiprocessors without a block."""
    gpu = gpu_of(profile)
    if gpu is None or profile.total_blocks >= gpu.sms or "duration_us" not in profile.counters:
        return None
    return Finding(
        name="too_few_blocks",
        message=f"{profile.total_blocks} blocks on {gpu.sms} multiprocessors: {gpu.sms - profile.total_blocks} idle",
        evidence=(*whole(profile, "waves", 1.0), *whole(profile, "duration_us")),
        estimated_gain=gain(profile, Change(sm=profile.total_blocks / gpu.sms)),
        suggestion=f"split the work into at least {gpu.sms} blocks, better several for each multiprocessor: "
        "smaller blocks, less work in a thread, or a split of the inner dimension",
        should_move={"duration_us": "down", "busy_dram": "up"},
    )


def tail(profile: Profile, build: Build | None) -> Finding | None:
    """The last round of blocks leaves most multiprocessors idle."""
    gpu = gpu_of(profile)
    if gpu is None or profile.total_blocks <= gpu.sms or "waves" not in profile.counters:
        return None
    even = profile.total_blocks / gpu.sms
    change = Change(sm=even / math.ceil(even))
    found = gain(profile, change)
    if found is None or found < 1.1:
        return None
    return Finding(
        name="tail",
        message=f"{profile.total_blocks} blocks on {gpu.sms} multiprocessors: some get {math.ceil(even)}, others "
        f"{math.floor(even)}, and those wait at the end",
        evidence=(*whole(profile, "waves"), *whole(profile, "duration_us")),
        estimated_gain=found,
        suggestion=f"make blocks smaller, or their number a multiple of {gpu.sms}",
        should_move={"duration_us": "down"},
    )


def low_occupancy(profile: Profile, build: Build | None) -> Finding | None:
    """Too few warps on a multiprocessor to hide the latency, and blocks that could fill it."""
    c = profile.counters
    held = c.get("occupancy", 100.0)
    more = min(100.0 / max(1.0, held), c.get("waves", 1.0))
    waiting = sum(stall(profile, name) for name in ("long_scoreboard", "short_scoreboard", "wait", "barrier"))
    if held > 55.0 or more < 1.2 or waiting < 0.5 or max(busy(profile, n) for n in ON_SM) > BUSY:
        return None
    by, advice = _limiter(profile, build)
    line = hottest(profile, "stall_samples")
    return Finding(
        name="low_occupancy",
        message=f"a multiprocessor holds {held:.0f} % of the warps it could, limited by {by}, and warps wait "
        f"{100 * waiting:.0f} % of the time{place(line)}",
        evidence=(
            *whole(profile, "occupancy", 100.0),
            *whole(profile, "stall_long_scoreboard"),
            *at_line(profile, line, "stall_samples"),
        ),
        estimated_gain=gain(profile, Change(waits=1 / more)),
        suggestion=advice,
        should_move={"occupancy": "up", "issued_per_cycle": "up"},
    )


def _limiter(profile: Profile, build: Build | None) -> tuple[str, str]:
    """What limits occupancy. The launch's dynamic shared memory is not in a profile: it is what is left to explain."""
    shared = "shared memory", "ask for less shared memory in a block: a smaller tile, a narrower type, one buffer less"
    gpu, work = gpu_of(profile), executed(profile)
    use = None if build is None else next((e for e in build.entries if e.name == profile.kernel), None)
    if gpu is None or use is None or not work:
        return (
            "registers, shared memory or the size of its blocks",
            "use fewer registers or less shared memory in a block",
        )
    threads = max(1, round(work[0].count("threads") / profile.total_blocks))
    fits = occupancy(gpu, min(threads, gpu.threads_per_block), use.registers, use.shared_bytes)
    if 100 * fits.fraction > profile.counters["occupancy"] + 1 or "shared" in fits.limited_by:
        return shared
    if "registers" in fits.limited_by:
        return f"{use.registers} registers in a thread", (
            "use fewer registers: __launch_bounds__, smaller patches, values loaded where they are used"
        )
    return f"blocks of {threads} threads", "choose blocks of 128 to 256 threads, of which more fit"


def idle_lanes(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes of a warp wait while others work: branches, uneven loops, or guards that only some lanes pass."""
    work = executed(profile)
    memory = [w for w in work if w.space and w.count("requests")]
    lanes = profile.counters.get("lanes_per_instruction", FULL_LANES) / FULL_LANES
    cycles = lsu_cycles(profile, work)  # with shuffles, in which all lanes are at work
    idle = sum(lsu_cycles(profile, [w]) * (1 - _lanes_on(w)) for w in memory)
    at_work = 1 - idle / cycles if cycles else 1.0
    if min(lanes, at_work if busy(profile, "lsu") > 0.6 else 1.0) > 0.85:
        return None
    less = dict.fromkeys(("issue", "fma", "alu", "sfu", "fp64"), lanes) | {"lsu": min(lanes, at_work)}
    scaled = min(lanes, at_work) if busy(profile, "lsu") > 0.6 else lanes
    waits: dict[str, float] = {"long_scoreboard": scaled, "short_scoreboard": scaled, "barrier": scaled}
    rare = hottest(profile, _idle_work)
    line = rare if rare is not None else hottest(profile, "shared_load_requests")
    return Finding(
        name="idle_lanes",
        message=f"on average {32 * min(lanes, at_work):.0f} of 32 lanes of a warp are at work{place(line)}",
        evidence=(
            *whole(profile, "lanes_per_instruction", FULL_LANES),
            *whole(profile, "thread_instructions"),
            *at_line(profile, line, "lanes_per_instruction", FULL_LANES),
        ),
        estimated_gain=gain(profile, Change(less, waits)),
        suggestion="let whole warps take the same way: branch on the warp and not on the lane, sort work by length, "
        "keep working threads side by side, share serial parts out over the lanes",
        should_move={"lanes_per_instruction": "up", "branch_efficiency": "up", "instructions": "down"},
    )


def _lanes_on(w: Work) -> float:
    return min(1.0, w.count("threads_on") / (FULL_LANES * w.count("requests")))


def _idle_work(line: LineCounters) -> float:
    lanes = line.counters.get("lanes_per_instruction", FULL_LANES)
    return (FULL_LANES - lanes) * line.counters.get("instructions", 0)


def exposed_latency(profile: Profile, build: Build | None) -> Finding | None:
    """Warps wait for memory, with nothing else to do meanwhile."""
    waiting = stall(profile, "long_scoreboard")
    if profile.bound != "latency" or waiting < 0.25:
        return None
    line = hottest(profile, "stall_samples")
    return Finding(
        name="exposed_latency",
        message=f"warps spend {100 * waiting:.0f} % of their time waiting for global memory{place(line)}, "
        "and no unit is busy",
        evidence=(*whole(profile, "stall_long_scoreboard"), *at_line(profile, line, "stall_samples")),
        estimated_gain=gain(profile, Change(stalls={"long_scoreboard": 0.25})),
        suggestion="have more loads under way: load the next slice while this one is worked on (cp.async, a second "
        "buffer), unroll so that several loads stand before the first use",
        should_move={"stall_long_scoreboard": "down", "issued_per_cycle": "up"},
    )


def dependent_chain(profile: Profile, build: Build | None) -> Finding | None:
    """Each instruction waits for the one before it, and there are too few warps to fill the gaps."""
    waiting = stall(profile, "wait")
    work = executed(profile)
    meeting = warps_in(w for w in work if w.base == "BAR") > 0.03 * warps_in(work)
    if profile.bound != "latency" or waiting < 0.25 or meeting:
        return None
    line = hottest(profile, "stall_samples")
    return Finding(
        name="dependent_chain",
        message=f"warps spend {100 * waiting:.0f} % of their time waiting for the result of the instruction before"
        f"{place(line)}",
        evidence=(*whole(profile, "stall_wait"), *at_line(profile, line, "stall_samples")),
        estimated_gain=gain(profile, Change(stalls={"wait": 0.35})),
        suggestion="give a thread several independent chains (four sums instead of one), or run more warps",
        should_move={"stall_wait": "down", "issued_per_cycle": "up"},
    )
