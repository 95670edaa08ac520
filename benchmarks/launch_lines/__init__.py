"""Pairs of launch lines of one kernel whose order is known by plain reasoning, on any GPU: does the gate say the same?

`make bench ARGS=launch_lines` runs all of them through the whole gate, `launch_lines:idle` those with `idle` in the
name.
No time is stored here, and none was measured: `lines.toml` says which sign is right and why. A pair that the gate gives
no time for (REJECTED) is right only where nothing had to be faster or the same.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.evaluate import evaluate
from warpsight.nouns import Candidate, Task, Timing
from warpsight.tasks import read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu

FOLDER = Path(__file__).parent
TASKS = Path(__file__).parents[2] / "tasks"
MARGIN = 1.02  # the least that the gate calls a difference
SIGNS = ("slower", "not faster", "same", "not slower", "faster")
_LAUNCH = re.compile(r"^// launch: .*$", re.MULTILINE)


@dataclass(frozen=True)
class LaunchPair:
    """Two launch lines of one text; `sign` says what the second is, measured against the first.

    A ratio below `least` is wrong too: idle blocks are not faster, and they do not cost what working ones do either.
    """

    name: str
    task: str
    candidate: str
    sign: str
    why: str
    baseline: str = ""
    kernel: str = ""
    least: float = 0.0

    def __post_init__(self) -> None:
        if self.sign not in SIGNS:
            raise ValueError(f"{self.name}: expected one of {', '.join(SIGNS)}, found {self.sign!r}")

    def candidates(self, task: Task) -> tuple[Candidate, Candidate]:
        """The kernel with the first and with the second line. Without a first one the text keeps its own."""
        text = (FOLDER / self.kernel).read_text() if self.kernel else task.kernel
        first = _LAUNCH.sub(f"// launch: {self.baseline}", text, count=1) if self.baseline else text
        second = _LAUNCH.sub(f"// launch: {self.candidate}", text, count=1)
        return read_candidate(first, task), read_candidate(second, task)


def load_lines() -> list[LaunchPair]:
    found = tomllib.loads((FOLDER / "lines.toml").read_text())
    return [LaunchPair(name=name, **fields) for name, fields in found.items()]


def agrees(sign: str, ratio: float) -> bool:
    """Does `ratio`, time of the first over time of the second, have this sign?"""
    return {
        "slower": ratio < 1 / MARGIN,
        "not faster": ratio < MARGIN,
        "same": 1 / MARGIN < ratio < MARGIN,
        "not slower": ratio > 1 / MARGIN,
        "faster": ratio > MARGIN,
    }[sign]


def compare_lines(pair: LaunchPair) -> Timing:
    """What the whole gate says of the pair. A kernel that is not right is a mistake of ours."""
    task = read_task(TASKS / pair.task)
    baseline, candidate = pair.candidates(task)
    found = evaluate(task, candidate, baseline, VirtualGpu(cores=2, gpu=find_gpu(task.gpu), deadline_seconds=60.0))
    if found.timing is None:
        raise ValueError(f"{pair.name}: {found.check.verdict}: {found.check.reason}")
    return found.timing


def is_right(pair: LaunchPair, timing: Timing) -> bool:
    if timing.decision == "REJECTED" or timing.ratio is None:
        return pair.sign in ("slower", "not faster") and not pair.least
    if timing.decision == "AMBIGUOUS":  # nothing is claimed
        return pair.sign in ("slower", "not faster") and timing.ratio >= pair.least
    return agrees(pair.sign, timing.ratio) and timing.ratio >= pair.least


def main(word: str = "") -> None:
    pairs = [pair for pair in load_lines() if word in pair.name]
    right = 0
    for pair in pairs:
        timing = compare_lines(pair)
        good = is_right(pair, timing)
        right += good
        ratio = "     -" if timing.ratio is None else f"{timing.ratio:6.3f}"
        said = timing.reason or timing.decision or ""
        bound = f">= {pair.least:.2f}" if pair.least else ""
        print(f"  {pair.name:32} {pair.sign:11} {bound:8} {ratio} {said:22} {'ok' if good else 'WRONG'}", flush=True)
    print(f"  of {len(pairs)} pairs of launch lines {right} have the known sign (simulated)")
