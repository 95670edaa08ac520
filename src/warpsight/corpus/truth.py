"""What is right to recommend, measured: every single removal is checked and timed on the task's own GPU and size.

Simulated times, from the virtual GPU. The answer is the removal that helps most; removals within 3 % of it are as
right; when none helps by 3 %, the answer is `nothing`. Measured on the canonical text: names and layout do not reach
the machine code. Results are kept by content, so a task that differs only in its wording costs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from warpsight.corpus.families import families
from warpsight.corpus.kinds import NOTHING
from warpsight.corpus.specs import Spec, task_of
from warpsight.corpus.variants import plant
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import WarpsightError
from warpsight.gate.check import build_candidate, check_candidate, kernel_values
from warpsight.nouns import Noun, Task
from warpsight.tasks import evaluate_launch, read_candidate
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.packages import compiler_identity
from warpsight.vgpu.gpus import find_gpu

TIE = 1.03
SCHEMA = "truth-1"  # change it when the same text would now get another time or verdict


class BadDefect(WarpsightError):
    """A planted defect made the kernel wrong or unbuildable: the family is at fault."""


class Truth(Noun):
    """Simulated times of a task and of each removal, and what is right to recommend."""

    time_us: float
    without_us: Mapping[str, float]
    fast_us: float
    right: tuple[str, ...]

    @property
    def gain(self) -> float:
        """How much faster the best single removal makes it."""
        return self.time_us / min(self.without_us.values())


def measure(spec: Spec) -> Truth:
    """The truth about one task."""
    whole = _time(spec, spec.defects)
    without = {defect: _time(spec, tuple(d for d in spec.defects if d != defect)) for defect in spec.defects}
    best = min(without.values())
    helps = whole / best >= TIE
    right = tuple(sorted(d for d, t in without.items() if t <= best * TIE)) if helps else (NOTHING,)
    return Truth(time_us=whole, without_us=without, fast_us=_time(spec, ()), right=right)


def _time(spec: Spec, defects: tuple[str, ...]) -> float:
    text = plant(families()[spec.family], defects, spec.constants)
    if text is None:
        raise BadDefect(f"{spec.family}: {', '.join(defects)} cannot be planted together")
    task = task_of(spec, text)
    _require_right(task)
    store = _store()
    axes = ",".join(f"{axis}={value}" for axis, value in sorted(spec.size.items()))
    key = content_key(SCHEMA, "time", text, axes, spec.gpu, compiler_identity())
    kept = store.get(key)
    if kept is None:
        kept = repr(_simulate(task, spec)).encode()
        store.put(key, kept)
    return float(kept)


def _simulate(task: Task, spec: Spec) -> float:
    gpu = find_gpu(spec.gpu)
    candidate = read_candidate(task.kernel, task)
    workload = next(w for w in task.workloads if w.profile)
    build = build_candidate(task, candidate)
    _, values = kernel_values(task, workload, seed=0)
    size = evaluate_launch(candidate, workload.axes)
    profile = VirtualGpu(gpu=gpu, cores=1).profile(build, task.entry, values, size, source_text=candidate.source)
    if "duration_us" not in profile.counters:
        raise BadDefect(f"{spec.key}: no time: {'; '.join(profile.notes)}")
    return float(profile.counters["duration_us"])


def _require_right(task: Task) -> None:
    """A planted kernel computes what the fast one does; looked at once for each text and architecture."""
    store = _store()
    key = content_key(SCHEMA, "check", task.kernel, task.gpu_arch, task.reference, compiler_identity())
    verdict = store.get(key)
    if verdict is None:
        small = [w for w in task.workloads if not w.profile]
        candidate = read_candidate(task.kernel, task)
        check = check_candidate(task, candidate, VirtualGpu(cores=1), workloads=small)
        verdict = f"{check.verdict}: {check.reason}".encode()
        store.put(key, verdict)
    if not verdict.startswith(b"right"):
        raise BadDefect(f"{task.name}: a planted kernel is not right: {verdict.decode()}\n{task.kernel}")


@functools.cache
def _store() -> Cache:
    folder = cache_folder()
    return Cache(folder / "truth" if folder else None)
