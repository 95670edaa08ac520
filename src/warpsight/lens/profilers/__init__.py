"""Vendors' profilers: each `available()`, a pure `argv()`, a pure `parse()`; `ladder` chooses among them.

No GPU was at hand when this was written: the command lines are the documented ones and the readers were tried on
recorded or published output. `warpsight doctor` and docs/real-gpus.md say the same.
"""

from __future__ import annotations

from warpsight.lens.profilers.availability import Availability

__all__ = ["Availability", "availabilities"]


def availabilities() -> tuple[Availability, ...]:
    """Every profiler we can use: whether it is here, and how to get it."""
    from warpsight.lens.profilers import compute_sanitizer, cupti, ncu, nsys, nvprof, perf_stat, rocprofv3

    looks = (ncu.available, nsys.available, nvprof.available, cupti.available, compute_sanitizer.available)
    return tuple(look() for look in (*looks, rocprofv3.available, rocprofv3.old_available, perf_stat.available))
