"""How a time is shown to a person: how long, what binds it, where it stands under the roof, where it goes.

Draws only, for 80 columns and more. What must stay true: "simulated" or "measured" stands beside every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsight.lens.roofline import Roofline
from warpsight.nouns import Profile
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import Occupancy

BUSY, STALL = "busy_", "stall_"
BUSY_LABELS = {
    "issue": "issue slots",
    "fma": "FP32/IMAD pipe",
    "alu": "integer pipe",
    "sfu": "special-function pipe",
    "fp64": "FP64 pipe",
    "tensor": "tensor pipe",
    "lsu": "load/store unit",
    "l2": "L2 bandwidth",
    "dram": "DRAM bandwidth",
    "atomics": "atomics on one address",
}
STALL_MEANINGS = {
    "selected": "no stall: it issued",
    "not_selected": "ready, another warp issued",
    "wait": "a fixed latency of the instruction before",
    "long_scoreboard": "a value from global or local memory",
    "short_scoreboard": "a value from shared memory or a slow pipe",
    "math_pipe_throttle": "the arithmetic pipe is taken",
    "lg_throttle": "queue full, at a global access",
    "mio_throttle": "queue full, at a shared access or shuffle",
    "barrier": "the other warps at a block barrier",
    "branch_resolving": "a branch, for a fixed latency before it",
    "membar": "a memory fence",
    "no_instruction": "the next instruction, from L2",
}
STALLS_SHOWN = 6
NAME_WIDTH = 9
LONGEST_BAR, SHORTEST_BAR = 40, 5


def facts_table(facts: Sequence[tuple[str, str]]) -> Table:
    """What comes after the header: time, what binds, occupancy, roofline, memory; a name and a text each."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("what", no_wrap=True, width=NAME_WIDTH)
    table.add_column("text", overflow="fold")
    for name, text in facts:
        table.add_row(name, Text(text))
    return table


def simulated_facts(profile: Profile, gpu: Gpu, fits: Occupancy, roof: Roofline | None) -> Iterator[tuple[str, str]]:
    """Without a time: occupancy alone."""
    counters = profile.counters
    if "duration_us" not in counters:
        yield "occupancy", occupancy_text(fits)
        return
    yield "time", time_text(counters, gpu)
    if "duration_us_low" in counters:
        low, high = (us_text(counters[f"duration_us_{end}"]) for end in ("low", "high"))
        yield "", f"likely {low} to {high} us when measured at the boost clock (90 % of such times)"
    yield "", bound_text(profile)
    yield "occupancy", occupancy_text(fits)
    issued = f"{counters['issued_per_cycle']:.2f} instructions a cycle and SM"
    empty = gpu.sms - profile.total_blocks
    spread = f"{profile.total_blocks} blocks over {gpu.sms} SMs" + (f", {empty} have none" if empty > 0 else "")
    yield "waves", f"{counters['waves']:g} ({spread}), {issued}"
    yield "roofline", roofline_text(roof)
    rate = counters["dram_bytes"] / counters["duration_us"] / 1000
    dram = f"DRAM {bytes_text(counters['dram_bytes'])} ({rate:.0f} of {gpu.dram_gb_per_s:.0f} GB/s)"
    yield "memory", f"L1 hits {counters['l1_hit_rate']:g} %, L2 {bytes_text(counters['l2_bytes'])}, {dram}"


def measured_facts(profile: Profile) -> Iterator[tuple[str, str]]:
    """What a report says of them."""
    counters = profile.counters
    if "duration_us" in counters:
        clocks = f", {counters['cycles']:,} cycles" if "cycles" in counters else ""
        yield "time", f"{us_text(counters['duration_us'])} us measured{clocks}"
    if profile.bound:
        yield "", bound_text(profile)
    occupancy = [f"{counters['occupancy']:g} % can be resident"] if "occupancy" in counters else []
    occupancy += [f"{counters['waves']:g} waves"] if "waves" in counters else []
    if occupancy:
        yield "occupancy", ", ".join(occupancy)
    memory = [f"L1 hits {counters['l1_hit_rate']:g} %"] if "l1_hit_rate" in counters else []
    memory += [
        f"{n} {bytes_text(counters[k])}" for n, k in (("L2", "l2_bytes"), ("DRAM", "dram_bytes")) if k in counters
    ]
    if memory:
        yield "memory", ", ".join(memory)


def time_text(counters: Mapping[str, int | float], gpu: Gpu) -> str:
    boost = f"{us_text(counters['duration_us'])} us simulated at the boost clock of {gpu.boost_mhz} MHz"
    base = f"{us_text(counters['duration_us_at_base_clock'])} us at the base clock of {gpu.base_mhz} MHz"
    return f"{boost} ({base})"


def bound_text(profile: Profile) -> str:
    busy = {name: share for name, share in profile.counters.items() if name.startswith(BUSY)}
    most = max(busy, key=lambda name: busy[name])
    if profile.bound != "latency":
        return f"bound by {profile.bound} ({busy[most]:.0f} % busy)"
    stalls = _stalls(profile.counters)
    waiting = f"; warps wait mostly for {STALL_MEANINGS[stalls[0][0]]}" if stalls else ""
    label = BUSY_LABELS[most.removeprefix(BUSY)]
    return f"bound by latency: the busiest resource is {label} ({busy[most]:.0f} % busy){waiting}"


def occupancy_text(fits: Occupancy) -> str:
    warps = f"{fits.warps_per_sm} of {fits.warps_possible} warps, blocks on an SM: {fits.blocks_per_sm}"
    what = {
        "warps": "warps of an SM",
        "blocks": "blocks of an SM",
        "registers": f"registers ({fits.registers} a thread)",
        "shared": f"shared memory ({fits.shared_bytes} bytes a block)",
    }
    limits = " and ".join(what[name] for name in fits.limited_by)
    return f"{100 * fits.fraction:.1f} % ({warps}), limited by {limits}"


def roofline_text(roof: Roofline | None) -> str:
    if roof is None:
        return "no floating-point operations"
    kind = roof.arithmetic.replace("_", " ")
    reached = f"{roof.achieved_gflops:,.0f} of {roof.attainable_gflops:,.0f} GFLOP/s attainable ({roof.share:.1f} %)"
    if roof.flops_per_dram_byte is None:
        return f"{reached}: nothing from DRAM, the roof is {kind} arithmetic"
    side = "DRAM" if roof.under_the_slope else f"{kind} arithmetic"
    intensity = f"{roof.flops_per_dram_byte:.3g} flops a DRAM byte, ridge at {roof.ridge_flops_per_byte:.3g} ({kind})"
    return f"{reached}; {intensity}: under the roof of {side}"


def render_time(console: Console, profile: Profile, *, everything: bool) -> None:
    """Where the time goes: how much of it each resource was taken, and what warps waited for; what the profile has."""
    counters = profile.counters
    known = [(name, counters[BUSY + name]) for name in BUSY_LABELS if BUSY + name in counters]
    busy = sorted(known, key=lambda item: -item[1])
    rows = [(BUSY_LABELS[name], share, "") for name, share in busy if share or everything]
    meaning = f"share of the {profile.source} time that each resource was taken"
    _bars(console, "where the time goes", meaning, rows)
    stalls = _stalls(counters) if everything else [s for s in _stalls(counters) if s[1] >= 1][:STALLS_SHOWN]
    issued = f"; {counters['stall_selected']:g} % issued" if "stall_selected" in counters else ""
    waits = [(name, share, STALL_MEANINGS[name]) for name, share in stalls]
    _bars(console, "what warps wait for", f"share of samples{issued}", waits)


def _bars(console: Console, title: str, meaning: str, rows: list[tuple[str, int | float, str]]) -> None:
    if not rows:
        return
    console.print(Text(f"\n{title}", style="bold").append(f"  {meaning}", style="dim"))
    taken = max(len(label) for label, _, _ in rows) + len("  100.0 %") + max(len(text) for _, _, text in rows)
    room = max(SHORTEST_BAR, min(LONGEST_BAR, console.width - taken - 6))  # 6: between the columns
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("what", no_wrap=True)
    table.add_column("share", no_wrap=True, justify="right", width=len("100.0 %"))
    table.add_column("bar", no_wrap=True, width=room)
    table.add_column("meaning", no_wrap=True, style="dim")
    for label, share, text in rows:
        table.add_row(f"  {label}", f"{share:.1f} %", bar(share, room, ascii_only=not _draws(console)), text)
    console.print(table, soft_wrap=False)


def bar(percent: int | float, width: int, *, ascii_only: bool) -> str:
    """A bar of up to `width` signs for 0 to 100 %; a share that is not zero shows something."""
    eighths = round(min(max(percent, 0), 100) / 100 * width * 8)
    if ascii_only:
        return "#" * max(round(eighths / 8), 1 if percent > 0 else 0)
    eighths = max(eighths, 1 if percent > 0 else 0)
    return "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")


def us_text(value: int | float) -> str:
    """Three digits after the point below 10, one above, and thousands apart."""
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def bytes_text(value: int | float) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f} bytes"


def _stalls(counters: Mapping[str, int | float]) -> list[tuple[str, int | float]]:
    """Reasons not to issue, the most frequent first."""
    found = [(name, counters.get(STALL + name, 0)) for name in STALL_MEANINGS if name != "selected"]
    return sorted(((name, share) for name, share in found if share), key=lambda item: -item[1])


def _draws(console: Console) -> bool:
    return console.encoding.lower().replace("-", "").startswith("utf")
