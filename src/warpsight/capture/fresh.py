"""Finds how freely a kernel's inputs may be drawn: the freest way that the original itself takes without a fault.

First the original alone is run, checked, on a few draws; then the whole gate judges the original, with all its families
of inputs. Where it does not come out right, inputs are drawn less freely: whole numbers first, since they may point
into other arrays, then floats. What must stay true: a task that is written passes its own check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from warpsight.capture.arguments import KernelArgument, ladder
from warpsight.capture.recording import CannotCapture
from warpsight.capture.trial import CutTrial
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.check import check_candidate
from warpsight.nouns import Check, Task
from warpsight.nouns.dtypes import is_float
from warpsight.tasks import generate_inputs, read_candidate

SEEDS = (11, 12)
Say = Callable[[str], None]
Written = Callable[[bool], Task]
"""Writes the task as its arguments now are, of the recorded size alone or (True) of sizes up to it; reads it back."""


def settle_fills(trial: CutTrial, arguments: Sequence[KernelArgument], written: Written, say: Say) -> Task:
    """The task whose original is right in the gate, with inputs and sizes as free as that allows."""
    inputs = [a for a in arguments if a.is_array and a.role != "out"]
    for argument in inputs:
        others = [a.before.size for a in arguments if a.before is not None and a is not argument]
        argument.ladder = ladder(argument, max(others, default=0))
    _lower_until(inputs, lambda: _takes(trial, arguments, written(False)))
    said = ""
    for whole in (None, True, False, True, False):
        if whole is not None and not _lower([a for a in inputs if is_float(a.dtype) is not whole]):
            continue
        task = written(False)
        say("checking the original in the gate")
        found = _judged(task)
        if found.verdict == "right":
            return _of_other_sizes(written, say) if task.axes else task
        said = said or f"{found.verdict}: {found.reason}"
        if found.verdict == "refused":
            break
    raise CannotCapture(f"the original kernel does not pass the check of its own task: {said}")


def _of_other_sizes(written: Written, say: Say) -> Task:
    """The same task, of any size up to the recorded one where the original takes that."""
    say("checking the original at other sizes")
    try:
        task = written(True)
        if _judged(task).verdict == "right":
            return task
    except TaskError:
        pass  # a size that shapes, bounds or the reference do not take
    return written(False)


def _judged(task: Task) -> Check:
    own = read_candidate(task.kernel, task, task.kernel_file)
    return check_candidate(task, own, VirtualGpu(deadline_seconds=60.0))


def _lower(arguments: Sequence[KernelArgument]) -> bool:
    """Draw all of these one step less freely; whether there was a step to take."""
    able = [a for a in arguments if a.step + 1 < len(a.ladder)]
    for argument in able:
        argument.step += 1
    return bool(able)


def _lower_until(inputs: Sequence[KernelArgument], holds: Callable[[], bool]) -> None:
    """One argument after the other is drawn freely; it keeps the first step at which the original still runs."""
    if holds():
        return
    steps = {a.name: len(a.ladder) - 1 for a in inputs}
    for argument in inputs:
        argument.step = steps[argument.name]
    for argument in sorted(inputs, key=lambda a: not is_float(a.dtype)):
        for step in range(steps[argument.name] + 1):
            argument.step = step
            if step == steps[argument.name] or holds():
                break


def _takes(trial: CutTrial, arguments: Sequence[KernelArgument], task: Task) -> bool:
    """Whether the original runs on fresh inputs, checked, gives numbers, and the same in another order."""
    workload = next(w for w in task.workloads if not w.recorded)
    for seed in SEEDS:
        given = generate_inputs(task, workload, seed)
        contents = {n: a for n, a in given.items() if a.ndim}
        done = trial.run(arguments, contents, check=seed == SEEDS[0])
        if done.faults or done.refused:
            return False
        for argument in arguments:
            if argument.is_array and argument.role != "in" and is_float(argument.dtype):
                result = done.arrays[argument.name].astype(np.float64)
                if not np.isfinite(result).all():
                    return False
    return True
