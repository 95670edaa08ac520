"""Workers that take too much or will not end: each becomes an event, is gone soon after, and harms no one after it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.jail.conftest import HEAD, SMALL, processes_with, said

from warpsight.jail import JailedWorker, WorkerAnswer, WorkerLost

Hostile = Callable[..., WorkerAnswer]


def kind(answer: WorkerAnswer) -> str:
    assert answer.event is not None, answer
    return answer.event.kind


STUBBORN = {
    "ignores signals": "[signal.signal(n, signal.SIG_IGN) for n in {*range(1, 65)} - {9, 19, 32, 33}]\nwhile 1: pass",
    "forks twice and leads a new session": """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        while 1: time.sleep(1)
    os._exit(0)
while 1: time.sleep(1)""",
    "loops for ever": "while 1: pass",
    "sleeps for ever": "time.sleep(10000)",
    "loops in many threads": "[threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start() for _ in range(8)]",
    "closes its channels and goes on": "os.close(3); os.close(4)\nwhile 1: time.sleep(1)",
    "floods its log": "while 1: os.write(1, b'x' * 65536)",
    "floods its answers": "while 1: os.write(4, b'\\xff' * 65536)",
    "floods its answers a byte at a time": "os.write(4, b'\\x0f\\xff\\xff\\xff')\nwhile 1: os.write(4, b'x')",
    "allocates without end": "kept = []\nwhile 1: kept.append(bytearray(b'x') * (64 << 20))",
    "allocates without end in a child that nobody waits for": """
if os.fork() == 0:
    os.setsid()
    kept = []
    while 1: kept.append(bytearray(b'x') * (32 << 20))
while 1: time.sleep(1)""",
    "fills its folder and stays": """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for n in range(100):
    try: open(f"part{n}", "wb").write(b"x" * (3 << 20))
    except OSError: pass
while 1: time.sleep(1)""",
}
ENDS = ("deadline", "bad_frame", "too_much_output", "out_of_memory")


@pytest.mark.parametrize("body", STUBBORN.values(), ids=STUBBORN.keys())
def test_stubborn_workers_are_gone_at_their_deadline(
    hostile: Hostile, body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = tmp_path / "folders"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    limits = replace(SMALL, wall_s=2.0)
    answer = hostile(body, level="serve", limits=limits)
    assert kind(answer) in ENDS
    assert answer.wall_s < limits.wall_s + 2
    assert processes_with(str(tmp_path)) == []
    assert list(folders.iterdir()) == []
    assert said(hostile("answer('the next one works')")) == "the next one works"


def test_a_process_left_behind_ends_with_its_worker(hostile: Hostile, tmp_path: Path) -> None:
    body = "if os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nanswer('left one behind')"
    assert said(hostile(body, level="serve")) == "left one behind"
    assert processes_with(str(tmp_path)) == []


def test_processor_time_is_capped(hostile: Hostile) -> None:
    answer = hostile("while 1: pass", limits=replace(SMALL, cpu_s=1))
    assert kind(answer) == "cpu_limit" and 0.5 < answer.cpu_s < 4


def test_memory_bomb(hostile: Hostile) -> None:
    assert kind(hostile("kept = []\nwhile 1: kept.append(bytearray(64 << 20))")) == "out_of_memory"


def test_memory_bomb_in_native_code(hostile: Hostile) -> None:
    body = "libc.malloc.restype = ctypes.c_void_p\n"
    body += "answer([bool(libc.malloc(ctypes.c_size_t(n << 30))) for n in (0, 2, 64)])"
    assert said(hostile(body)) == [True, False, False]


def test_memory_of_many_processes_counts_together(hostile: Hostile) -> None:
    body = """
for _ in range(10):
    if os.fork() == 0:
        kept = bytearray(b"x" * (100 << 20))
        time.sleep(1000)
time.sleep(1000)"""
    answer = hostile(body, level="serve", limits=replace(SMALL, memory_bytes=400 << 20))
    assert kind(answer) == "out_of_memory"


def test_fork_bomb(hostile: Hostile) -> None:
    body = """
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except OSError as problem:
    answer([made, errno.errorcode[problem.errno]])"""
    made, why = said(hostile(body, level="serve"))  # type: ignore[misc]
    assert 1 <= made <= SMALL.threads and why == "EAGAIN"


def test_ten_thousand_threads(hostile: Hostile) -> None:
    body = """
threading.stack_size(1 << 16)
made = 0
try:
    while made < 10000:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        made += 1
except RuntimeError as problem:
    answer([made, str(problem)])"""
    made, why = said(hostile(body))  # type: ignore[misc]
    assert 1 <= made <= SMALL.threads and "start new thread" in why


def test_a_gigabyte_is_not_written(hostile: Hostile) -> None:
    body = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill(name, total):
    with open(name, "wb", buffering=0) as file:
        for _ in range(total >> 20):
            file.write(b"x" * (1 << 20))
one = error_of(fill, "big", 1 << 30)
many = [error_of(fill, f"part{n}", 3 << 20) for n in range(8)]
answer([one, many[-1], sum(os.path.getsize(n) for n in os.listdir(".") if os.path.isfile(n))])"""
    one, many, total = said(hostile(body))  # type: ignore[misc]
    assert one == "EFBIG" and many == "ENOSPC" and total <= SMALL.scratch_bytes


def test_files_without_end_are_not_opened(hostile: Hostile) -> None:
    body = "answer(error_of(lambda: [os.open('/dev/null', os.O_RDONLY) for _ in range(5000)]))"
    assert said(hostile(body)) == "EMFILE"


def test_memory_files_cannot_hold_what_scratch_cannot(hostile: Hostile) -> None:
    assert said(hostile("answer(error_of(os.memfd_create, 'x'))")) == "EPERM"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("while 1: os.write(1, b'x' * 65536)", "too_much_output"),
        ("while 1: os.write(2, b'x' * 65536)", "too_much_output"),
        ("while 1: os.write(4, b'\\xff' * 65536)", "too_much_output"),
        ("os.write(4, b'\\x00\\x00\\x00\\xff' + b'x' * 10)", "bad_frame"),
        ("os.write(4, b'\\x00\\x00')", "bad_frame"),
        ("sys.exit(0)", "exited_early"),
        ("os._exit(3)", "exited_early"),
        ("print('PASS'); sys.exit(0)", "exited_early"),
        ("os.abort()", "killed_by_signal"),
        ("ctypes.string_at(8)", "killed_by_signal"),
        ("os.kill(os.getpid(), 9)", "killed_by_signal"),
        ("raise MemoryError", "out_of_memory"),
        ("os._exit(worker_io.OUT_OF_MEMORY_STATUS)", "out_of_memory"),
    ],
)
def test_bad_ends_have_their_names(hostile: Hostile, body: str, expected: str) -> None:
    assert kind(hostile(body)) == expected


def test_a_log_is_capped_and_carries_no_local_path(hostile: Hostile) -> None:
    answer = hostile("raise ValueError(sys.prefix + ' and ' + sys.base_prefix)")
    assert answer.event is not None and answer.event.kind == "exited_early"
    for text in (answer.log.decode(), answer.event.detail):
        assert sys.prefix not in text and sys.base_prefix not in text and "<python>" in text
    flood = hostile("while 1: os.write(1, b'x' * 65536)")
    assert len(flood.log) == SMALL.log_bytes


def test_answers_nobody_asked_for_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "eager.py"
    path.write_text("LEVEL = 'work'\n" + HEAD + "answer(1); answer(2)\nwhile worker_io.read_frame(): answer(3)\n")
    with JailedWorker([sys.executable, "-I", str(path)], limits=SMALL) as worker:
        assert worker.ask(b"a", 20) == b"1"
        time.sleep(0.3)
        with pytest.raises(WorkerLost, match="bad_frame"):
            worker.ask(b"b", 20)
        with pytest.raises(WorkerLost, match="bad_frame"):  # lost once, lost for good
            worker.ask(b"c", 20)


def test_a_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("LEVEL = 'serve'\n" + HEAD + "os.fork()\nanswer(1)\nwhile 1: time.sleep(1)\n")
    code = (
        "import os, signal; from warpsight.jail import JailedWorker\n"
        f"w = JailedWorker([{sys.executable!r}, '-I', {str(path)!r}], level='serve'); w.ask(b'', 20)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert run.returncode == -9
    ends_at = time.monotonic() + 2
    while processes_with(str(path)) and time.monotonic() < ends_at:
        time.sleep(0.02)
    assert processes_with(str(path)) == []


def test_no_descriptor_is_left_in_the_parent(hostile: Hostile) -> None:
    said(hostile("answer(1)"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        said(hostile("answer(1)"))
        hostile("os.abort()")
    assert len(list(Path("/proc/self/fd").iterdir())) == before
