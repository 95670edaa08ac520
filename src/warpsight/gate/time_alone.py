"""How long one kernel takes, compared with nothing: simulated at two clocks, or measured in one worker.

No decision is made here. The output of a timed call is verified, so a number is never that of a wrong kernel; and the
same rules hold as for pairs: warm-up by time, fresh contents for every call, the parent's clock beside the device's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing

import numpy as np

from warpsight.devices.device import CannotProfile, Simulator, TimedDevice, caveats
from warpsight.devices.machine_code import FaultInLaunch
from warpsight.gate.compare_pair import MEASURED_ALONE, SIMULATED, rejected
from warpsight.gate.fresh import Contents, FreshContents
from warpsight.gate.kernel import Kernel
from warpsight.gate.likely import LEVEL
from warpsight.gate.timing import WARM_UP_CALLS, WARM_UP_S, BadCall, Progress, TimedSide, timed_call
from warpsight.gate.values import verify_outputs
from warpsight.nouns import Task, Timing, Workload
from warpsight.vgpu.model_error import time_interval

CALLS = 48
FEWEST = 5


def time_simulated(task: Task, workload: Workload, kernel: Kernel, device: Simulator, *, seed: int) -> Timing:
    """One sample at the boost clock, one at the base clock, of a launch that ran whole.

    REJECTED where there is no time or a wrong output.
    """
    given = FreshContents(task, workload, seed, pool=1).draw()
    name = device.name if device.gpu is None else f"{device.name}:{device.gpu.key}"
    found: dict[str, object] = {"source": "simulated", "device": name, "method": SIMULATED, "workload": workload.name}
    source = kernel.candidate.source
    try:
        seen = device.observe(kernel.build, task.entry, given.values, kernel.size, source_text=source, seed=seed)
    except CannotProfile as impossible:
        reason = "fault_in_timed_call" if isinstance(impossible, FaultInLaunch) else "no_time"
        return Timing.model_validate({**found, "decision": "REJECTED", "reason": reason, "detail": impossible.message})
    clocks = round(seen.time.time_us, 3), round(seen.time.time_us_base, 3)
    spread = round(seen.time.spread, 6)
    low, high = time_interval(seen.time.time_us, seen.time.bound, LEVEL)
    found |= {"likely_us": (round(low, 3), round(high, 3)), "samples_us": clocks, "spread": spread}
    timing = Timing.model_validate({**found, "notes": seen.profile.notes})
    right = verify_outputs(task, workload, given.inputs, seen.arrays)
    return timing if right.ok else rejected(timing, "wrong_in_timed_call", f"{right.reason}: {right.detail}")


def time_measured(
    task: Task,
    workload: Workload,
    kernel: Kernel,
    device: TimedDevice,
    *,
    seed: int,
    calls: int = CALLS,
    budget_s: float = 5.0,
    progress: Progress = lambda _: None,
) -> Timing:
    """Raw samples of the device's clock, in the order they were taken."""
    contents = FreshContents(task, workload, seed)
    samples: list[float] = []
    found = {
        "source": "measured", "device": device.name, "method": MEASURED_ALONE, "workload": workload.name,
    }  # fmt: skip
    try:
        with closing(device.open_lane(kernel.build, task.entry)) as lane:
            side = TimedSide(lane, kernel.size)
            _warm_up(side, contents, progress)
            until, last = time.monotonic() + budget_s, None
            while len(samples) < calls and (len(samples) < FEWEST or time.monotonic() < until):
                if len(samples) % 12 == 0:
                    progress(f"timing, call {len(samples)} of {calls}")
                given = contents.draw()
                done = timed_call(side, given, "kernel")
                samples.append(done.device_us)
                last = given, done.arrays
        assert last is not None
        _verify(task, workload, *last)
    except BadCall as bad:
        refused = {"decision": "REJECTED", "reason": bad.reason, "detail": bad.detail}
        return Timing.model_validate({**found, **refused, "samples_us": tuple(samples), "notes": caveats(device)})
    return Timing.model_validate({**found, "samples_us": tuple(samples), "notes": caveats(device)})


def _warm_up(side: TimedSide, contents: FreshContents, progress: Progress) -> None:
    progress("warming up")
    until, done = time.monotonic() + WARM_UP_S, 0
    while done < WARM_UP_CALLS or time.monotonic() < until:
        timed_call(side, contents.draw(), "kernel")
        done += 1


def _verify(task: Task, workload: Workload, given: Contents, arrays: Mapping[str, np.ndarray]) -> None:
    found = verify_outputs(task, workload, given.inputs, arrays)
    if not found.ok:
        raise BadCall("wrong_in_timed_call", f"{found.reason} in a timed call: {found.detail}")
