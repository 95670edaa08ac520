"""The part of `warpsight doctor` about real GPUs and their profilers: all optional, each really asked.

Nothing here was run on a GPU by us, and the lines say so.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from warpsight.errors import WarpsightError
from warpsight.verbs.doctor_probe import Probe

UNTRIED = "not run on a GPU by us"


def gpu_probes() -> Iterator[Probe]:
    """The devices for real GPUs: whether they would open."""
    from warpsight.devices.hip import INSTALL

    yield _cuda()
    if importlib.util.find_spec("hip") is None:
        yield Probe("device hip", "absent", f"optional: AMD GPUs ({UNTRIED}): hip-python is not installed", INSTALL)
    else:
        yield Probe("device hip", "ok", f"hip-python is installed; whether a GPU answers shows at a launch ({UNTRIED})")


def _cuda() -> Probe:
    from warpsight.devices.cuda_state import gpus_here

    try:
        gpus = gpus_here()
    except WarpsightError as problem:
        return Probe("device cuda", "absent", f"optional: NVIDIA GPUs ({UNTRIED}): {problem.message}", problem.hint)
    listed = "; ".join(
        f"{gpu.index}: {gpu.name}, compute capability {gpu.capability[0]}.{gpu.capability[1]}"
        + (f", used by {len(gpu.processes)} processes" if gpu.processes else "")
        for gpu in gpus
    )
    return Probe("device cuda", "ok", f"{listed} (this device was {UNTRIED})")


def profiler_probes() -> Iterator[Probe]:
    """Every profiler: where, which version; else how to get it."""
    from warpsight.lens.profilers import availabilities

    for found in availabilities():
        if found.present:
            tried = "" if found.tool == "perf" else f"; {UNTRIED}"
            yield Probe(f"profiler {found.tool}", "ok", f"{found.version} at {found.path}{tried}")
        else:
            yield Probe(f"profiler {found.tool}", "absent", f"optional: {found.reason}", found.how)
