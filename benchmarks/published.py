"""Every number that a page publishes, read from results/numbers/*.toml.

A record names what was measured, its value, n, interval, how it came about, command, date and commit. The value stands
in the record, or in a file of results that the record names: by a pattern in a text, or computed from outcomes of the
bench. `python -m benchmarks.page` makes docs/results.md of them. Nothing is measured here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.outcomes import value_of_outcomes

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "results" / "numbers"
HOW = ("simulated", "measured", "replayed", "counted")
_OF_TOPIC = {"title", "order", "about", "run"}
_OF_RUN = {"command", "date", "commit", "how", "time_model", "machine", "about", "result"}
_OF_RESULT = {
    "name",
    "what",
    "value",
    "n",
    "interval",
    "how",
    "file",
    "pattern",
    "outcomes",
    "show",
    "commit",
    "time_model",
}


@dataclass(frozen=True)
class Published:
    """One number. `time_model` is empty where today's made it, or where no simulated time is in it."""

    name: str
    what: str
    value: str
    n: str
    interval: str
    how: str
    date: str
    commit: str
    time_model: str


@dataclass(frozen=True)
class Run:
    """Numbers that one command gave."""

    command: str
    machine: str
    about: str
    results: tuple[Published, ...]


@dataclass(frozen=True)
class Topic:
    title: str
    order: int
    about: str
    runs: tuple[Run, ...]


def topics(folder: Path = FOLDER) -> list[Topic]:
    """All topics, in the order that they name."""
    found = [_topic(file) for file in sorted(folder.glob("*.toml"))]
    return sorted(found, key=lambda topic: topic.order)


@cache
def published(folder: Path = FOLDER) -> dict[str, Published]:
    """All numbers by name; a name that comes twice is an error."""
    found: dict[str, Published] = {}
    for result in (one for topic in topics(folder) for run in topic.runs for one in run.results):
        if result.name in found:
            raise ValueError(f"results/numbers: expected each name once, {result.name!r} comes twice")
        found[result.name] = result
    return found


def _topic(file: Path) -> Topic:
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    _known(file, table, _OF_TOPIC)
    runs = tuple(_run(file, run) for run in table["run"])
    return Topic(table["title"], int(table["order"]), table.get("about", "").strip(), runs)


def _run(file: Path, table: Mapping[str, Any]) -> Run:
    _known(file, table, _OF_RUN)
    results = tuple(_results(file, table))
    return Run(table["command"], table.get("machine", ""), table.get("about", "").strip(), results)


def _results(file: Path, run: Mapping[str, Any]) -> Iterator[Published]:
    for table in run["result"]:
        _known(file, table, _OF_RESULT)
        given = {"n": "", "interval": "", **table, **_looked_up(table)}
        how = given.get("how", run["how"])
        if how.partition(",")[0] not in HOW:
            raise ValueError(f"{file.name}: {table['name']}: expected how to be one of {', '.join(HOW)}, found {how!r}")
        yield Published(
            name=given["name"],
            what=given["what"],
            value=str(given["value"]),
            n=str(given["n"]),
            interval=given["interval"],
            how=how,
            date=str(run["date"]),
            commit=given.get("commit", run["commit"]),
            time_model=given.get("time_model", run.get("time_model", "")),
        )


def _looked_up(table: Mapping[str, Any]) -> dict[str, str]:
    """Value, n and interval of a record that points to a file; nothing where the record has them itself."""
    if "outcomes" in table:
        return value_of_outcomes(table["outcomes"], table["show"])
    if "file" not in table:
        return {}
    text = (ROOT / table["file"]).read_text(encoding="utf-8")
    found = re.search(table["pattern"], text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{table['name']}: {table['file']} has nothing like {table['pattern']!r}")
    named = {key: value for key, value in found.groupdict().items() if value is not None}
    shaped = str(table.get("value", "{value}")).format(**named)
    return {**named, "value": shaped, "n": str(table.get("n", "{n}" if "n" in named else "")).format(**named)}


def _known(file: Path, table: Mapping[str, Any], keys: set[str]) -> None:
    if unknown := set(table) - keys:
        raise ValueError(
            f"{file.name}: expected the keys {', '.join(sorted(keys))}, found {', '.join(sorted(unknown))}"
        )
