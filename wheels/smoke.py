"""Does an installed warpsight work, away from the repository? Run by the Python that it is installed for.

    python wheels/smoke.py

Works in an empty folder: the commands of the README that need nothing special, `warpsight demo`, a ten-line script, an
error and its page. Uses the standard library alone. Exit code 1 when anything does not hold, with all of its output.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDS = re.compile(r"\((?:needs|takes|until)\b")  # how a page says that a command cannot be tried just so
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")
FINE = {"warpsight verify": (0, 4)}  # a certificate of another user's key is not refuted
SLOW = """// launch: grid=(8) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += 8 * 256) c[i] = a[i] + b[i];
}
"""
SCRIPT = """\
import numpy as np
import warpsight as ws

k = ws.kernel("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
x = np.ones(32, np.float32)
k(1, 32, x)
assert (x == 2).all(), x
shown = str(k.profile(1, 32, x))
assert "simulated" in shown, shown
print(ws.__version__, "in", ws.__file__)
"""


class Broken(Exception):
    """Something that should have worked did not."""


def run(*words: str, fine: tuple[int, ...] = (0,)) -> str:
    """Run a command in this folder; its output, with Broken for any other end."""
    started = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, timeout=1200)
    said = done.stdout + done.stderr
    if done.returncode not in fine:
        raise Broken(f"{shlex.join(words)} ended with {done.returncode}, expected {fine[0]}:\n{said}")
    print(f"ok {time.monotonic() - started:6.1f} s  {shlex.join(words)[:100]}", flush=True)
    return said


def commands_of(text: str) -> Iterator[str]:
    """The commands in the code blocks of a page that say nothing about what they need."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("warpsight ") and not NEEDS.search(line):
                yield line.partition(" #")[0].strip()


def prepare(warpsight: str) -> str:
    """What the README expects the reader to have: another kernel, and a certificate."""
    task = Path("scratch")
    run(warpsight, "new", str(task))
    kernel = (task / "kernel.cu").read_text().replace("scratch_kernel", "my_kernel_kernel")
    Path("mine.cu").write_text(kernel.replace("256", "128"))
    Path("slow.cu").write_text(SLOW)
    run(warpsight, "compare", "vector_add", "--baseline", "slow.cu", "--candidate", own_kernel(), "--ledger", "runs")
    return str(next(Path("runs").rglob("certificates/*.json")))


def own_kernel() -> str:
    """The kernel of the example task, as it lies in the package."""
    code = "from warpsight.bundled import find_bundled; print(find_bundled('tasks', 'vector_add') / 'kernel.cu')"
    return run(sys.executable, "-c", code).strip()


def readme(warpsight: str, text: str) -> None:
    certificate = prepare(warpsight)
    for command in commands_of(text):
        line, _, target = command.replace("CERTIFICATE", certificate).partition(" > ")
        if PLACEHOLDER.search(line.replace(certificate, "")):
            print(f"left out, it needs what only the reader has: {command}")
            continue
        words = shlex.split(line)
        said = run(warpsight, *words[1:], fine=FINE.get(" ".join(words[:2]), (0,)))
        if target:
            Path(target.strip()).write_text(said)


def away_from_home(warpsight: str) -> None:
    """What failed outside of the repository when only the code was installed."""
    where = run(sys.executable, "-c", "import warpsight; print(warpsight.__file__)").strip()
    if Path(where).is_relative_to(ROOT):
        raise Broken(f"expected an installed package, {where} is the repository's own")
    run(sys.executable, "-c", SCRIPT)
    said = run(warpsight, "demo", "--out", "demo.cu")
    if "report: " not in said or not Path(said.rpartition("report: ")[2].splitlines()[0]).is_file():
        raise Broken(f"expected the path of a report that is there:\n{said}")
    run(warpsight, "check", "tasks/saxpy", "--verbose")
    wrong = run(warpsight, "check", "no_such_task", fine=(2,))
    page = wrong.rpartition("read: ")[2].strip()
    if not page.startswith("warpsight docs "):
        raise Broken(f"expected an error that says which page to read:\n{wrong}")
    run(warpsight, *page.split()[1:])


def main() -> None:
    warpsight = str(Path(sys.executable).with_name("warpsight"))
    os.environ.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory(prefix="warpsight-smoke-") as folder:
        os.chdir(folder)
        os.environ["WARPSIGHT_DATA"] = str(Path(folder) / "data")
        os.environ["WARPSIGHT_CACHE"] = str(Path(folder) / "cache")
        try:
            away_from_home(warpsight)
            readme(warpsight, (ROOT / "README.md").read_text(encoding="utf-8"))
        except Broken as problem:
            sys.exit(str(problem))
        finally:
            os.chdir("/")
    print(f"works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
