"""Findings about enough threads: the launch, the blocks, the warps, and what hides latency."""

from __future__ import annotations

import math

from warpsight.lens.findings.gains import ON_SM, Change, at_once, busy, gain, gpu_of, stall
from warpsight.lens.findings.loops import has_turns, reads_grid_size
from warpsight.lens.findings.reading import at_line, executed, hottest, warps_in, whole
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, Profile
from warpsight.vgpu.occupancy import occupancy
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

BUSY = 0.75  # a unit this busy is what to relieve, not the wait for it
SMALL_BLOCK, LARGE_BLOCK = 64, 256  # threads; smaller and larger blocks are rarely better
MOST_IDLE = 0.5  # of the warps of a block that load anything
CHAINED = 1.3  # samples of waiting for each in which an instruction was issued


def launch_overhead(profile: Profile, build: Build | None) -> Finding | None:
    """The launch is so short that starting it takes most of the time."""
    c = profile.counters
    body = c.get("duration_us", 0.0) - c.get("launch_overhead_us", 0.0)
    simulated = profile.source == "simulated"
    # Profilers leave the launch out of the time, and what little there is has a start and an end: small grids only.
    most = 0.6 * LAUNCH_OVERHEAD_US if simulated else 2 * LAUNCH_OVERHEAD_US
    if "duration_us" not in c or body > most or (not simulated and c.get("waves", 1.0) >= 1.0):
        return None
    message = (
        "of {duration_us} us, {launch_overhead_us} us are the launch itself: it has too little work"
        if simulated
        else "{duration_us} us of work, {waves} of one round of blocks, is about what starting a launch takes"
    )
    return finding(
        profile,
        "launch_overhead",
        message,
        whole(profile, "duration_us"),
        change=Change(waits=0.05, launch=0.0) if simulated else None,
        suggestion="do the work of many such launches in one (larger grid, loop in the kernel), or use a CUDA graph",
        should_move={"duration_us": "up"},
    )


def too_few_blocks(profile: Profile, build: Build | None) -> Finding | None:
    """There are multiprocessors without a block."""
    c = profile.counters
    blocks, sms = c.get("blocks", 0), c.get("multiprocessors", 0)
    reason = _why_few(profile)
    if not 0 < blocks < sms or "duration_us" not in c or reason is None:
        return None
    name, advice = reason
    return finding(
        profile,
        name,
        "{blocks} blocks on {multiprocessors} multiprocessors: the others have nothing to do",
        [*whole(profile, "blocks", float(sms)), *whole(profile, "threads_per_block"), *whole(profile, "duration_us")],
        change=Change(sm=_shared_out(profile, blocks / sms)),
        suggestion=advice,
        should_move={"duration_us": "down", "blocks": "up"},
    )


def _why_few(profile: Profile) -> tuple[str, str] | None:
    """Why there are few blocks, and what to do about it; None where the problem is too small for more."""
    threads, work = profile.counters.get("threads_per_block", 0), executed(profile)
    loops = not work or has_turns(work)
    if goes_by_grid(profile):
        return (
            "too_few_blocks",
            "launch more blocks, several for each multiprocessor: the loop already goes by the grid",
        )
    if threads > LARGE_BLOCK:
        return "block_too_large", "use smaller blocks, of 128 to 256 threads, so that there are more of them"
    if loops and 0 < threads < SMALL_BLOCK:
        return "block_too_small", "use larger blocks, of 128 to 256 threads, which share the loop of a block"
    if not loops and launch_overhead(profile, None) is not None:
        return None
    return "too_few_blocks", (
        "split the work into several blocks for each multiprocessor: less work in a thread, or a split of the inner "
        "dimension"
    )


def goes_by_grid(profile: Profile) -> bool:
    """Whether threads loop over the data by the size of the grid: any number of blocks will do."""
    work = executed(profile)
    return has_turns(work) and reads_grid_size(work)


def _shared_out(profile: Profile, part: float) -> float:
    """What is left for each multiprocessor when all of them have work.

    Matrix units work on tiles. Four times as many blocks have tiles of half the side, and read their operands twice as
    often: the work of a block goes down with the square root.
    """
    return math.sqrt(part) if profile.counters.get("mix_tensor") else part


def tail(profile: Profile, build: Build | None) -> Finding | None:
    """Some multiprocessors get a block more than others, which wait at the end."""
    c = profile.counters
    blocks, sms = c.get("blocks", 0), c.get("multiprocessors", 0)
    if not 0 < sms < blocks or "waves" not in c:
        return None
    part = blocks / sms / math.ceil(blocks / sms)
    # Blocks that are there from the start wait side by side: only the units have less to do.
    change = Change(dict.fromkeys(ON_SM, part), {"selected": 1.0, "wait": 1.0}) if at_once(profile) else Change(sm=part)
    if (gain(profile, change) or 1.0) < 1.1:
        return None
    return finding(
        profile,
        "tail",
        "{blocks} blocks on {multiprocessors} multiprocessors: some get one more than others, which wait at the end",
        whole(profile, "waves"),
        change=change,
        suggestion="make blocks smaller, or their number a multiple of the multiprocessors",
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
    name, by, advice = _limiter(profile)
    line = hottest(profile, "stall_samples")
    return finding(
        profile,
        name,
        f"a multiprocessor holds {{occupancy}} % of the warps it could, limited by {by}, and warps mostly wait",
        [
            *whole(profile, "occupancy", 100.0),
            *whole(profile, "stall_long_scoreboard"),
            *at_line(profile, line, "stall_samples"),
        ],
        change=Change(waits=1 / more),
        suggestion=advice,
        should_move={"occupancy": "up", "issued_per_cycle": "up"},
        line=line,
    )


def idle_warps(profile: Profile, build: Build | None) -> Finding | None:
    """Blocks are so large that most of their warps have no data to load: they only take room and meet at barriers."""
    work = executed(profile)
    loads = max((w.warps for w in work if w.space == "global_load"), default=0.0)
    some = loads / work[0].warps if work else 1.0
    if profile.counters.get("threads_per_block", 0) <= LARGE_BLOCK or not 0 < some < MOST_IDLE:
        return None
    line = hottest(profile, "global_load_requests")
    return finding(
        profile,
        "block_too_large",
        "few of the warps of a block of {threads_per_block} threads load anything: the others take room and wait",
        [*whole(profile, "global_load_requests"), *at_line(profile, line, "global_load_requests")],
        change=Change(sm=some),
        suggestion="use smaller blocks, of 128 to 256 threads, so that every warp has work",
        should_move={"threads_per_block": "down", "duration_us": "down"},
        line=line,
    )


def _limiter(profile: Profile) -> tuple[str, str, str]:
    """What limits occupancy: the cause, in words that name the counter, and what to do about it."""
    c, gpu = profile.counters, gpu_of(profile)
    needed = ("threads_per_block", "registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes")
    if gpu is None or any(name not in c for name in needed):
        return (
            "low_occupancy",
            "registers, shared memory or the size of its blocks",
            "use fewer registers or less shared memory in a block, or choose blocks of 128 to 256 threads",
        )
    threads, registers, static, dynamic = (round(c[name]) for name in needed)
    fits = occupancy(gpu, min(threads, gpu.threads_per_block), registers, static + dynamic)
    if "shared" in fits.limited_by:
        own = "{dynamic_shared_bytes} bytes of dynamic" if dynamic > static else "{static_shared_bytes} bytes of static"
        return (
            "shared_hog",
            f"{own} shared memory in a block",
            ("ask for less shared memory in a block: a smaller tile, a narrower type, one buffer less"),
        )
    if "registers" in fits.limited_by:
        return (
            "too_many_registers",
            "{registers_per_thread} registers in a thread",
            ("use fewer registers: __launch_bounds__, smaller patches, values loaded where they are used"),
        )
    size = "blocks of {threads_per_block} threads"
    if "blocks" in fits.limited_by:
        return "block_too_small", size, "use larger blocks, of 128 to 256 threads: the blocks run out before the warps"
    return "block_too_large", size, "use smaller blocks, of 128 to 256 threads, of which more fit"


def exposed_latency(profile: Profile, build: Build | None) -> Finding | None:
    """Warps wait for memory, with nothing else to do meanwhile."""
    if profile.bound != "latency" or stall(profile, "long_scoreboard") < 0.25:
        return None
    line = hottest(profile, "stall_samples")
    return finding(
        profile,
        "exposed_latency",
        "warps spend {stall_long_scoreboard} % of their time waiting for global memory, and no unit is busy",
        at_line(profile, line, "stall_samples"),
        change=Change(stalls={"long_scoreboard": 0.25}),
        suggestion="have more loads under way: load the next slice while this one is worked on (cp.async, a second "
        "buffer), unroll so that several loads stand before the first use",
        should_move={"stall_long_scoreboard": "down", "issued_per_cycle": "up"},
        line=line,
    )


def dependent_chain(profile: Profile, build: Build | None) -> Finding | None:
    """Each instruction waits for the one before it, and there are too few warps to fill the gaps."""
    waiting, issued = stall(profile, "wait"), stall(profile, "selected")
    work = executed(profile)
    meeting = warps_in(w for w in work if w.base == "BAR") > 0.03 * warps_in(work)
    if profile.bound != "latency" or waiting < 0.25 or waiting < CHAINED * issued or meeting:
        return None
    line = hottest(profile, "stall_samples")
    return finding(
        profile,
        "dependent_chain",
        "warps spend {stall_wait} % of their time waiting for the result of the instruction before, {stall_selected} % "
        "issuing",
        at_line(profile, line, "stall_samples"),
        change=Change(stalls={"wait": 0.35}),
        suggestion="give a thread several independent chains (four sums instead of one), or run more warps",
        should_move={"stall_wait": "down", "issued_per_cycle": "up"},
        line=line,
    )
