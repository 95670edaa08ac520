"""Run an attack that is a KernelBench candidate, by the command a user types. Needs PyTorch.

Right and faster than the margin below is an improvement: none of these does the work any faster. `rejected` is any
verdict but right; `not_faster` is a right one without a gain. Times are measured here, so the margin is wide.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from redteam.entries import KERNELBENCH, Attack
from redteam.kernels import Outcome
from redteam.outside import ask

MARGIN = 1.3  # two threads or a busy neighbour give less; what is not computed gives far more
SAMPLES = "5"


def run_bench(attack: Attack) -> Outcome:
    """The candidate against the problem in its folder."""
    started = time.monotonic()
    words = ["import", "kernelbench", KERNELBENCH / "problem.py", "--run", attack.file, "--samples", SAMPLES, "--json"]
    with TemporaryDirectory() as folder:
        answer = ask([str(word) for word in words], Path(folder) / "cache")
    attempts = answer.json.get("attempts") if answer.json else None
    tried = attempts[0] if attempts else None
    if tried is None:
        return Outcome(attack, "no_answer", answer.text[-160:], False, time.monotonic() - started)
    faster = tried["verdict"] == "right" and (tried.get("speedup") or 0.0) > MARGIN
    found = "faster" if faster else "not_faster" if tried["verdict"] == "right" else "rejected"
    detail = f"{tried['verdict']} {tried['reason']} {tried.get('speedup')}"
    return Outcome(attack, found, detail[:160], faster, time.monotonic() - started)
