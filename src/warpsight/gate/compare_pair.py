"""Is the candidate faster than the baseline? One answer, from a simulated time or from measured pairs.

Measured: a candidate that seems faster is measured again, with other seeds, in fresh processes opened in the other
order, and only if both measurements say so is it FASTER. That removes what differs from process to process, and the
ratio that is reported is the second one, which did not choose the winner (the first is too high by the winner's luck).
Simulated: both launches run whole on the same secret contents, and their times are those of these very runs. The
simulated interval is what the ratio is between the base and the boost clock, widened by how far samples of the launches
are apart; `likely.py` adds how far the time model errs. The output of a winner's run is verified, and its machine code
is checked on all that its PTX was checked on: a fast wrong answer is no time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing

import numpy as np

from warpsight.devices.device import CannotProfile, Observed, Simulator, TimedDevice, Value
from warpsight.devices.machine_code import FaultInLaunch
from warpsight.errors import DeviceError
from warpsight.gate import likely, statistics
from warpsight.gate.copy_floor import copy_roof
from warpsight.gate.fresh import FreshContents
from warpsight.gate.kernel import Kernel
from warpsight.gate.machine_check import machine_code_difference
from warpsight.gate.roofline_cap import simulated_roof
from warpsight.gate.timing import PairTimer, Progress, TimedSide
from warpsight.gate.values import verify_outputs
from warpsight.nouns import Profile, Task, Timing, Workload
from warpsight.nouns.timing import Likelihood, Measurement, Roof, TimingReason

SIMULATED = "time model over the whole launch, at boost and base clock"
LEAST_SPREAD, MOST_SPREAD = 0.01, 0.99
"""Two simulated times are never told apart more finely than the one; the other is no time at all."""
MEASURED = "interleaved pairs, bootstrap of the trimmed mean of log ratios, fixed looks"
MEASURED_ALONE = "calls of one kernel, not compared"


def compare_simulated(
    task: Task, workload: Workload, baseline: Kernel, candidate: Kernel, device: Simulator, *, seed: int
) -> tuple[Timing, Profile | None]:
    """The decision by the time model, and the candidate's profile that it came from.

    Both launches run whole, on the same secret contents; the same secret chooses the blocks that are simulated.
    """
    given = FreshContents(task, workload, seed, pool=1).draw()
    try:
        mine = _observed(task, candidate, device, given.values, seed, other_turns=True)
    except FaultInLaunch as faulted:
        return _rejected(device.name, "fault_in_timed_call", faulted.fault.message, workload), None
    except CannotProfile as impossible:
        return _rejected(device.name, "no_time", impossible.message, workload), None
    try:
        theirs = _observed(task, baseline, device, given.values, seed)
    except CannotProfile as impossible:
        raise DeviceError(f"the baseline has no simulated time: {impossible.message}") from None
    assert device.gpu is not None
    name, roof = f"{device.name}:{device.gpu.key}", simulated_roof(task, workload, device.gpu)
    spread = min(MOST_SPREAD, max(LEAST_SPREAD, math.hypot(mine.time.spread, theirs.time.spread)))
    ratio = _clocks(theirs)[0] / _clocks(mine)[0]
    found = simulated_timing(
        name,
        workload.name,
        _clocks(mine),
        _clocks(theirs),
        roof,
        mine.profile.notes,
        round(spread, 6),
        likely.likelihood_of(ratio, theirs.time.bound, mine.time.bound),
    )
    if found.improves and (mine.time.failed_polls or mine.order_matters):
        return waiting(found, mine.time.failed_polls, mine.order_matters), mine.profile
    if found.improves:
        result = verify_outputs(task, workload, given.inputs, mine.arrays)
        if not result.ok:
            return rejected(found, "wrong_in_timed_call", f"{result.reason}: {result.detail}"), mine.profile
        wrong = machine_code_difference(task, workload, candidate.candidate, candidate.build, device, seed=seed)
        if wrong is not None:
            return rejected(found, "machine_code_differs", wrong.told), mine.profile
    return found, mine.profile


def _observed(
    task: Task, kernel: Kernel, device: Simulator, values: Sequence[Value], seed: int, *, other_turns: bool = False
) -> Observed:
    return device.observe(
        kernel.build,
        task.entry,
        values,
        kernel.size,
        source_text=kernel.candidate.source,
        seed=seed,
        other_turns=other_turns,
    )


def _clocks(found: Observed) -> tuple[float, float]:
    """Time at boost and base clock."""
    return round(found.time.time_us, 3), round(found.time.time_us_base, 3)


def simulated_timing(
    device: str,
    workload: str,
    mine_us: tuple[float, float],
    theirs_us: tuple[float, float],
    roof: Roof,
    notes: tuple[str, ...] = (),
    spread: float = 0.0,
    likelihood: Likelihood | None = None,
) -> Timing:
    """The decision from times at (boost, base) clock. Pure, so that a certificate can be checked."""
    ratios = theirs_us[0] / mine_us[0], theirs_us[1] / mine_us[1]
    simulated = min(ratios) * (1 - spread), max(ratios) * (1 + spread)
    decision, interval = likely.decide(ratios[0], simulated, likelihood)
    found = Timing(
        source="simulated",
        device=device,
        method=SIMULATED,
        samples_us=mine_us,
        baseline_us=theirs_us,
        ratio=ratios[0],
        interval=interval,
        spread=spread,
        simulated_interval=None if likelihood is None else simulated,
        likelihood=likelihood,
        decision=decision,
        reason="interval_too_wide" if decision == "AMBIGUOUS" else "",
        workload=workload,
        roof=roof,
        notes=notes,
    )
    return held_to_roof(found)


def compare_measured(
    task: Task,
    workload: Workload,
    baseline: Kernel,
    candidate: Kernel,
    device: TimedDevice,
    *,
    seed: int,
    budget_s: float = 2.5,
    progress: Progress = lambda _: None,
    roof_of: Callable[[Task, Workload, TimedDevice], Roof] = copy_roof,
) -> Timing:
    """The decision from measured pairs; winners are held to the roof and measured twice."""
    once = _measure(task, workload, baseline, candidate, device, seed, budget_s, progress, swapped=False)
    found = measured_timing(device.name, workload.name, (once,), None)
    if found.decision != "FASTER":
        return found
    progress("measuring what the device can do at best")
    roof = roof_of(task, workload, device)
    found = measured_timing(device.name, workload.name, (once,), roof)
    if found.decision != "FASTER":
        return found
    progress("measuring the winner again in fresh processes")
    again = _measure(task, workload, baseline, candidate, device, seed + 1_000_003, budget_s, progress, swapped=True)
    return measured_timing(device.name, workload.name, (once, again), roof)


def measured_timing(device: str, workload: str, taken: tuple[Measurement, ...], roof: Roof | None) -> Timing:
    """What one or two measurements say together. Pure, so that a certificate can be checked."""
    last = taken[-1]
    decision, reason, detail = last.decision, last.reason, last.detail
    if len(taken) == 2 and decision != "FASTER" and decision != "REJECTED":
        detail = f"FASTER at first, then {decision}" + (f" ({reason})" if reason else "")
        decision, reason = "AMBIGUOUS", "not_confirmed"
    if decision == "AMBIGUOUS" and not last.candidate_us:
        decision, reason = "REJECTED", "no_time"
    found = Timing(
        source="measured",
        device=device,
        method=MEASURED,
        samples_us=last.candidate_us,
        baseline_us=last.baseline_us,
        ratio=last.ratio,
        interval=last.interval,
        decision=decision,
        reason=reason,
        detail=detail,
        workload=workload,
        measurements=taken,
        roof=roof,
    )
    return held_to_roof(found)


def held_to_roof(found: Timing) -> Timing:
    """The same, or rejected where the candidate takes less time than moving the data does."""
    if found.roof is None or not found.improves:
        return found
    best = statistics.trimmed_mean(np.array(found.samples_us)) if found.measurements else min(found.samples_us)
    if best >= found.roof.floor_us:
        return found
    told = f"{best:.2f} us, and moving {found.roof.compulsory_bytes} bytes takes {found.roof.floor_us:.2f} us at least"
    return rejected(found, "faster_than_roofline", told)


def waiting(found: Timing, polls: int, order_matters: int = 0) -> Timing:
    """Not decided: what the simulated multiprocessor cannot know is when another one has what a block waits for."""
    seen = f"{polls} polls failed" if polls else f"{order_matters} accesses depend on the order of blocks"
    told = f"threads wait for what others write ({seen}); how long is not simulated"
    return found.model_copy(update={"decision": "AMBIGUOUS", "reason": "waits_for_others", "detail": told})


def rejected(found: Timing, reason: TimingReason, detail: str) -> Timing:
    return found.model_copy(update={"decision": "REJECTED", "reason": reason, "detail": detail})


def _rejected(device: str, reason: TimingReason, detail: str, workload: Workload) -> Timing:
    return Timing(
        source="simulated",
        device=device,
        method=SIMULATED,
        decision="REJECTED",
        reason=reason,
        detail=detail,
        workload=workload.name,
    )


def _measure(
    task: Task,
    workload: Workload,
    baseline: Kernel,
    candidate: Kernel,
    device: TimedDevice,
    seed: int,
    budget_s: float,
    progress: Progress,
    *,
    swapped: bool,
) -> Measurement:
    """One measurement in two new processes; `swapped` opens the candidate's first."""
    timer = PairTimer(task, workload, seed=seed, budget_s=budget_s, progress=progress)
    with ExitStack() as open_lanes:
        sides: dict[str, TimedSide] = {}
        order = [("baseline", baseline), ("candidate", candidate)]
        for name, kernel in reversed(order) if swapped else order:
            progress(f"starting the worker of the {name}")
            lane = device.open_lane(kernel.build, task.entry)
            open_lanes.enter_context(closing(lane))
            sides[name] = TimedSide(lane, kernel.size)
        return timer.measure(sides["baseline"], sides["candidate"])
