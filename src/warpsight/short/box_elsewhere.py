"""The short tools of a task in workers: conversations stay here, beside the model, and each call is made elsewhere.

For reinforcement, where the model is on a GPU and the tools are on many cores. Calls that are the same are made once,
and who asks meanwhile waits for that. What must stay true: a call gives what `SmallBox` gives.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from pydantic import JsonValue

from warpsight.nouns import Task
from warpsight.processes.executor import CallElsewhere
from warpsight.session.feedback import Feedback
from warpsight.short.box import SmallBox
from warpsight.short.prompting import Suite
from warpsight.tools.box import ToolResult

MOST_OPEN = 8
_open: OrderedDict[str, SmallBox] = OrderedDict()  # of this process, where it is a worker


@dataclass(frozen=True)
class BoxPlace:
    """What a worker opens the tools with."""

    task: Task
    suite: Suite
    feedback: Feedback
    listed: bool
    plain: tuple[str, int] | None
    by_plain: bool
    first_words: bool

    @property
    def key(self) -> str:
        return f"{self.task.model_dump_json()} {self.suite} {self.feedback} {self.plain} {self.by_plain}"

    def open(self, cores: int = 1) -> SmallBox:
        return SmallBox(
            self.task, self.suite, self.feedback, cores=cores, listed=self.listed, plain=self.plain,
            by_plain=self.by_plain, first_words=self.first_words,
        )  # fmt: skip


@dataclass(frozen=True)
class SmallCall:
    """One call of a tool."""

    place: BoxPlace
    name: str
    arguments: dict[str, JsonValue]


class BoxElsewhere(SmallBox):
    """A SmallBox whose calls go through `at`; conversations on the same task may share one."""

    def __init__(self, at: CallElsewhere, place: BoxPlace) -> None:
        super().__init__(
            place.task, place.suite, place.feedback, listed=place.listed, plain=place.plain, by_plain=place.by_plain,
            first_words=place.first_words,
        )  # fmt: skip
        self._at = at
        self._place = place
        self._asked: dict[str, Future[ToolResult]] = {}
        self._asking = threading.Lock()

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        key = json.dumps([name, dict(arguments)], sort_keys=True)
        with self._asking:
            before = self._asked.get(key)
            mine = self._asked.setdefault(key, Future())
        if before is not None:
            return before.result()
        try:
            mine.set_result(self._at(call_tool, SmallCall(self._place, name, dict(arguments))))
        except BaseException as problem:
            mine.set_exception(problem)
            with self._asking:
                del self._asked[key]
        return mine.result()


def call_tool(asked: SmallCall) -> ToolResult:
    """In a worker."""
    key = asked.place.key
    box = _open.get(key)
    if box is None:
        box = _open[key] = asked.place.open()
        if len(_open) > MOST_OPEN:
            _open.popitem(last=False)
    _open.move_to_end(key)
    return box.call(asked.name, asked.arguments)
