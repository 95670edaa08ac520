"""GPU MODE problems (`task.yml`): files, tests, benchmarks, how submissions are ranked. Read only, nothing is run.

The evaluation of such a problem is Python on a GPU; what is read here is what a person or a model needs to know of it,
and which of its sizes a kernel would be checked and timed on. YAML is read by its safe loader.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from warpsight.errors import ToolMissing
from warpsight.nouns.base import Noun
from warpsight.tasks.importers.records import CannotImport, Import, existing, import_all, read_text, shown_path

SUBMISSION = "@SUBMISSION@"
Case = dict[str, int | float | str | bool | tuple[int | float | str, ...]]


class GpuModeFile(Noun):
    """One file of the evaluation: its name there, and where it comes from; the submission comes from outside."""

    name: str
    source: str
    there: bool


class GpuModeTask(Noun):
    """One problem. `cases` that vary in size are its axes; tests say what is right, benchmarks what is timed."""

    name: str
    file: str
    language: str
    description: str
    main: str
    files: tuple[GpuModeFile, ...]
    templates: dict[str, str]
    tests: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    ranking: Literal["last", "mean", "geom"]
    gpus: tuple[str, ...]
    test_timeout_s: float | None
    benchmark_timeout_s: float | None
    ranked_timeout_s: float | None
    axes: tuple[str, ...]
    notes: tuple[str, ...]


def read_gpumode(path: Path) -> Import[GpuModeTask]:
    """The problem in a `task.yml`, or all below a folder."""
    root = existing(path, "a GPU MODE task.yml or a folder of problems")
    files = [root] if root.is_file() else sorted([*root.rglob("task.yml"), *root.rglob("task.yaml")])
    return import_all("gpumode", root, files, lambda file: read_gpumode_task(file, root))


def read_gpumode_task(file: Path, root: Path) -> GpuModeTask:
    """One problem, or CannotImport with the reason."""
    data = _yaml(read_text(file))
    tests, benchmarks = _cases(data, "tests"), _cases(data, "benchmarks")
    if not tests and not benchmarks:
        raise CannotImport("expected tests or benchmarks, found neither")
    files = _files(data, file.parent)
    config = _object(data.get("config", {}), "config")
    fields = {
        "name": file.parent.resolve().name,
        "file": shown_path(file, root),
        "language": str(data.get("lang", "py")),
        "description": str(data.get("description", "")).strip(),
        "main": str(config.get("main", "")),
        "files": files,
        "templates": {str(k): str(v) for k, v in _object(data.get("templates") or {}, "templates").items()},
        "tests": tests,
        "benchmarks": benchmarks,
        "ranking": str(data.get("ranking_by", "last")),
        "gpus": [str(one) for one in cast(list[Any], data.get("gpus") or [])],
        "test_timeout_s": data.get("test_timeout"),
        "benchmark_timeout_s": data.get("benchmark_timeout"),
        "ranked_timeout_s": data.get("ranked_timeout"),
        "axes": _axes([*tests, *benchmarks]),
        "notes": [f"{one.name}: {one.source} is not there" for one in files if not one.there],
    }
    try:
        return GpuModeTask.model_validate(fields)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CannotImport(f"{where}: {first['msg'].lower()}, found {str(first['input'])[:100]!r}") from None


def _yaml(text: str) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise ToolMissing("task.yml is YAML, and PyYAML is not installed", hint="pip install pyyaml") from None
    try:
        data: Any = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as problem:
        raise CannotImport(f"expected YAML, found: {' '.join(str(problem).split())[:300]}") from None
    return _object(data, "the file")


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CannotImport(f"{what}: expected names and values, found {type(value).__name__}")
    return cast(dict[str, Any], value)


def _cases(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found: Any = data.get(key) or []
    if not isinstance(found, list):
        raise CannotImport(f"{key}: expected a list, found {type(found).__name__}")
    return [_object(one, f"{key}[{at}]") for at, one in enumerate(cast(list[Any], found))]


def _files(data: dict[str, Any], folder: Path) -> list[GpuModeFile]:
    found: list[GpuModeFile] = []
    for at, one in enumerate(_cases(data, "files")):
        if "name" not in one or "source" not in one:
            raise CannotImport(
                f"files[{at}]: expected a name and a source, found {', '.join(map(str, one)) or 'nothing'}"
            )
        source = str(one["source"])
        there = source == SUBMISSION or (folder / source).is_file()
        found.append(GpuModeFile(name=str(one["name"]), source=source, there=there))
    if not any(one.source == SUBMISSION for one in found):
        raise CannotImport(f"files: expected one whose source is {SUBMISSION}, found none")
    return found


def _axes(cases: list[dict[str, Any]]) -> list[str]:
    """The names that carry sizes: whole numbers, or lists of them, that are no seed."""
    names = dict.fromkeys(name for case in cases for name in case if name != "seed")
    return [name for name in names if all(_is_size(case[name]) for case in cases if name in case)]


def _is_size(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_size(one) for one in cast(list[Any], value))
    return isinstance(value, int) and not isinstance(value, bool)
