"""The tools of a task, opened with a session of their own: the way in for the loop, the MCP server and training."""

from __future__ import annotations

from typing import Any

from warpsight import jail
from warpsight.nouns import Task
from warpsight.session.session import Session
from warpsight.tools.more import Shelf
from warpsight.tools.task_box import TaskBox


def open_box(
    task: Task, *, shelf: Shelf | None = None, unsafe: bool = False, ahead: bool = False, **settings: Any
) -> TaskBox:
    """The tools of a task; `settings` are those of a Session. Refused where a wall of the jail is missing. With `ahead`
    idle cores work on what is likely to be asked next."""
    jail.require_protections(unsafe)
    return TaskBox(Session(task, unsafe=unsafe, **settings), shelf, ahead=ahead)
