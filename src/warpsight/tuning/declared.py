"""`tune.toml`: what may vary in a kernel, said by a person. It stands beside task.toml, or is given with --space.

    rules = ["BM % TM == 0"]
    [parameters]
    BM = [32, 64, 128]
    TM = [2, 4, 8]
    [launch]
    grid = ["ceil(N/BM)"]
    block = ["BM / TM"]

With a launch, the parameters are all that varies. Without one, the launch is read from the kernel and the file only
says other values. What must stay true: whatever is wrong in the file is one TaskError with its key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NoReturn

from pydantic import Field, ValidationError

from warpsight.errors import TaskError, UsageError
from warpsight.nouns import Candidate, Launch, Task
from warpsight.nouns.base import Identifier, Noun
from warpsight.tasks.expressions import RESERVED_NAMES, ExpressionError, parse_expression
from warpsight.tuning.constants import named_constants
from warpsight.tuning.infer import inferred_space
from warpsight.tuning.launches import check_rule
from warpsight.tuning.records import Parameter, SearchSpace, Whole

FILE_NAME = "tune.toml"
Values = Annotated[tuple[Whole, ...], Field(min_length=1)]
Three = Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]


class _LaunchPart(Noun):
    grid: Three
    block: Three
    shared: str = "0"


class _SpaceFile(Noun):
    """The file as it is written."""

    parameters: dict[Identifier, Values] = Field(default_factory=dict[str, tuple[int, ...]])
    launch: _LaunchPart | None = None
    rules: tuple[str, ...] = ()


def space_of(
    task: Task, candidate: Candidate, file: Path | None, changes: Mapping[str, tuple[int, ...]]
) -> SearchSpace:
    """The space of a kernel: from `file`, else from the task's own tune.toml, else from the text; then `changes`."""
    beside = task.folder / FILE_NAME
    chosen = file or (beside if beside.is_file() else None)
    if file is None and chosen is not None and (lacks := _other_kernel(task, candidate, chosen)):
        space, told = inferred_space(task, candidate), f"{FILE_NAME} is for a kernel with {lacks}, so it was not used"
        return _changed(space.model_copy(update={"notes": (*space.notes, told)}), candidate, changes)
    space = inferred_space(task, candidate) if chosen is None else read_space(task, candidate, chosen)
    return _changed(space, candidate, changes)


def _other_kernel(task: Task, candidate: Candidate, path: Path) -> str:
    """The constants that the file is about and that the task's own kernel has, but this one does not."""
    own, here = named_constants(task.kernel), named_constants(candidate.source)
    return ", ".join(name for name in _read(path).parameters if name in own and name not in here)


def read_space(task: Task, candidate: Candidate, path: Path) -> SearchSpace:
    """The space that a file declares."""
    written = _read(path)
    known = {name: one.value for name, one in named_constants(candidate.source).items()}
    axes = frozenset(axis.name for axis in task.axes)
    for name in written.parameters:
        if name in axes or name in RESERVED_NAMES:
            _wrong(path, f"parameters.{name}", "a name that is no axis and no word of a launch", repr(name))
    if written.launch is None:
        space = _changed(inferred_space(task, candidate), candidate, written.parameters)
        space = space.model_copy(update={"rules": (*space.rules, *written.rules), "origin": path.name})
    else:
        listed = tuple(
            Parameter(
                name=name,
                values=tuple(dict.fromkeys(values)),
                given=known.get(name),
                constant=name in known,
                about=f"in {path.name}",
            )
            for name, values in written.parameters.items()
        )
        space = SearchSpace(parameters=listed, launch=_launch(written.launch), rules=written.rules, origin=path.name)
    _check(space, axes, path)
    return space


def _changed(space: SearchSpace, candidate: Candidate, changes: Mapping[str, tuple[int, ...]]) -> SearchSpace:
    """With other values for some parameters; a constant of the text that was none becomes one."""
    if not changes:
        return space
    known = named_constants(candidate.source)
    found = {parameter.name: parameter for parameter in space.parameters}
    for name, values in changes.items():
        if name in found:
            found[name] = found[name].model_copy(update={"values": tuple(dict.fromkeys(values))})
        elif name in known:
            found[name] = Parameter(
                name=name, values=tuple(dict.fromkeys(values)), given=known[name].value, constant=True,
                about=f"a constant, line {known[name].line}",
            )  # fmt: skip
        else:
            names = ", ".join((*found, *(n for n in known if n not in found))) or "none"
            raise UsageError(f"expected a parameter of this kernel, found {name!r}", hint=f"there are: {names}")
    return space.model_copy(update={"parameters": tuple(found.values())})


def _read(path: Path) -> _SpaceFile:
    try:
        return _SpaceFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"expected a space to search in {path}: {problem}") from None
    except tomllib.TOMLDecodeError as problem:
        _wrong(path, "the file", "TOML", str(problem))
    except ValidationError as problem:
        first = problem.errors()[0]
        _wrong(path, ".".join(map(str, first["loc"])), "what `warpsight docs tune` describes", first["msg"])


def _launch(part: _LaunchPart) -> Launch:
    grid, block = (*part.grid, "1", "1")[:3], (*part.block, "1", "1")[:3]
    return Launch(grid=(grid[0], grid[1], grid[2]), block=(block[0], block[1], block[2]), shared=part.shared)


def _check(space: SearchSpace, axes: frozenset[str], path: Path) -> None:
    """Every expression is over axes and parameters, and every parameter is somewhere in the kernel."""
    names = frozenset(parameter.name for parameter in space.parameters)
    keyed = [("launch.grid", e) for e in space.launch.grid] + [("launch.block", e) for e in space.launch.block]
    for key, expression in [*keyed, ("launch.shared", space.launch.shared)]:
        try:
            parse_expression(expression, axes | names)
        except ExpressionError as error:
            _wrong(path, key, error.expected, error.found)
    for rule in space.rules:
        try:
            check_rule(rule, names)
        except ExpressionError as error:
            _wrong(path, "rules", error.expected, error.found)
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join((*space.launch.grid, *space.launch.block, space.launch.shared))))
    for parameter in space.parameters:
        if not parameter.constant and parameter.name not in used:
            expected = "a constant of the kernel, or a name that the launch uses"
            _wrong(path, f"parameters.{parameter.name}", expected, "neither")


def _wrong(path: Path, key: str, expected: str, found: str) -> NoReturn:
    raise TaskError(
        file=str(path), key=key, expected=expected, found=found, hint="`warpsight docs tune` has the format"
    )
