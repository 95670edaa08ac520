"""What `capture` says of the task that it wrote."""

from __future__ import annotations

from rich.console import Console

from warpsight.nouns import Argument, Task
from warpsight.tasks import shape_of


def render(console: Console, task: Task) -> None:
    """Where it is, where it came from, and how each argument is drawn in a check."""
    captured = task.captured
    assert captured is not None
    where = captured.file if captured.line is None else f"{captured.file}:{captured.line}"
    console.print(f"captured launch {captured.launch} of {task.entry} ({where}) as a task", highlight=False)
    for argument in task.arguments:
        console.print(f"  {argument.name:<16} {_told(task, argument)}", highlight=False)
    console.print(f"\nnext: warpsight check {task.folder}", highlight=False)
    console.print(f"      warpsight optimize {task.folder}", highlight=False)


def _told(task: Task, argument: Argument) -> str:
    if argument.role == "scalar":
        return f"{argument.dtype} {argument.value}"
    axes = task.workloads[0].axes
    count = 1
    for extent in shape_of(argument, axes):
        count *= extent
    told = f"{argument.role:<6} {count:,} x {argument.dtype}"
    if argument.role == "out":
        return told
    bounds = "" if argument.low is None else f", {argument.low} to {argument.high}"
    return f"{told}, fresh contents: {argument.fill}{bounds}"
