"""Times of launches that a trace tells, to a Profile: what is left when counters are not to be had.

A trace has no counters; everything but time and the launch is listed as not measured. Times of one kernel are all its
launches in the trace, in order, and the Profile carries their median and says the spread.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpsight.errors import UsageError
from warpsight.lens.measured import plain_name
from warpsight.lens.profilers.failures import NothingProfiled
from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import Dim3, Profile
from warpsight.vgpu.gpus import find_gpu


@dataclass(frozen=True)
class KernelTime:
    """One launch of a trace. `also` holds what else it says, by the names of our vocabulary."""

    kernel: str
    device: str
    duration_us: float
    grid: Dim3 | None = None
    block: Dim3 | None = None
    also: Mapping[str, int | float] | None = None


def of_kernel(times: Sequence[KernelTime], kernel: str | None, tool: str) -> tuple[KernelTime, ...]:
    """All launches of one kernel; a trace of one kernel alone needs no name."""
    names = list(dict.fromkeys(time.kernel for time in times))
    if kernel is None and len(names) == 1:
        return tuple(times)
    found = tuple(time for time in times if kernel in (time.kernel, plain_name(time.kernel)))
    if not found:
        listed = "; ".join(names[:20]) or "none"
        wanted = "which kernel is meant was not said" if kernel is None else f"no launch of `{kernel}`"
        raise NothingProfiled(tool, f"{wanted}; kernels in the trace: {listed}", "give one of these names")
    return found


def profile_of(times: Sequence[KernelTime], *, tool: str, notes: Sequence[str] = ()) -> Profile:
    """One kernel's launches as a Profile with a time and what the launch was."""
    first, durations = times[0], [time.duration_us for time in times]
    spread = f"{min(durations):.3f} to {max(durations):.3f} us"
    counters: dict[str, int | float] = {"duration_us": statistics.median(durations)} | dict(first.also or {})
    blocks = math.prod(first.grid) if first.grid else None
    if blocks:
        counters["blocks"] = blocks
    if first.block:
        counters["threads_per_block"] = math.prod(first.block)
    said = f"time: median of {len(times)} launches by {tool}, {spread}"
    return profile_from(plain_name(first.kernel), first.device, counters, blocks=blocks, notes=(said, *notes))


def profile_from(
    kernel: str, device: str, counters: Mapping[str, int | float], *, blocks: int | None, notes: Sequence[str] = ()
) -> Profile:
    """A measured Profile of these counters; every other counter of the vocabulary is listed as not measured."""
    entries = [entry for entry in vocabulary().values() if entry.scope == "kernel"]
    unknown = () if blocks else ("the trace does not say how many blocks the launch has",)
    return Profile(
        kernel=kernel,
        device=device,
        source="measured",
        isa="native",
        gpu=_known_gpu(device),
        notes=(*notes, *unknown),
        counters={entry.name: counters[entry.name] for entry in entries if entry.name in counters},
        units={entry.name: entry.unit for entry in vocabulary().values()},
        sampled_blocks=blocks or 1,
        total_blocks=blocks or 1,
        not_measured=tuple(entry.name for entry in entries if entry.name not in counters),
    )


def _known_gpu(device: str) -> str:
    try:
        return find_gpu(device.split(" (")[0]).key
    except UsageError:
        return ""  # a GPU without a data sheet: its name stands in `device`
