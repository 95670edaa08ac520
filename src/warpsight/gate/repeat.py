"""The same launch again, in another order and on the other poison: what changes was left to chance.

Blocks run in another order where the device can do that, and plainly again where it cannot. A kernel without atomic
operations must give the same bits; one with them must be right again. An output that keeps the poison in both runs was
never written, whatever the oracle holds there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from warpsight.devices.device import Device, Execution
from warpsight.gate.run import Subject, Trial, run, with_stores
from warpsight.gate.values import POISONS, poisoned
from warpsight.nouns import Task, WorkloadResult

_ATOMIC = re.compile(r"\b(atom|red)\.|\batom(ic)?(_|[A-Z])\w*\s*\(")
# Comments and strings; a line that ends in a backslash goes on, in a comment too.
_VARIABLE = re.compile(r"^\s*(\.visible |\.weak )?\.global ", re.MULTILINE)
ONLY_FIRST = "a first launch is right: __device__ variables keep their values from launch to launch"
_NO_CODE = re.compile(r'//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@runtime_checkable
class Reordering(Protocol):
    """A device that can run the blocks of a launch in another order."""

    def reordered(self, seed: int) -> Device: ...


@runtime_checkable
class Remembering(Protocol):
    """A device that can keep a module loaded, and its variables with it, as a program on a GPU does."""

    def remembering(self) -> Device: ...

    def forgetting(self) -> Device: ...


def kept_loaded(device: Device) -> Device:
    """The device, on which a kernel finds the variables of its module as its last launch left them.

    A kernel is launched again and again where it is used, so one that is right only once is wrong.
    """
    return device.remembering() if isinstance(device, Remembering) else device


def told_if_only_first(subject: Subject, trial: Trial, result: WorkloadResult) -> WorkloadResult:
    """A wrong result; if a first launch would be right, its detail says so."""
    if result.ok or not isinstance(subject.device, Remembering) or _VARIABLE.search(subject.build.ptx) is None:
        return result
    again = run(subject, trial, checked=False, device=subject.device.forgetting())[1]
    if again is None or not again.ok:
        return result
    return result.model_copy(update={"detail": f"{result.detail}; {ONLY_FIRST}"})


def run_again(
    subject: Subject, trial: Trial, first: Execution, result: WorkloadResult
) -> tuple[Execution, WorkloadResult]:
    """What the second run adds to a first that was right."""
    device = subject.device.reordered(trial.seed + 1) if isinstance(subject.device, Reordering) else subject.device
    second, again = run(subject, trial, checked=False, poison=POISONS[1], device=device)
    if again is None or not again.ok:
        return second, with_stores(again or result, first)  # the first was watched, the second is not

    def failed(reason: str, detail: str) -> WorkloadResult:
        return result.model_copy(update={"ok": False, "reason": reason, "detail": detail})

    if left := _never_written(subject.task, first.arrays, second.arrays):
        return second, with_stores(failed("output_not_written", left), first)
    code = subject.build.ptx or subject.candidate.source
    if not has_atomics(code) and (changed := _changed(subject.task, first.arrays, second.arrays)):
        return second, failed("not_deterministic", changed)
    return second, result


def has_atomics(code: str) -> bool:
    """Whether the order of blocks may honestly show in the last bits of a sum. A comment is no reason."""
    return _ATOMIC.search(_NO_CODE.sub(" ", code)) is not None


def _outputs(task: Task) -> list[str]:
    return [a.name for a in task.arguments if a.role in ("out", "inout")]


def _words(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(f"u{array.dtype.itemsize}")


def _never_written(task: Task, first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> str:
    for argument in task.arguments:
        if argument.role != "out":
            continue
        one, two = (_words(arrays[argument.name]) for arrays in (first, second))
        marks = [_words(poisoned((1,), argument.dtype, poison))[0] for poison in POISONS]
        count = int(np.count_nonzero((one == marks[0]) & (two == marks[1])))
        if count:
            return f"{count} of {one.size} elements of {argument.name} were never written"
    return ""


def _changed(task: Task, first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> str:
    for name in _outputs(task):
        differs = _words(first[name]) != _words(second[name])
        if count := int(np.count_nonzero(differs)):
            return f"{count} of {differs.size} elements of {name} differ between two runs on the same inputs"
    return ""
