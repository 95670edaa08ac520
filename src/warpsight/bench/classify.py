"""The suite `classify`: is a kernel bound by computation or by bandwidth? The truth is the roofline's, or published.

From the source alone (feedback `none`) or with a profile. The truth comes from the profile of the virtual GPU. Where a
table of measured launches is given it comes from that, and `rival:roofline` is the tools' answer against measurements.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from warpsight.bench.budget_rivals import call
from warpsight.bench.tasks import BenchTask
from warpsight.lens.bound_side import Side, intensities, published_sides, side_of
from warpsight.models.model import Model
from warpsight.models.scripted import ScriptedModel
from warpsight.nouns import Task
from warpsight.session.session import Session
from warpsight.short.box import PROFILE_SEED
from warpsight.short.prompting import CAUSE
from warpsight.tools.box import SUBMIT
from warpsight.vgpu.gpus import find_gpu

MEASURED_ON = "rtx-3080"
ROOFLINE = "roofline"


def sides_known(task: BenchTask, measured: Path | None) -> BenchTask:
    """The task with the side that is right; without one where a table does not have its kernel."""
    if measured is None:
        return replace(task, right=(simulated_side(task),))
    found = measured_side(task.task, measured)
    return replace(task, right=() if found is None else (found,))


def simulated_side(task: BenchTask) -> Side:
    """By the profile of the virtual GPU. The text before restyling makes the same code."""
    kernel = task.plain[0] if task.plain is not None else task.task.kernel
    with Session(task.task.model_copy(update={"kernel": kernel}), seed=PROFILE_SEED, cores=1) as session:
        gpu = find_gpu(task.task.gpu)
        return side_of(intensities(session.counters(), gpu), gpu)


def measured_side(task: Task, measured: Path) -> Side | None:
    """By a table of launches: of the program that the task's folder or name begins with, and its kernel."""
    names = {task.name, task.folder.name}
    for (program, kernel), side in _published(measured).items():
        stem = program.removesuffix("-cuda").replace("-", "_")
        if kernel == task.entry and any(name.replace("-", "_").startswith(stem) for name in names):
            return side
    return None


@functools.lru_cache(maxsize=2)
def _published(measured: Path) -> dict[tuple[str, str], Side]:
    return published_sides(measured, find_gpu(MEASURED_ON))


def play_roofline(task: BenchTask) -> Model:
    """What the tools say."""
    side = simulated_side(task)
    return ScriptedModel(lambda _request: call(SUBMIT, {CAUSE: side}), name=f"rival:{ROOFLINE}")
