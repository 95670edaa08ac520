"""The jail as its users see it: answers, levels, refusals, both kinds of user, and the list of protections."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.jail.conftest import HEAD, SMALL, said

from warpsight.errors import BrokenMachine
from warpsight.jail import (
    JailedWorker,
    Limits,
    WorkerAnswer,
    WorkerEvent,
    WorkerLost,
    package_files,
    protections,
    require_protections,
    sight,
)
from warpsight.jail.probes import KNOWN
from warpsight.jail.view import make_view
from warpsight.jail.worker import REQUIRED, told_unsafe

Hostile = Callable[..., WorkerAnswer]
SRC = Path(__file__).parents[2] / "src"


def test_a_question_is_answered_with_bytes(hostile: Hostile) -> None:
    answer = hostile("worker_io.write_frame(asked[::-1])", request=b"abc" * 100_000)
    assert answer.body == b"cba" * 100_000 and answer.event is None and answer.missing == ()
    assert answer.wall_s > 0 and answer.log == b""


def test_several_questions_one_worker(tmp_path: Path) -> None:
    path = tmp_path / "echo.py"
    text = "answer(0)\nwhile (asked := worker_io.read_frame()) is not None:\n    worker_io.write_frame(asked * 2)\n"
    path.write_text("LEVEL = 'work'\n" + HEAD + text)
    with JailedWorker([sys.executable, "-I", str(path)], limits=SMALL) as worker:
        assert worker.ask(b"", 20) == b"0"
        assert [worker.ask(body, 20) for body in (b"", b"x", b"y" * 200_000)] == [b"", b"xx", b"y" * 400_000]
        assert worker.tightness() == 4 and worker.pid is not None
    assert worker.pid is None


def test_a_worker_that_does_not_lock_itself_gets_no_work(tmp_path: Path) -> None:
    for text in ("worker_io.write_frame(b'')", "worker_io.lock_down('tools')", "worker_io.write_frame(b'here it is')"):
        path = tmp_path / "open.py"
        start = f"import sys; sys.path.append({str(SRC / 'warpsight' / 'jail')!r}); import worker_io\n"
        path.write_text(f"{start}{text}\nprint(worker_io.read_frame(), flush=True)\n")
        with JailedWorker([sys.executable, "-I", str(path)], limits=SMALL) as worker:
            with pytest.raises(WorkerLost) as lost:
                worker.ask(b"the question", 20)
            assert lost.value.event.kind == "not_locked" and b"question" not in worker.log()


def test_a_program_that_is_not_there() -> None:
    with (
        JailedWorker(["/nonexistent/program"], limits=SMALL) as worker,
        pytest.raises(WorkerLost, match="exited_early"),
    ):
        worker.ask(b"", 20)


def test_a_missing_protection_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARPSIGHT_UNSAFE", raising=False)
    with pytest.raises(ValueError, match="unsafe"):
        JailedWorker([sys.executable], without=["seccomp"])
    assert told_unsafe({"WARPSIGHT_UNSAFE": "1"}) and not told_unsafe({}) and not told_unsafe({"WARPSIGHT_UNSAFE": "0"})


def test_what_is_missing_is_written_on_the_answer(hostile: Hostile) -> None:
    answer = hostile("answer(1)", without=["network namespace", "seccomp"])
    assert said(answer) == 1 and answer.missing == ("network namespace", "seccomp")


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs the program unshare")
def test_where_namespaces_are_forbidden_the_run_is_refused_by_name() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SRC)!r})\n"
        "from warpsight.jail import require_protections, protections, run_jailed\n"
        "from warpsight.errors import BrokenMachine\n"
        "try:\n    require_protections(False)\nexcept BrokenMachine as problem:\n    print('A', problem.message)\n"
        "try:\n    run_jailed([sys.executable, '-c', ''], b'')\n"
        "except BrokenMachine as problem:\n    print('B', problem.message)\n"
        "print('C', *require_protections(True), sep=',')\n"
    )
    # A user namespace in which no further namespace may be made.
    limit = "for n in user mnt net pid ipc uts cgroup; do echo 0 > /proc/sys/user/max_${n}_namespaces; done; "
    argv = ["unshare", "-Ur", "/bin/sh", "-c", limit + 'exec "$@"', "sh", sys.executable, "-c", code]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if "unshare" in run.stderr or "Permission" in run.stderr:
        pytest.skip("user namespaces are forbidden here already")
    first, second, third = run.stdout.splitlines()
    for name in ("mount namespace", "network namespace", "process namespace"):
        assert name in first and name in second and name in third, run.stdout


def test_every_protection_stands_here() -> None:
    walls = protections()
    assert {wall.name for wall in walls} == set(KNOWN) and {w.name for w in walls if w.required} >= set(REQUIRED)
    assert [wall.name for wall in walls if wall.required and not wall.present] == []
    assert all(wall.stops and wall.remedy for wall in walls)
    assert require_protections() == ()


def test_an_unprivileged_user_gets_the_same_jail(tmp_path: Path) -> None:
    """As root, another user is tried with the system's Python, which that user can reach."""
    python = "/usr/bin/python3"
    if os.geteuid() != 0 or shutil.which("setpriv") is None or not Path(python).exists():
        pytest.skip("needs root, setpriv and a system Python; without root every other test here shows the same")
    version = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True)
    if version.stdout.strip() != b"True":
        pytest.skip("the system's Python is older than 3.11")
    code = (
        f"import sys, json; sys.path.insert(0, {str(SRC)!r})\n"
        "from warpsight.jail import protections\n"
        "print(json.dumps([wall.name for wall in protections() if not wall.present]))\n"
    )
    argv = ["setpriv", "--reuid", "4321", "--regid", "4321", "--clear-groups", python, "-B", "-c", code]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd="/", check=False)
    if "Permission denied" in run.stderr or "No module named 'warpsight'" in run.stderr:
        pytest.skip("another user cannot read this source tree")
    assert run.returncode == 0, run.stderr
    assert set(json.loads(run.stdout)) <= {"landlock network", "landlock scope", "host name namespace"}


def test_the_view_follows_links_and_shows_no_more(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    view = make_view([sys.executable], [tmp_path / "link" / "file", tmp_path / "absent"])
    assert str(real / "file") in view.binds and (str(tmp_path / "link"), "real") in view.links
    assert str(tmp_path) not in view.binds and str(Path.home()) not in view.binds
    assert not any(path in ("/", "/etc", "/usr", "/home", "/proc", "/sys", "/dev", "/tmp") for path in view.binds)


def test_a_package_can_be_shown(hostile: Hostile) -> None:
    body = "import numpy; answer(int(numpy.arange(10).sum()))"
    body = f"LEVEL = 'work'\n{body}"
    assert said(hostile(body, readable=package_files("numpy"))) == 45


def test_records_refuse_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        WorkerAnswer(None, None, b"", 0, 0)
    with pytest.raises(ValueError, match="exactly one"):
        WorkerAnswer(b"", WorkerEvent("deadline", ""), b"", 0, 0)
    assert Limits().wall_s == 60 and issubclass(WorkerLost, Exception) and BrokenMachine.exit_code == 5


def test_processor_time_is_seen_from_outside_finely_and_with_threads_that_have_ended() -> None:
    def work() -> None:
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass

    before = sight.cpu_s(os.getpid())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert sight.cpu_s(os.getpid()) - before >= 0.05
    assert abs(sight.cpu_s(os.getpid()) - time.process_time()) < 0.05 + sum(os.times()[2:4])
    assert sight.cpu_s(None) == sight.cpu_s(2**22 + 1) == 0.0


def test_the_host_name_is_not_the_machines(hostile: Hostile) -> None:
    answer = hostile("import os, socket\nanswer([os.uname().nodename, socket.gethostname()])")
    assert said(answer) == ["jail", "jail"]
