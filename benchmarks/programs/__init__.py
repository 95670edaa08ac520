"""HeCBench's programs, unmodified, on the virtual GPU: `programs:PATH` with the path of a checkout, then words.

`run` (or nothing): compiled, ended, own check passed, stopped and why; `profile`: kernels by machine code, findings;
`measured=DATA.csv.gz`: the same beside a real card's numbers; `check`: faults that `--check` reports.
`ended` profiles those alone that a run has shown to end, the shortest first.
`programs:samples=PATH` runs NVIDIA's cuda-samples by name, `programs:speed` needs no checkout.
`n=40` takes so many, `cpu=20` the processor seconds for one run, `arguments=makefile` their own instead of reduced
ones, `again=stopped+too long` runs these outcomes again with today's code, `older` all that another commit has run,
`only=NAME+NAME` some, `for=300` starts none after so many seconds, `show` runs none: it prints the table.
Programs come in a random order with a fixed seed, so what is finished is a fair sample. Rows go to build/ as they
come, and a second run goes on there. `keep` writes them to results/programs-rows.jsonl too, without words of the
programs; a run goes on from there as well.
"""

from __future__ import annotations

import math
import random
import shlex
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.programs import against, checked, outcomes, profiled, samples, speed
from benchmarks.programs.rows import Row, Rows

SEED = 20
BUILD = Path("build")
KEPT = Path("results/programs-rows.jsonl")


@dataclass(frozen=True)
class Asked:
    """What the words after the section's name say."""

    source: Path
    words: dict[str, str]

    @staticmethod
    def of(argument: str) -> Asked | None:
        first, *words = argument.split(",")
        pairs = (word.partition("=") for word in words)
        return Asked(Path(first) / "src", {name: value for name, _, value in pairs}) if first else None

    def programs(self, known: Container[str] | None = None) -> list[str]:
        """Their names in the order of the sample; with `known`, of those alone."""
        names = sorted(path.name for path in self.source.glob("*-cuda") if path.is_dir())
        random.Random(SEED).shuffle(names)
        names = [name for name in names if known is None or name in known]
        if "only" in self.words:
            names = [name for name in names if name in self.words["only"].split("+")]
        return names[: int(self.words.get("n", len(names)))]

    def rows(self, name: str, key: Callable[[Row], tuple[str, ...]], kept: Path | None = None) -> Rows:
        again = frozenset(filter(None, self.words.get("again", "").split("+")))
        return Rows(BUILD / name, key, kept=kept, again=again, older="older" in self.words)

    def ran(self) -> Rows:
        return self.rows("programs.jsonl", lambda row: (row["program"], row["way"]), KEPT)

    @property
    def most_s(self) -> float:
        return float(self.words.get("cpu", 20))


def main(argument: str = "") -> None:
    """Run what is left, then print the table."""
    if argument == "speed":
        speed.main()
        return
    if argument.startswith("samples="):
        some(argument)
        return
    asked = Asked.of(argument)
    if asked is None:
        print("left out: name a checkout of HeCBench, programs:PATH")
    elif "check" in asked.words:
        check(asked)
    elif "measured" in asked.words or "profile" in asked.words:
        profile(asked)
    else:
        run(asked)


def some(argument: str) -> None:
    """Samples by name."""
    path, _, more = argument.removeprefix("samples=").partition(",")
    asked = Asked(
        Path(path), {name: value for name, _, value in (word.partition("=") for word in more.split(",") if word)}
    )
    rows = asked.rows("samples.jsonl", lambda row: (row["program"],))
    only = asked.words.get("only", "").split("+") if "only" in asked.words else None
    wanted = (row for row in samples.wanted() if only is None or row["program"] in only)
    work(asked, rows, wanted, lambda row: samples.tried(asked.source, row, asked.most_s))
    samples.show(list(rows.of((row["program"],) for row in samples.wanted())))


def run(asked: Asked) -> None:
    way = asked.words.get("arguments", "reduced")
    rows, names = asked.ran(), asked.programs()
    wanted = ({"program": name, "way": way, "limit_s": asked.most_s} for name in names)
    work(asked, rows, wanted, lambda row: outcomes.tried(asked.source / row["program"], way, asked.most_s))
    if "keep" in asked.words:
        rows.keep(outcomes.without_words)
    outcomes.show(list(rows.of((name, way) for name in names)), asked.source)


def check(asked: Asked) -> None:
    """Programs that are known to end without a check first, with the arguments of that run; then others, made small."""
    ended = asked.ran().found
    known = {row["program"]: row for row in ended.values() if row["way"] == "reduced"}
    names = [name for name in asked.programs() if name not in known or checked.fits(known[name])]
    names.sort(key=lambda name: name not in known)
    names = names[: int(asked.words.get("most", len(names)))]
    rows = asked.rows("checked.jsonl", lambda row: (row["program"],))

    def arguments(name: str) -> list[str]:
        own = outcomes.arguments_of(asked.source / name)
        return known[name]["arguments"] if name in known else outcomes.reduced(own, 16)

    wanted = ({"program": name, "arguments": arguments(name)} for name in names)
    work(asked, rows, wanted, lambda row: checked.checked(
        asked.source / row["program"], row["arguments"], asked.most_s
    ))  # fmt: skip
    checked.show(list(rows.found.values()))


def profile(asked: Asked) -> None:
    rows = asked.rows("profiled.jsonl", lambda row: (row["program"], row["arguments"]))
    names = asked.programs()
    launches: list[dict[str, str]] = []
    if "measured" in asked.words:
        data = Path(asked.words["measured"])
        if not data.is_file():
            print(f"left out: there is no {data}")
            return
        launches = profiled.measured_launches(data)
        place = {name: number for number, name in enumerate(names)}
        wanted = sorted((one for one in profiled.wanted(launches) if one[0] in place), key=lambda one: place[one[0]])
    elif "ended" in asked.words:
        ran = asked.ran().found.values()
        there = {row["program"] for row in rows.found.values() if row["outcome"] == "profiled"}
        known = {row["program"]: row for row in ran if checked.fits(row) and row["program"] not in there}
        names = sorted(asked.programs(known), key=lambda name: known[name]["warp_instructions"])
        wanted = [(name, shlex.join(known[name]["arguments"])) for name in names]
    else:
        wanted = [(name, " ".join(outcomes.reduced(outcomes.arguments_of(asked.source / name), 1))) for name in names]
    work(asked, rows, ({"program": name, "arguments": words} for name, words in wanted), lambda row: profiled.profiled(
        asked.source / row["program"], row["arguments"], asked.most_s
    ))  # fmt: skip
    done = list(rows.found.values())
    profiled.show(done)
    if "measured" in asked.words:
        against.show(*against.beside(done, launches), done)


def work(asked: Asked, rows: Rows, wanted: Iterator[Row], run_one: Callable[[Row], Row]) -> None:
    """All that is wanted and not there yet."""
    started = time.monotonic()
    for row in wanted:
        if "show" in asked.words or not rows.wanted(row):
            continue
        if time.monotonic() - started > float(asked.words.get("for", math.inf)):
            break
        began = time.monotonic()
        done: Row = row | run_one(row) | {"wall_s": round(time.monotonic() - began, 1)}
        rows.add(done)
        print(f"{done['program']}: {done['outcome']} {done['reason'][:90]} ({done['wall_s']:.0f} s)", flush=True)
