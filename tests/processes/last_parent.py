"""Starts a command, sends it a signal, and says what was left: `last_parent.py SIGNAL WAIT COMMAND...`.

Whatever loses its parent below this process becomes its child, also what has left its session or has no environment:
so what is left is known to the last process. WAIT is seconds, or +SECONDS after the command's first grandchild, or
FILE+SECONDS after there is such a file.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SUBREAPER = 36
PATIENCE_S = 20.0  # for the command itself: it may write down what it knows
LEFT_S = 2.0  # of this machine when it is idle; a busy one gets more, since being killed takes processor time


def children(pid: int) -> list[int]:
    try:
        return [
            int(word)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for word in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def below(pid: int) -> list[int]:
    return [one for child in children(pid) for one in (child, *below(child))]


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return "?"


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def wait_for_moment(pid: int, wait: str) -> None:
    latest = time.monotonic() + 120
    file, plus, seconds = wait.rpartition("+")
    while plus and not (Path(file).exists() if file else children(pid)):
        if time.monotonic() > latest or not Path(f"/proc/{pid}/exe").exists():
            break
        time.sleep(0.005)
    time.sleep(float(seconds))


def ends(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        return None


def left_over() -> list[str]:
    latest = time.monotonic() + LEFT_S * (1 + 2 * os.getloadavg()[0] / (os.cpu_count() or 1))
    while (found := below(os.getpid())) and time.monotonic() < latest:
        reap()
        time.sleep(0.02)
    said = [words_of(pid) for pid in found]
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return said


def main() -> None:
    number, wait, *command = sys.argv[1:]
    assert ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0) == 0
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stderr, start_new_session=True)
    wait_for_moment(process.pid, wait)
    before = len(below(process.pid))
    sent = time.monotonic()
    process.send_signal(int(number))
    code = ends(process)
    took = time.monotonic() - sent
    print(json.dumps({"code": code, "before": before, "took_s": round(took, 2), "left": left_over()}))


if __name__ == "__main__":
    main()
