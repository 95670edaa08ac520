"""Vendors' profilers: each `available()`, a pure `argv()`, a pure `parse()`; `ladder` chooses among them.

No GPU was at hand when this was written: the command lines are the documented ones and the readers were tried on
recorded or published output. `warpsight doctor` and docs/real-gpus.md say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpsight.lens.profilers.availability import Availability
    from warpsight.plugins import Plugin

__all__ = ["availabilities"]


def availabilities() -> tuple[Availability, ...]:
    """Every profiler we can use: whether it is here, and how to get it."""
    from warpsight.lens.profilers import compute_sanitizer, cupti, ncu, nsys, nvprof, perf_stat, rocprofv3
    from warpsight.lens.profilers.ladder import PROFILERS

    looks = (ncu.available, nsys.available, nvprof.available, cupti.available, compute_sanitizer.available)
    ours = (*looks, rocprofv3.available, rocprofv3.old_available, perf_stat.available)
    return (*(look() for look in ours), *(_of_other(plugin) for plugin in PROFILERS.installed()))


def _of_other(plugin: Plugin) -> Availability:
    from warpsight.lens.profilers.availability import Availability

    broken = Availability(plugin.name, reason=f"the plugin of {plugin.package} is broken", how="mend or remove it")
    return plugin.tried(lambda: plugin.value.available(), broken)
