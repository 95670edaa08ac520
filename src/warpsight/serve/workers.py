"""Who runs the tools: processes, one for each core, or this process itself. Each has boxes of its own, by task.

A worker remembers no conversation: it gets kernels as whole texts, and gives back what the tool said and the long texts
that it put aside. The least recently used boxes are dropped. What must stay true: a kernel that was submitted once is
not drawn for again, whichever worker the second call comes to: who asks brings the first evaluation along.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from warpsight.nouns import Evaluation, Task
from warpsight.processes.helper import Helper, WorkStopped
from warpsight.reason.optimize import LEDGER
from warpsight.serve.jobs import Cancelled, Say
from warpsight.serve.settings import ServeSettings
from warpsight.tools.box import ToolResult
from warpsight.tools.more import Shelf
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox

MOST_BOXES = 16


@dataclass(frozen=True)
class ToolWork:
    """One call in full. `key` is that of the task on this GPU; `submitted` what came of this kernel before."""

    task: Task
    key: str
    gpu: str | None
    tool: str
    arguments: Mapping[str, JsonValue]
    submitted: Evaluation | None = None


@dataclass(frozen=True)
class ToolDone:
    """What came: `aside` are texts that were too long to show at once."""

    result: ToolResult
    aside: tuple[str, ...] = ()


@dataclass
class _Aside(Shelf):
    """A shelf that only notes what it is given."""

    texts: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        super().__init__()

    def put(self, text: str) -> str:
        self.texts.append(text)
        return super().put(text)


class Boxes:
    """The boxes of one worker. Used by one thread."""

    def __init__(self, settings: ServeSettings, cores: int | None) -> None:
        self._settings = settings
        self._cores = cores
        self._aside = _Aside()
        self._boxes: OrderedDict[str, TaskBox] = OrderedDict()

    def run(self, say: Say, work: ToolWork) -> ToolDone:
        box = self._of(work)
        box.session.say = say
        if work.submitted is not None:
            box.session.recall_submission(work.submitted)
        self._aside.texts.clear()
        result = box.perform(work.tool, work.arguments)
        return ToolDone(result, tuple(self._aside.texts))

    def _of(self, work: ToolWork) -> TaskBox:
        box = self._boxes.get(work.key)
        if box is None:
            asked = self._settings
            box = self._boxes[work.key] = open_box(
                work.task, device=asked.device, gpu=work.gpu, feedback=asked.feedback, ledger=asked.data / LEDGER,
                unsafe=asked.unsafe, cores=self._cores, shelf=self._aside, ahead=True,
            )  # fmt: skip
        self._boxes.move_to_end(work.key)
        if len(self._boxes) > MOST_BOXES:
            self._boxes.popitem(last=False)[1].close()
        return box


class Workers:
    """As many as the settings say; none of them is a process where they say 0, and all work is done in this one."""

    def __init__(self, settings: ServeSettings) -> None:
        self.count = max(1, settings.workers)
        cores = max(1, (os.cpu_count() or 1) // self.count) if settings.workers > 1 else None
        self._here = None if settings.workers else Boxes(settings, cores)
        self._helpers = [Helper(_begin, (settings, cores)) for _ in range(settings.workers)]

    def run(self, number: int, work: ToolWork, say: Say, stopped: Callable[[], bool]) -> ToolDone:
        if self._here is not None:
            return self._here.run(say, work)
        return self.call(number, _run, work, say=say, stopped=stopped)

    def call(self, number: int, work: Callable[..., Any], *given: Any, say: Say, stopped: Callable[[], bool]) -> Any:
        """Some other work of a worker: `work(say, *given)`."""
        if self._here is not None:
            return work(say, *given)
        try:
            return self._helpers[number].call(work, *given, say=say, stopped=stopped)
        except WorkStopped:
            raise Cancelled from None

    def close(self) -> None:
        for helper in self._helpers:
            helper.close()


_boxes: list[Boxes] = []  # of this process, where it is a worker


def _begin(settings: ServeSettings, cores: int | None) -> None:
    _boxes.append(Boxes(settings, cores))


def _run(say: Say, work: ToolWork) -> ToolDone:
    return _boxes[0].run(say, work)
