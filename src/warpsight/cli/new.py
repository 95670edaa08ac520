"""`warpsight new NAME`: a task folder that is complete and right, to be changed into your own.

With `--kernel FILE` it is drafted from a kernel that you have, which then says itself which results are right; with
`--numpy` you write that in NumPy. Refuses to write over anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from rich.console import Console


NUMPY_HELP = "With --kernel: leave it to you to write in NumPy what is right, instead of taking the kernel for it."


def new(
    name: Annotated[str, typer.Argument(help="Name of the task: lower-case letters, digits, - and _.")],
    into: Annotated[Path, typer.Option(help="The folder in which the task folder is made.")] = Path(),
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help="Draft the task from the kernel in FILE.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="KERNEL", help="Which kernel of FILE, by name.")] = None,
    numpy: Annotated[bool, typer.Option("--numpy", help=NUMPY_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a task folder to start from.

    \b
    Examples:
      warpsight new my_kernel
      warpsight new my_kernel --into tasks
      warpsight new my_kernel --kernel blur.cu
    """
    from warpsight.errors import UsageError
    from warpsight.tasks import read_task
    from warpsight.tasks.draft import draft_task
    from warpsight.tasks.draft_text import write_draft
    from warpsight.tasks.scaffold import new_task

    guesses: tuple[str, ...] = ()
    folder = into / name
    if kernel is None:
        if entry is not None or numpy:
            raise UsageError("expected --entry and --numpy only with --kernel", "warpsight new NAME --kernel FILE")
        new_task(folder, name)
    else:
        draft = draft_task(_text(kernel), entry)
        write_draft(folder, name, draft, numpy=numpy)
        guesses = draft.guesses
    task = read_task(folder)
    files = ["task.toml", task.kernel_file, task.reference_file]

    def render(console: Console) -> None:
        console.print(f"Made {folder}:", markup=False)
        console.print(f"  {files[0]}  what the kernel is given, how exact it must be, and for which sizes")
        console.print(f"  {files[1]}  the kernel, with its launch in the first line")
        own = kernel is not None and not numpy
        law = "the same kernel: a faster one must give its results" if own else "what it must compute, in NumPy"
        console.print(f"  {files[2]}  {law}" + ("; write it next" if numpy else ""))
        for guess in guesses:
            console.print(f"  guessed: {guess}", markup=False)

    drafted = {} if kernel is None else {"guesses": list(guesses)}
    document = {"task": task.name, "folder": str(folder), "files": files, **drafted}
    emit(document, as_json=as_json, render=render)


def _text(path: Path) -> str:
    from warpsight.errors import UsageError

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"expected a kernel in UTF-8 at {path}: {problem}") from None
