"""Reads flashinfer-trace: a whole data set (definitions, solutions, workloads, traces), or one file of it.

A file that breaks the format is refused with its line and reason; a solution or trace of a definition that is not there
is refused too. Nothing is run: references and sources are texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from warpsight.nouns.base import Noun
from warpsight.tasks.importers.flashinfer.schema import Definition, FlashinferRecord, FlashinferTrace, Solution
from warpsight.tasks.importers.records import CannotImport, Import, NotImported, existing, read_text, shown_path

Kind = TypeVar("Kind", bound=FlashinferRecord)
MAX_LINES = 100_000


class FlashinferEntry(Noun):
    """A definition and all that belongs to it."""

    name: str
    file: str
    definition: Definition
    solutions: tuple[Solution, ...] = ()
    workloads: tuple[FlashinferTrace, ...] = ()
    traces: tuple[FlashinferTrace, ...] = ()


@dataclass
class _Found:
    definitions: dict[str, tuple[str, Definition]] = field(default_factory=dict[str, tuple[str, Definition]])
    solutions: list[tuple[str, Solution]] = field(default_factory=list[tuple[str, Solution]])
    traces: list[tuple[str, FlashinferTrace]] = field(default_factory=list[tuple[str, FlashinferTrace]])
    refused: list[NotImported] = field(default_factory=list[NotImported])


def read_flashinfer(path: Path) -> Import[FlashinferEntry]:
    """The entries of a data set, a folder, or a file."""
    root = existing(path, "a flashinfer-trace data set, a folder or a .json or .jsonl file of one")
    files = [root] if root.is_file() else sorted([*root.rglob("*.json"), *root.rglob("*.jsonl")])
    found = _Found()
    for file in files:
        _read_file(file, shown_path(file, root), found)
    _refuse_orphans(found)
    return Import("flashinfer", tuple(_entries(found)), tuple(found.refused))


def _read_file(file: Path, shown: str, found: _Found) -> None:
    try:
        text = read_text(file)
        if file.suffix == ".jsonl":
            for number, data in _lines(text, shown, found):
                _take(data, f"{shown}:{number}", found)
        else:
            _take(_parsed(text), shown, found)
    except CannotImport as problem:
        found.refused.append(NotImported(file=shown, reason=str(problem)))


def _take(data: Any, shown: str, found: _Found) -> None:
    """Sort one object by what it has: traces have a workload, solutions a spec, definitions a reference."""
    if not isinstance(data, dict):
        raise CannotImport(f"expected an object, found {type(data).__name__}")
    known = cast(dict[str, Any], data)
    try:
        if "workload" in known:
            found.traces.append((shown, _valid(FlashinferTrace, known)))
        elif "spec" in known or "sources" in known:
            found.solutions.append((shown, _valid(Solution, known)))
        elif "reference" in known or "axes" in known:
            definition = _valid(Definition, known)
            if definition.name in found.definitions:
                raise CannotImport(f"a second definition called {definition.name!r}")
            found.definitions[definition.name] = (shown, definition)
        else:
            raise CannotImport(f"expected a definition, a solution or a trace, found the keys {', '.join(known)[:200]}")
    except CannotImport as problem:
        found.refused.append(NotImported(file=shown, reason=str(problem)))


def _valid(kind: type[Kind], data: dict[str, Any]) -> Kind:
    try:
        return kind.model_validate(data)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        told = first["msg"].removeprefix("Value error, ")
        raise CannotImport(f"{kind.__name__}{'.' if where else ''}{where}: {told}") from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise CannotImport(f"expected JSON, found: {problem}") from None


def _lines(text: str, shown: str, found: _Found) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.splitlines()[:MAX_LINES], start=1):
        if line.strip():
            try:
                yield number, _parsed(line)
            except CannotImport as problem:
                found.refused.append(NotImported(file=f"{shown}:{number}", reason=str(problem)))


def _refuse_orphans(found: _Found) -> None:
    for shown, one in (*found.solutions, *found.traces):
        if one.definition not in found.definitions:
            reason = f"belongs to the definition {one.definition!r}, which is not here"
            found.refused.append(NotImported(file=shown, reason=reason))


def _entries(found: _Found) -> Iterator[FlashinferEntry]:
    for name, (shown, definition) in sorted(found.definitions.items()):
        traces = [one for _, one in found.traces if one.definition == name]
        yield FlashinferEntry(
            name=name,
            file=shown,
            definition=definition,
            solutions=tuple(one for _, one in found.solutions if one.definition == name),
            workloads=tuple(one for one in traces if one.solution is None),
            traces=tuple(one for one in traces if one.solution is not None),
        )
