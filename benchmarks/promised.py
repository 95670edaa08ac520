"""`make bench ARGS=promised`: what findings promise against what is gained, over kernels that have a better version.

For each kernel: its first finding, the gain that it estimates, the gain of `what_if` (that cause taken out of the time
model) and the simulated gain of the better version beside it. Kernels are those of `tasks` with a `faster/` version, of
`examples/kernels*` with a `good.cu`, and the pairs. A version written by hand often removes more than one cause, so a
promise below it is no fault by itself; of the pairs, which differ in one cause, it is. `promised:NAME,NAME` takes some.
All times are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.findings import look
from benchmarks.pairs import load_pairs
from warpsight.errors import UsageError
from warpsight.nouns import Finding
from warpsight.session.session import Session
from warpsight.vgpu.gpus import find_gpu

ROOT = Path(__file__).parents[1]
NEAR = 1.5
GPU = "a100"  # of the pairs


class Promise(NamedTuple):
    """One kernel: the finding, what it promises, what taking the cause away simulates, and what was gained."""

    kind: str
    name: str
    cause: str
    promised: float
    without: float | None
    gained: float

    @property
    def error(self) -> float:
        return abs(self.promised / self.gained - 1)

    @property
    def near(self) -> bool:
        return 1 / NEAR <= self.promised / self.gained <= NEAR


def of_kernel(kind: str, folder: Path, better: list[Path]) -> Promise | None:
    """A task folder; the fastest of its better versions counts."""
    with Session(folder, cores=1) as session:
        before = session.foretold_us()
        times = [session.foretold_us(session.candidate(one.read_text())) for one in better]
        after = min((one for one in times if one), default=None)
        findings = session.diagnose()
        if before is None or after is None:
            return None
        cause, promised = _first(findings)
        return Promise(kind, folder.name, cause, promised, _without(session, cause), before / after)


def _without(session: Session, cause: str) -> float | None:
    try:
        return session.what_if(cause).gain
    except UsageError:
        return None


def _first(findings: tuple[Finding, ...]) -> tuple[str, float]:
    first = next((one for one in findings if one.estimated_gain), None)
    return ("nothing", 1.0) if first is None else (first.name, first.estimated_gain or 1.0)


def promises(names: list[str]) -> Iterator[Promise]:
    """One kernel after another."""

    def wanted(name: str) -> bool:
        return not names or name in names

    roots = sorted((ROOT / "examples").glob("kernels*"))
    sets = {"tasks", "pairs", *(root.name for root in roots)} & set(names)  # others are not opened
    for root in [one for one in roots if not sets or one.name in sets]:
        for folder in sorted(one.parent for one in root.glob("*/good.cu")):
            if wanted(folder.name) or root.name in names:
                found = of_kernel(root.name, folder, [folder / "good.cu"])
                yield from [] if found is None else [found]
    for folder in sorted(file.parent for file in (ROOT / "tasks").glob("*/task.toml")):
        better = sorted(folder.glob("faster/*.cu"))
        if better and (wanted(folder.name) or "tasks" in names):
            found = of_kernel("tasks", folder, better)
            yield from [] if found is None else [found]
    for pair in load_pairs():
        if wanted(pair.name) or "pairs" in names:
            seen = look(pair, find_gpu(GPU))
            cause, promised = _first(seen.slow)
            yield Promise("pairs", pair.name, cause, promised, None, seen.real)


def main(arguments: str = "") -> None:
    """Print the table, and how far promises are from gains."""
    print(
        "| set | kernel | first finding | promised | what if | gained | off |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    found: list[Promise] = []
    for one in promises([name for name in arguments.split(",") if name]):
        found.append(one)
        without = "-" if one.without is None else f"{one.without:.2f}x"
        print(
            f"| {one.kind} | `{one.name}` | {one.cause} | {one.promised:.2f}x | {without} | {one.gained:.2f}x | "
            f"{one.error:.0%} |",
            flush=True,
        )
    for kind in dict.fromkeys(one.kind for one in found):
        print(_summary(kind, [one for one in found if one.kind == kind]))
    print(_summary("all", found))


def _summary(kind: str, found: list[Promise]) -> str:
    if not found:
        return "nothing to compare"
    errors = sorted(one.error for one in found)
    near = sum(one.near for one in found)
    simulated = [one for one in found if one.without is not None]
    close = sum(1 / NEAR <= (one.without or 1.0) / one.gained <= NEAR for one in simulated)
    what_if = f"; what_if within {NEAR}x {close} of {len(simulated)}" if simulated else ""
    return (
        f"{kind}: {len(found)} kernels, median error {errors[len(errors) // 2]:.0%}, within {NEAR}x {near} "
        f"({near / len(found):.0%}){what_if}"
    )
