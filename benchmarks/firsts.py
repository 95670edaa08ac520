"""`make bench ARGS=firsts`: kernels as people write them first, made faster by the default search with no model.

For each folder with a `good.cu` beside its kernel: the speed-up that the guided search reaches, that of the version
written by hand, and the share of the hand-written log speed-up. All times are simulated, on the task's GPU.
`ARGS=firsts:FOLDER` takes another folder, `ARGS=firsts:FOLDER,NAME,NAME` some kernels of it.
"""

from __future__ import annotations

import math
import resource
from pathlib import Path
from typing import NamedTuple

from warpsight.session.guided import GuidedSearch
from warpsight.session.session import Session

FOLDER = Path(__file__).parents[1] / "examples" / "kernels"
CONTROL = 1.05  # a hand-written version that gains less is a control: there is nothing to find


class FirstResult(NamedTuple):
    """One kernel: what was reached, what a person reached, and how."""

    name: str
    reached: float
    by_hand: float
    steps: tuple[str, ...]
    wrong: bool
    seconds: float

    @property
    def share(self) -> float | None:
        """Of the hand-written log speed-up; None of a control."""
        return math.log(self.reached) / math.log(self.by_hand) if self.by_hand >= CONTROL else None


def measure_first(folder: Path) -> FirstResult:
    """The search on one kernel."""
    before = _cpu_seconds()
    with Session(folder, cores=1) as session:
        found = session.rewrite_guided()
        good = session.candidate((folder / "good.cu").read_text())
        given, hand = session.foretold_us(session.given), session.foretold_us(good)
        steps = tuple(f"{one.cause}: {one.rewrite.name} ({one.ratio:.2f}x)" for one in found.steps)
        by_hand = given / hand if given and hand else 1.0
        return FirstResult(folder.name, _reached(found), by_hand, steps, _wrong(found), _cpu_seconds() - before)


def _reached(found: GuidedSearch) -> float:
    return 1.0 if found.winner is None or found.winner.ratio is None else found.winner.ratio


def _wrong(found: GuidedSearch) -> bool:
    """Whether what was handed out is not right: never, since the gate decides."""
    evaluation = None if found.winner is None else found.winner.evaluation
    return evaluation is not None and evaluation.check.verdict != "right"


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(arguments: str = "") -> None:
    """Print the table, and the geometric means."""
    place, *names = arguments.split(",") if arguments else [""]
    root = Path(place) if place else FOLDER
    folders = [
        one for one in sorted(root.iterdir()) if (one / "good.cu").is_file() and (not names or one.name in names)
    ]
    results: list[FirstResult] = []
    print("| kernel | reached | by hand | share of log | CPU s | steps |\n|---|---|---|---|---|---|", flush=True)
    for folder in folders:
        one = measure_first(folder)
        results.append(one)
        share = "-" if one.share is None else f"{one.share:.2f}"
        steps = "; ".join(one.steps) or "nothing"
        print(
            f"| `{one.name}` | {one.reached:.2f}x | {one.by_hand:.2f}x | {share} | {one.seconds:.0f} | {steps} |",
            flush=True,
        )
    if results:
        print(_summary(results), flush=True)


def _summary(results: list[FirstResult]) -> str:
    real = [one for one in results if one.share is not None]
    means = [math.exp(sum(map(math.log, each)) / len(results)) for each in (
        [one.reached for one in results], [one.by_hand for one in results],
    )]  # fmt: skip
    logs = sum(math.log(one.reached) for one in real), sum(math.log(one.by_hand) for one in real)
    shares = sorted(one.share or 0.0 for one in real)
    return (
        f"\n{len(results)} kernels, geometric mean {means[0]:.2f}x, by hand {means[1]:.2f}x; of the hand-written log "
        f"speed-up {logs[0] / logs[1]:.0%} (median of the kernels {shares[len(shares) // 2]:.0%}, {len(real)} kernels, "
        f"{len(results) - len(real)} controls); wrong: {sum(one.wrong for one in results)}"
    )
