"""One kernel text looked at: is it right, and how long does it take at one size on one GPU. Kept by content.

The check is the gate's, with all its families of inputs and sizes drawn from a seed that follows from the text; it is
made once for each PTX, since it does not depend on the size that is timed. The time is the time model's, without the
counters of a profile. What must stay true: a stored look is used only while the model and the gate are the very same
files, so a change of either is never hidden by an old answer.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code, source_file, time_launch
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import WarpsightError
from warpsight.gate.check import check_candidate, kernel_values
from warpsight.gate.kernel import build_candidate
from warpsight.nouns import Build, Candidate, Task, Workload
from warpsight.session.parts import parts_digest
from warpsight.tasks import evaluate_launch, read_candidate
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.packages import compiler_identity
from warpsight.vgpu.gpus import find_gpu

SCHEMA = "look-1"
TIMED_PARTS, CHECKED_PARTS = ("vgpu", "devices"), ("gate", "tasks")
VALUES_KEPT = 12
DEADLINE_S = 120.0
_PTX_HEAD = re.compile(r"^(?:\.version|\.target|//|\s*\.loc|\s*\.file).*$", re.MULTILINE)

Spent = dict[str, float]
"""Seconds by what they went into; given by whoever wants to know."""
T = TypeVar("T")


class BadDefect(WarpsightError):
    """A planted defect made the kernel wrong or unbuildable: the family is at fault."""


@dataclass(frozen=True)
class KernelTimes:
    """Simulated times of a right kernel."""

    boost_us: float
    base_us: float

    @property
    def times_us(self) -> tuple[float, float]:
        return self.boost_us, self.base_us


def look(task: Task, spent: Spent | None = None, *, checked: bool = False) -> KernelTimes:
    """The task's own kernel at its profiled size on its own GPU; BadDefect unless it is right. `checked`: it was found
    right before, and the time alone is wanted."""
    axes = next(w for w in task.workloads if w.profile).axes
    size = ",".join(f"{axis}={value}" for axis, value in sorted(axes.items()))
    gpu = find_gpu(task.gpu)
    key = content_key(
        SCHEMA,
        "time alone" if checked else "time",
        task.kernel,
        _declared(task),
        size,
        task.gpu,
        compiler_identity(),
        parts_digest(*TIMED_PARTS, *CHECKED_PARTS),
    )
    kept = store().get(key)
    if kept is None:
        candidate = read_candidate(task.kernel, task)
        build = _spend(spent, "compile", lambda: build_candidate(task, candidate, gpu_arch=gpu.arch))
        if not checked:
            require_right(task, candidate, build, spent)
        found = _timed(task, candidate, build, spent)
        kept = f"{found.boost_us!r} {found.base_us!r}".encode()
        store().put(key, kept)
    boost, base = kept.split()
    return KernelTimes(float(boost), float(base))


def require_right(task: Task, candidate: Candidate, build: Build, spent: Spent | None = None) -> None:
    """The gate's verdict on the small workloads; BadDefect with the text unless it is `right`."""
    ptx = _PTX_HEAD.sub("", build.ptx)
    launch = task.kernel.partition("\n")[0]
    key = content_key(SCHEMA, "check", ptx, launch, _declared(task), parts_digest(*TIMED_PARTS, *CHECKED_PARTS))
    verdict = store().get(key)
    if verdict is None or not build.ok:
        small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
        secret = int(content_key(ptx, launch)[:12], 16)
        found = _spend(
            spent,
            "check",
            lambda: check_candidate(small, candidate, VirtualGpu(cores=1), build=build, secret_seed=secret),
        )
        verdict = f"{found.verdict}: {found.reason}".encode()
        store().put(key, verdict)
    if not verdict.startswith(b"right"):
        raise BadDefect(f"{task.name}: a planted kernel is not right: {verdict.decode()}\n{task.kernel}")


def _declared(task: Task) -> str:
    """All that a verdict depends on but the kernel."""
    small = {
        "workloads": tuple(w for w in task.workloads if not w.profile),
        "kernel": "",
        "gpu": "",
        "gpu_arch": "",
        "folder": Path(),
    }
    return task.model_copy(update=small).model_dump_json()


@functools.cache
def store() -> Cache:
    """Where looks are kept; forget it (`store.cache_clear`) after moving WARPSIGHT_CACHE."""
    folder = cache_folder()
    return Cache(folder / "truth" if folder else None)


def _timed(task: Task, candidate: Candidate, build: Build, spent: Spent | None) -> KernelTimes:
    workload = next(w for w in task.workloads if w.profile)
    code = _spend(spent, "machine code", lambda: machine_code(build.cubin, task.entry, source_file(build.ptx)))
    program = code.program
    if program is None:
        raise BadDefect(f"{task.name}: no time: {code.reason}\n{task.kernel}")
    values = _spend(spent, "inputs", lambda: _values(_Sized(task, workload)))
    size = evaluate_launch(candidate, workload.axes)
    found = _spend(
        spent,
        "time",
        lambda: time_launch(program, build, find_gpu(task.gpu), values, size, deadline_seconds=DEADLINE_S),
    )
    return KernelTimes(round(found.time_us, 3), round(found.time_us_base, 3))


@dataclass(frozen=True)
class _Sized:
    """A task at a size, equal to another when both have the same contents, whatever the kernel."""

    task: Task
    workload: Workload

    def __hash__(self) -> int:
        return hash((self.task.name, tuple(sorted(self.workload.axes.items()))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sized) and (self.task.name, self.workload) == (other.task.name, other.workload)


@functools.lru_cache(maxsize=VALUES_KEPT)
def _values(sized: _Sized) -> tuple[Value, ...]:
    return kernel_values(sized.task, sized.workload, seed=0)[1]


def _spend(spent: Spent | None, what: str, work: Callable[[], T]) -> T:
    start = time.perf_counter()
    try:
        return work()
    finally:
        if spent is not None:
            spent[what] = spent.get(what, 0.0) + time.perf_counter() - start
