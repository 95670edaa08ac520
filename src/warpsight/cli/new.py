"""`warpsight new NAME`: a task folder that is complete and right, to be changed into your own.

Refuses to write over anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from rich.console import Console


def new(
    name: Annotated[str, typer.Argument(help="Name of the task: lower-case letters, digits, - and _.")],
    into: Annotated[Path, typer.Option(help="The folder in which the task folder is made.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a task folder to start from.

    \b
    Examples:
      warpsight new my_kernel
      warpsight new my_kernel --into tasks
    """
    from warpsight.tasks import new_task, read_task

    folder = new_task(into / name, name)
    task = read_task(folder)
    files = ["task.toml", task.kernel_file, task.reference_file]

    def render(console: Console) -> None:
        console.print(f"Made {folder}:", markup=False)
        console.print(f"  {files[0]}  what the kernel is given, how exact it must be, and for which sizes")
        console.print(f"  {files[1]}  the kernel, with its launch in the first line")
        console.print(f"  {files[2]}  what it must compute, in NumPy")

    emit({"task": task.name, "folder": str(folder), "files": files}, as_json=as_json, render=render)
