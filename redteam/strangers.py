"""Run an attack that is the reference of another task: a stranger's task is checked, then a wrong kernel.

Beside `R01_x.py`, which becomes the stranger's `reference.py`, lies `R01_x.cu`: a kernel of the victim that is right
only where the stranger has damaged what computes the victim's expected values. Three questions, one process and one
cache: the stranger is checked, the wrong kernel is evaluated, the victim's own kernel is checked. Then a new process
with the same cache checks the victim's own kernel again: damaged values may not have been kept. `isolated` is right.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from redteam.entries import Attack
from redteam.kernels import TASKS, Outcome, attacked_task, told, virtual_gpu
from redteam.outside import ask
from warpsight.errors import WarpsightError
from warpsight.gate.check import check_candidate
from warpsight.gate.evaluate import evaluate
from warpsight.nouns import Task
from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.tasks import read_candidate, read_task

STRANGER = "vector_add"
TIMED = ("SAME", "SLOWER", "no_time", "faster_than_roofline", "interval_too_wide")  # it was found right, and then timed
TIMES = 2  # the stranger is checked twice: some damage is done only by a second call


def run_stranger(attack: Attack) -> Outcome:
    """The attack before its victim, in a child with a cache of its own, and what a second child finds in that cache."""
    started = time.monotonic()
    with TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        first = ask(["redteam.strangers", attack.task, attack.file], cache)
        later = ask(["redteam.strangers", attack.task], cache)
    words = [
        answer.json["found"] if answer.json else f"child_failed: {answer.text[-300:]}" for answer in (first, later)
    ]
    improved = words[0] in IMPROVEMENTS
    found = next((word for word in words if word != "isolated"), "isolated")
    return Outcome(attack, found, " then ".join(words)[:160], improved, time.monotonic() - started)


def found_here(victim: Task, attack: Path | None) -> str:
    """What is wrong after the stranger was here: a wrong kernel's decision, an honest kernel's refusal, or nothing."""
    if attack is not None:
        with TemporaryDirectory() as folder:
            _check_stranger(attack, Path(folder) / "stranger")
        text = attack.with_suffix(".cu")
        wrong = read_candidate(text.read_text(), victim, text.name)
        found, _, improved = told(evaluate(victim, wrong, read_candidate(victim.kernel, victim), virtual_gpu(victim)))
        print(f"the wrong kernel: {found}", file=sys.stderr)
        if improved or found in TIMED:
            return found
    honest = check_candidate(victim, read_candidate(victim.kernel, victim), virtual_gpu(victim))
    return "isolated" if honest.verdict == "right" else "honest_refused"


def _check_stranger(attack: Path, folder: Path) -> None:
    """Read and check the stranger's task. It may fail as it likes: only what it leaves behind matters."""
    folder.mkdir()
    for file in (TASKS / STRANGER).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "reference.py").write_text(attack.read_text())
    for _ in range(TIMES):
        try:
            stranger = read_task(folder)
            check_candidate(stranger, read_candidate(stranger.kernel, stranger), virtual_gpu(stranger))
        except WarpsightError:
            continue


def main(name: str, attack: str = "") -> None:
    try:
        found = found_here(attacked_task(name), Path(attack) if attack else None)
    except WarpsightError as refused:  # the victim cannot be judged at all any more
        found = f"honest_refused: {refused}"[:160]
    print(json.dumps({"found": found.partition(":")[0], "detail": found.partition(": ")[2]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
