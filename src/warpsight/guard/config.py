"""`warpsight.toml`: which kernels and programs are guarded, on which GPUs, and how much slower one may get. Only reads.

Paths in it are from the folder that it is in, and stay inside it: a pull request may change this file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, cast

from pydantic import Field, ValidationError

from warpsight.errors import UsageError
from warpsight.nouns import Noun

FILE = "warpsight.toml"
BASELINE = "warpsight-baseline.json"
START_HINT = "`warpsight guard init` writes one"
_PERCENT = re.compile(r"^(\d+(?:\.\d+)?)\s*%$")


class GuardedKernel(Noun):
    """One kernel of the list. `file` is the kernel where it is not the task's own."""

    task: str
    file: str = ""
    workload: str = ""
    gpus: tuple[str, ...] = ()


class GuardedProgram(Noun):
    """One whole program of the list: a .cu file or a folder that is built, what it is called with, words for make."""

    program: str = Field(min_length=1)
    arguments: tuple[str, ...] = ()
    make: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ("a100",)

    @property
    def label(self) -> str:
        return " ".join((self.program, *self.arguments))


class GuardList(Noun):
    """All of `warpsight.toml`. A kernel or program may get slower by `max_regression`, a share of its time."""

    folder: Path
    baseline: str = BASELINE
    max_regression: float = Field(default=0.03, ge=0, lt=10)
    kernels: tuple[GuardedKernel, ...] = ()
    programs: tuple[GuardedProgram, ...] = ()

    @property
    def baseline_file(self) -> Path:
        return self.folder / self.baseline


def read_list(file: Path) -> GuardList:
    """The list in this file, or in the folder of that name; a wrong one is a UsageError that says where."""
    file = file / FILE if file.is_dir() else file
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no {file}", hint=START_HINT) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise UsageError(f"{file}: {problem}") from None
    settings = cast("object", given.get("guard", {}))
    if not isinstance(settings, dict) or set(given) - {"guard", "kernel", "program"}:
        found = ", ".join(sorted(given)) or "nothing"
        raise UsageError(f"{file}: expected [guard], [[kernel]] and [[program]], found {found}")
    entries = {"kernels": given.get("kernel", []), "programs": given.get("program", [])}
    return _list_of(file, cast("dict[str, Any]", settings), entries)


def _list_of(file: Path, settings: dict[str, Any], entries: dict[str, object]) -> GuardList:
    if "max_regression" in settings:
        settings = {**settings, "max_regression": share_of(settings["max_regression"])}
    try:
        found = GuardList.model_validate({**settings, "folder": file.parent.absolute(), **entries})
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{file}: {place}: {first['msg']}", hint="see docs/guard.md for an example") from None
    if not found.kernels and not found.programs:
        raise UsageError(f"{file}: expected kernels or programs, found none", hint="see docs/guard.md for an example")
    named = (path for one in found.kernels for path in (one.task, one.file))
    for path in (found.baseline, *named, *(one.program for one in found.programs)):
        if not (found.folder / path).resolve().is_relative_to(found.folder.resolve()):
            raise UsageError(f"{file}: expected paths inside its folder, found {path}")
    names = [one.model_dump_json(exclude={"gpus"}) for one in (*found.kernels, *found.programs)]
    twice = next((at for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        one = (*found.kernels, *found.programs)[twice]
        raise UsageError(f"{file}: {one.task if isinstance(one, GuardedKernel) else one.label} is listed twice")
    return found


def share_of(text: object) -> float:
    """`3%`, or a number such as 0.03, as a share."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return float(text)
    if isinstance(text, str) and (percent := _PERCENT.match(text.strip())):
        return float(percent[1]) / 100
    raise UsageError(f'max_regression: expected a share such as "3%", found {text!r}')


def new_list(folder: Path) -> str:
    """A list of all tasks below a folder."""
    tasks = sorted(path.parent.relative_to(folder).as_posix() for path in folder.glob("**/task.toml"))
    tasks = [task for task in tasks if not any(part.startswith(".") for part in Path(task).parts)]
    if not tasks:
        hint = "`warpsight new NAME` makes a task; or list a program as docs/guard.md shows"
        raise UsageError(f"there is no task.toml below {folder}", hint=hint)
    head = f'# Kernels that must stay right and fast.\n[guard]\nmax_regression = "3%"\nbaseline = "{BASELINE}"\n'
    return head + "".join(f'\n[[kernel]]\ntask = "{task}"\n' for task in tasks)
