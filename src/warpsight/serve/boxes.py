"""The tools of each task that is worked on, by the content of the task: a changed file makes another box.

So the kernel to beat is always the one that lies in the folder, as for the command line. The least recently used boxes
are dropped, and end what their device holds.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from pathlib import Path

from warpsight.nouns import Task
from warpsight.reason.optimize import LEDGER
from warpsight.serve.settings import ServeSettings
from warpsight.tasks import read_task
from warpsight.tools.more import Shelf
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox

MOST_BOXES = 16


class Boxes:
    """Boxes of a server, all on one shelf of long texts. Used by one thread."""

    def __init__(self, settings: ServeSettings, shelf: Shelf) -> None:
        self._settings = settings
        self._shelf = shelf
        self._boxes: OrderedDict[str, TaskBox] = OrderedDict()

    def of(self, folder: Path, gpu: str | None) -> TaskBox:
        """The tools of the task in a folder, on one kind of GPU (by default the task's)."""
        task = read_task(folder)
        key = _key(task, gpu)
        box = self._boxes.get(key)
        if box is None:
            box = self._boxes[key] = self._open(task, gpu)
        self._boxes.move_to_end(key)
        if len(self._boxes) > MOST_BOXES:
            self._boxes.popitem(last=False)[1].close()
        return box

    def close(self) -> None:
        while self._boxes:
            self._boxes.popitem()[1].close()

    def _open(self, task: Task, gpu: str | None) -> TaskBox:
        asked = self._settings
        return open_box(
            task, device=asked.device, gpu=gpu, feedback=asked.feedback, ledger=asked.data / LEDGER,
            unsafe=asked.unsafe, shelf=self._shelf,
        )  # fmt: skip


def _key(task: Task, gpu: str | None) -> str:
    return hashlib.sha256(f"{task.model_dump_json()}\n{gpu}".encode()).hexdigest()
