"""Programs of the driver API as their authors wrote them, on the stand-in driver: which run, and why the others do not.

`driver_api:PATH` takes the examples of a checkout of NVIDIA's cuda-python (cuda.core and cuda.bindings). With
`,python=FILE` they run in another Python, where CuPy or numba-cuda may be installed; where numba-cuda is, its own
documented examples run too. `,only=NAME+NAME` takes some, `,limit=60` ends one after so many seconds.
Nothing of them is changed. What is not of this project runs here without a jail: name a checkout that you trust.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from warpsight.programs.door import open_door

FOLDERS = ("cuda_core/examples", "cuda_bindings/examples")
NUMBA = "numba.cuda.tests.doc_examples."
NUMBA_EXAMPLES = (
    "test_vecadd", "test_matmul", "test_laplace", "test_reduction", "test_sessionize", "test_montecarlo", "test_ufunc",
    "test_globals", "test_cg", "test_random",
)  # fmt: skip
STARTED = """
import runpy, sys
import cuda.bindings
cuda.bindings.__path__.append({beside!r})  # the examples use helpers that the wheel leaves out
sys.argv.pop(0)
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""
NEEDS = (
    (r"No module named '?([\w.]+)", r"needs the package \1"),
    (r"(cudaError\w+)", r"NVIDIA's runtime inside of a package: \1"),
    (r"warpsight: (\w+) is not provided", r"\1 is not provided"),
    (r"(requires|needs|at least) .{0,40}(GPUs?|devices?|capability)", r"it asks for another GPU"),
)


def main(argument: str = "") -> None:
    """Run them and print the table."""
    first, *words = argument.split(",")
    options = {name: value for name, _, value in (word.partition("=") for word in words)}
    if not first:
        print("left out: name a checkout of cuda-python, driver_api:PATH")
        return
    python = options.get("python", sys.executable)
    found: list[tuple[str, str, str]] = []
    with open_door("a100") as driver:
        for name, command in commands(Path(first), python):
            if "only" in options and not any(part in name for part in options["only"].split("+")):
                continue
            outcome, reason = ran(command, driver, float(options.get("limit", 60)))
            found.append((name, outcome, reason))
            print(f"{name}: {outcome} {reason}", flush=True)
    print(f"\n{len(found)} programs: {dict(Counter(outcome for _, outcome, _ in found))}")
    for reason, times in Counter(reason for _, outcome, reason in found if outcome != "ran").most_common():
        print(f"  {times} x {reason}")


def commands(source: Path, python: str) -> list[tuple[str, list[str]]]:
    """What to start, by name."""
    scripts = [path for folder in FOLDERS for path in sorted((source / folder).rglob("*.py"))]
    started = STARTED.format(beside=str(source / "cuda_bindings" / "cuda" / "bindings"))
    named = [(str(path.relative_to(source)), [python, "-c", started, str(path)]) for path in scripts]
    look = [python, "-c", "import numba_cuda"]
    if subprocess.run(look, capture_output=True, check=False).returncode == 0:
        named += [(f"numba-cuda {name}", [python, "-m", "unittest", NUMBA + name]) for name in NUMBA_EXAMPLES]
    return named


def ran(command: list[str], driver: dict[str, str], limit_s: float) -> tuple[str, str]:
    """How one ended, and the reason where it did not end well, in few words."""
    environment = {**os.environ, **driver, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit_s, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return "too long", f"no end after {limit_s:.0f} s"
    text = done.stdout + done.stderr
    if done.returncode == 0:
        skipped = re.search(r"OK \(skipped=\d+\)|[Ww]aiv\w+|skipp\w+|requires compute capability", text)
        return ("left itself out", skipped[0]) if skipped else ("ran", "")
    for pattern, told in NEEDS:
        if match := re.search(pattern, text):
            return "did not run", match.expand(told)
    last = next((line for line in reversed(text.strip().splitlines()) if line.strip()), "nothing said")
    return "did not run", f"exit code {done.returncode}: {last.strip()[:160]}"
