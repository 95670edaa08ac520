"""Tasks as they lie in their folders now, read again only when a file changed: a changed task is another task.

What must stay true: the kernel to beat is always the one that lies in the folder, as for the command line.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from warpsight.nouns import Task
from warpsight.session.opening import given_kernel
from warpsight.tasks import read_task

MOST_CARDS = 512


@dataclass(frozen=True)
class Card:
    """A task, a key of its content, and the text of the kernel to beat."""

    task: Task
    sha256: str
    given: str

    def key(self, gpu: str | None) -> str:
        """Of the task on one GPU."""
        return f"{self.sha256}:{gpu or ''}"


class Cards:
    """Those that were read. Used by one thread at a time."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._read: OrderedDict[Path, tuple[dict[Path, bytes], Card]] = OrderedDict()

    def of(self, folder: Path) -> Card:
        known = self._read.get(folder)
        if known is not None and all(_bytes(file) == content for file, content in known[0].items()):
            self._read.move_to_end(folder)
            return known[1]
        self._read.pop(folder, None)
        task = read_task(folder)
        names = ("task.toml", task.kernel_file, task.reference_file, task.opencl_file)
        before = {folder / name: _bytes(folder / name) for name in names if name}
        task = read_task(folder)  # as it is after the look at its files, so that no change between is missed
        sha256 = hashlib.sha256(task.model_dump_json().encode()).hexdigest()
        card = Card(task, sha256, given_kernel(task, self._device).source)
        self._read[folder] = before, card
        if len(self._read) > MOST_CARDS:
            self._read.popitem(last=False)
        return card


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
