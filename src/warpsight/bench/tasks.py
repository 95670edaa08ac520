"""The tasks of a bench: rows of a corpus file, one task folder, or a folder that task folders lie in.

A corpus row knows which answer is right, since its defects were planted and measured. Of other tasks no defect is
known: they have no right answer, and recommendations on them are not scored. What must stay true: the key of a task
says what it is, so that results of other tasks are not taken for its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpsight.corpus.build import read_rows
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import UsageError
from warpsight.gate.identity import task_sha256
from warpsight.nouns import Task
from warpsight.tasks import read_task
from warpsight.vgpu.gpus import find_gpu

TASK_FILE = "task.toml"


@dataclass(frozen=True)
class BenchTask:
    """One task. `right` are the right answers, none where no defect is known; `plain` is its text before restyling."""

    number: int
    key: str
    family: str
    task: Task
    right: tuple[str, ...] = ()
    trained_on: bool = False
    plain: tuple[str, int] | None = None


def read_bench_tasks(place: Path) -> tuple[BenchTask, ...]:
    """The tasks in a corpus file or a folder, of which there is at least one."""
    if not place.is_dir():
        return tuple(
            BenchTask(
                number=row.number,
                key=row.spec.key,
                family=row.spec.family,
                task=task_of(row.spec),
                right=row.truth.right,
                trained_on=row.split == "train",
                plain=plain_of(row.spec),
            )
            for row in read_rows(place)
        )
    folders = [file.parent for file in sorted(place.rglob(TASK_FILE))]
    if not folders:
        raise UsageError(f"no tasks in {place}", hint=f"expected a corpus file, or a folder with {TASK_FILE} in it")
    return tuple(_of_folder(number, read_task(folder)) for number, folder in enumerate(folders))


def _of_folder(number: int, task: Task) -> BenchTask:
    """The key has the form of a corpus row's: what it is, its size, its GPU."""
    timed = next((w for w in task.workloads if w.profile), task.workloads[0])
    size = ",".join(f"{axis}={value}" for axis, value in sorted(timed.axes.items()))
    key = "|".join((task.name, task_sha256(task)[:12], "", size, find_gpu(task.gpu).key))
    return BenchTask(number=number, key=key, family=task.name, task=task)
