"""Kernels as people write them first, each against the good version beside it (`good.cu`), through the whole gate.

`make bench ARGS=goods` runs all of `examples/kernels` and writes what came out to `good.toml` there, and the speed-ups
into the table of its README. `goods:NAME,NAME` runs only these and leaves the rest of the record as it is;
`goods:FOLDER` (with a /) takes another folder of kernels. The seed is fixed, so the numbers are the same on every
machine. Times are simulated.
"""

from __future__ import annotations

import re
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warpsight as ws
from benchmarks.kernels import geometric_mean

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
SEED = 27
IMPROVED = ("FASTER", "LIKELY_FASTER")
HEAD = """\
# What `python -m benchmarks goods{ARGUMENT}` found: kernel.cu against good.cu of each folder, by the whole gate.
# Times in microseconds are simulated on the GPU of the task. Written by that command; do not edit.
"""


@dataclass(frozen=True)
class Good:
    """What the gate said of one pair. Where there is no time, `why` says what was wrong."""

    name: str
    gpu: str
    decision: str
    first_us: float = 0.0
    good_us: float = 0.0
    likely: tuple[float, float] = (0.0, 0.0)
    bounds: tuple[str, str] = ("", "")
    why: str = ""

    @property
    def is_better(self) -> bool:
        return self.decision in IMPROVED

    @property
    def speed_up(self) -> float:
        return round(self.first_us / self.good_us, 2) if self.good_us else 0.0

    def as_toml(self) -> str:
        low, high = self.likely
        return (
            f'\n[{self.name}]\ngpu = "{self.gpu}"\ndecision = "{self.decision}"\n'
            f"first_us = {self.first_us:.2f}\ngood_us = {self.good_us:.2f}\nspeed_up = {self.speed_up:.2f}\n"
            f"likely = [{low:.2f}, {high:.2f}]\n"
            f'first_bound = "{self.bounds[0]}"\ngood_bound = "{self.bounds[1]}"\n'
        )


def folders(root: Path = KERNELS) -> list[Path]:
    return sorted(file.parent for file in root.glob("*/task.toml"))


def judge(folder: Path, seed: int = SEED) -> Good:
    """Both texts are checked: beating a wrong kernel means nothing."""
    with ws.Session(folder) as session:
        gpu = session.task.gpu
        first = session.check()
        if first.verdict != "right":
            return Good(folder.name, gpu, "WRONG", why=f"kernel.cu: {first.reason}")
        found = session.compare((folder / "good.cu").read_text(), seed=seed)
    timing = found.timing
    if timing is None or timing.decision is None:
        return Good(folder.name, gpu, "WRONG", why=f"good.cu: {found.check.reason}")
    likely = timing.likelihood
    return Good(
        folder.name,
        gpu,
        timing.decision,
        first_us=round(timing.baseline_us[0], 2) if timing.baseline_us else 0.0,
        good_us=round(timing.time_us or 0.0, 2),
        likely=timing.interval or (0.0, 0.0),
        bounds=("", "") if likely is None else (likely.baseline_bound, likely.candidate_bound),
        why=f"{timing.reason} {timing.detail}".strip(),
    )


def recorded(root: Path = KERNELS) -> dict[str, dict[str, Any]]:
    """What earlier runs wrote."""
    return tomllib.loads((root / "good.toml").read_text())


def of_record(name: str, row: dict[str, Any]) -> Good:
    """A pair as it was written."""
    bounds = (row["first_bound"], row["good_bound"])
    likely = (row["likely"][0], row["likely"][1])
    return Good(name, row["gpu"], row["decision"], row["first_us"], row["good_us"], likely, bounds)


def write(root: Path, found: list[Good]) -> None:
    """`good.toml`, and the last column of the table in README.md."""
    argument = "" if root == KERNELS else f":examples/{root.name}"
    (root / "good.toml").write_text(HEAD.format(ARGUMENT=argument) + "".join(good.as_toml() for good in found))
    readme = root / "README.md"
    text = readme.read_text()
    for good in found:
        row = re.compile(rf"^(\| `{good.name}` \|.*\|)[^|]*\|$", re.MULTILINE)
        text = row.sub(lambda m, good=good: f"{m[1]} {good.speed_up:.1f}x |", text)
    readme.write_text(text)


def main(argument: str = "") -> None:
    words = [word for word in argument.split(",") if word]
    root = Path(words.pop(0)).resolve() if words and "/" in words[0] else KERNELS
    chosen = [root / word for word in words] or folders(root)
    print(f"{'kernel':22} {'gpu':12} {'decision':14} {'first us':>9} {'good us':>8} {'x':>7} {'CPU s':>6}  bounds, why")
    found: list[Good] = []
    for folder in chosen:
        start = time.process_time()
        good = judge(folder)
        found.append(good)
        print(
            f"{good.name:22} {good.gpu:12} {good.decision:14} {good.first_us:9.1f} {good.good_us:8.1f} "
            f"{good.speed_up:7.2f} {time.process_time() - start:6.1f}  {' -> '.join(good.bounds)} {good.why}",
            flush=True,
        )
    better = [good for good in found if good.is_better]
    print(f"{len(better)} of {len(found)} good versions are faster", end="")
    print(f", {geometric_mean([good.speed_up for good in better]):.2f}x in the geometric mean" if better else "")
    kept = [] if not words else [of_record(name, row) for name, row in recorded(root).items() if name not in words]
    write(root, sorted([*kept, *found], key=lambda good: good.name))
    print(f"written: {root / 'good.toml'}")
