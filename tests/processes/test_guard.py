"""Programs and pools end with the process that started them, and nothing but the known places starts any."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.errors import BrokenMachine
from warpsight.processes.pool import worker_pool
from warpsight.processes.start import start_program

SRC = Path(__file__).parents[2] / "src" / "warpsight"
KILLER = Path(__file__).with_name("last_parent.py")
# Where processes are started, and what ends each with its parent.
STARTS = {
    "processes/start.py": "the guard",
    "processes/pool.py": "the guard, in every worker",
    "processes/helper.py": "the guard, in every helper",
    "processes/guard.py": "becomes the program that it guards",
    "programs/door.py": "the server ends when its input closes; a command of main is waited for",
    "programs/door_server.py": "all of its clients are of its group, which it ends with itself",
    "jail/worker.py": "the stage ends when its input closes",
    "jail/stage.py": "the jail's first process ends with the stage, everything else with that one",
}
# These run in a jail only, and end with it.
JAILED = {
    "jail/probe_worker.py", "programs/nvcc_wrapper.py", "programs/program_worker.py",
    "tasks/importers/build_worker.py", "toolchain/tool_worker.py",
    "toolchain/triton_assemble_worker.py", "toolchain/triton_worker.py", "toolchain/worker.py",
}  # fmt: skip
MODULES = {"multiprocessing", "pty", "concurrent.futures.process"}
CALLS = {
    "Popen", "ProcessPoolExecutor", "fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", "spawnv",
    "spawnve", "create_subprocess_exec", "create_subprocess_shell", "check_output", "check_call", "getoutput",
    "execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp",
}  # fmt: skip
OF_SUBPROCESS = {"run", "call", "Popen", "check_output", "check_call", "getoutput", "getstatusoutput"}


def starts(text: str) -> list[str]:
    """What in a module's text could start a process."""
    found: list[str] = []
    if not any(word in text for word in (*MODULES, *CALLS, "subprocess")):
        return []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            found += ["class of Popen" for base in node.bases if "Popen" in ast.unparse(base)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.name for alias in node.names}
            whole = node.module in MODULES or node.module.partition(".")[0] == "multiprocessing"
            bad = names & (OF_SUBPROCESS if node.module == "subprocess" else {"ProcessPoolExecutor"})
            found += [node.module] if whole else sorted(bad)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            known = {"subprocess": OF_SUBPROCESS, "os": CALLS, "asyncio": CALLS, "futures": CALLS, "pty": CALLS}
            if node.func.attr in known.get(owner, set()):
                found.append(f"{owner}.{node.func.attr}")
    return found


def test_processes_are_started_in_known_places_only() -> None:
    found = {str(file.relative_to(SRC)): starts(file.read_text()) for file in SRC.rglob("*.py")}
    strange = {name: what for name, what in found.items() if what and name not in STARTS and name not in JAILED}
    assert not strange, f"use warpsight.processes: {strange}"
    assert {name for name, what in found.items() if what} == set(STARTS) | JAILED


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.run(['x'])",
        "from subprocess import Popen",
        "import subprocess\nclass P(subprocess.Popen): ...",
        "import os\nos.fork()",
        "import os\nos.system('x')",
        "from concurrent.futures import ProcessPoolExecutor",
        "import multiprocessing as m",
        "from multiprocessing import Pool",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
    ],
)
def test_the_test_sees_a_start(text: str) -> None:
    assert starts(text)


PROGRAM = """
import sys, time
from warpsight.processes.start import start_program
kept = start_program(["sh", "-c", "sleep 300 & sleep 300 & wait"], env={"PATH": "/usr/bin:/bin"})
time.sleep(300)
"""
POOL = """
import hashlib
from warpsight.errors import BrokenMachine
from warpsight.processes.pool import worker_pool
if __name__ == "__main__":
    with worker_pool(2) as pool:
        for one in [pool.submit(hashlib.pbkdf2_hmac, "sha256", b"", b"", 10**9) for _ in range(4)]:
            one.result()
"""
THREAD = """
import threading, time
from warpsight.processes.start import start_program
kept = []
def start():
    kept.append(start_program(["sleep", "300"], env={"PATH": "/usr/bin:/bin"}))
    time.sleep(300)
threading.Thread(target=start, daemon=True).start()
time.sleep(300)
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSEGV, signal.SIGINT])
@pytest.mark.parametrize("text", [PROGRAM, POOL, THREAD], ids=["program", "pool", "thread"])
def test_nothing_outlives_its_parent(text: str, by: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "parent.py"
    file.write_text(text)
    argv = [sys.executable, str(KILLER), str(int(by)), "+0.4", sys.executable, str(file)]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(ended.stdout)
    assert found["before"] >= 1 and found["left"] == [], found


def test_a_program_that_is_let_go_of_is_ended() -> None:
    program = start_program(["sleep", "300"], env={"PATH": "/usr/bin:/bin"})
    program.let_go()
    assert program.wait(timeout=30) == -signal.SIGKILL


def test_a_program_that_is_not_there_is_told_by_the_kind_of_its_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        start_program([str(tmp_path / "none")], env={})
    with pytest.raises(PermissionError):
        start_program([str(tmp_path)], env={})


def test_a_pool_that_is_given_up_kills_what_is_under_way() -> None:
    with pytest.raises(KeyboardInterrupt), worker_pool(1) as pool:
        pool.submit(abs, -1).result()
        going = pool.submit(signal.pause)
        raise KeyboardInterrupt
    assert going.done()


def test_a_worker_that_is_killed_is_told_as_that() -> None:
    with pytest.raises(BrokenMachine, match="ended from outside"), worker_pool(1) as pool:
        pool.submit(os.abort).result()
