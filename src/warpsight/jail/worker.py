"""Runs untrusted work in a disposable process: one question (`run_jailed`) or several (`JailedWorker`).

Covers: no file but those shown, no network, no other process, no right gained, bounded memory, time, processes, files
and output; everything in the jail is dead when `close` returns. Does not cover: faults of the kernel itself, side
channels through shared caches and memory buses, and what the answer says: the caller believes nothing beyond its bytes.
What must stay true: no request is sent before the kernel shows (in /proc) that filters are in force on the worker.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from warpsight.errors import BrokenMachine
from warpsight.events import event as tell
from warpsight.jail import seccomp, sight
from warpsight.jail.channel import Channel, Ended
from warpsight.jail.records import LEVELS, Level, Limits, WorkerAnswer, WorkerEvent, WorkerLost
from warpsight.jail.scrub import scrubbed
from warpsight.jail.view import make_view

STAGE = Path(__file__).with_name("stage.py")
START_S = 30.0
END_S = 2.0
REQUIRED = (
    "user namespace", "mount namespace", "network namespace", "process namespace", "ipc namespace",
    "landlock files", "seccomp", "no capabilities", "no new privileges", "limits",
)  # fmt: skip
DOUBLED = ("landlock network", "landlock scope", "host name namespace", "cgroup namespace")


def told_unsafe(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether WARPSIGHT_UNSAFE asks to go on without some protections."""
    return environment.get("WARPSIGHT_UNSAFE", "") not in ("", "0", "no", "false")


def run_jailed(
    argv: Sequence[str],
    request: bytes,
    *,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    readable: Sequence[Path] = (),
    unsafe: bool = False,
    level: Level = "work",
    without: Collection[str] = (),
) -> WorkerAnswer:
    """One worker for one question: its answer, or the event that ended it. Never raises for what a worker does."""
    started = time.monotonic()
    body: bytes | None = None
    event: WorkerEvent | None = None
    name = next((Path(word).stem for word in argv if word.endswith(".py")), "worker")
    worker = JailedWorker(
        argv, limits=limits, readable=readable, unsafe=unsafe, name=name, level=level, without=without
    )
    with worker:
        try:
            body = worker.ask(request, max(0.01, limits.wall_s - (time.monotonic() - started)))
        except WorkerLost as lost:
            event = lost.event
        cpu_s = worker.cpu_s()
    return WorkerAnswer(body, event, worker.log(), cpu_s, time.monotonic() - started, worker.missing)


class JailedWorker:
    """A worker that answers several questions in turn, from one thread at a time. Lost once, lost for good.

    `argv[0]` is an absolute path; absolute paths in `argv` and in `readable` are shown to the worker, read-only.
    `level` is the tightness the kernel must show before the first request: "tools" (may start programs), "serve" (may
    fork), "work" (threads only), "compute" (memory, time and open channels only). `without` leaves protections out on
    purpose, which needs `unsafe`. Descriptors in `passed` are the worker's too, from 6 on; the caller closes its own.
    `links` are more names in its root, and the shown paths they lead to. With
    `builds` it may set its user to the one it has (see seccomp.py) and start files in its scratch folder.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        readable: Sequence[Path] = (),
        unsafe: bool = False,
        name: str = "worker",
        level: Level = "work",
        without: Collection[str] = (),
        passed: Sequence[int] = (),
        links: Sequence[tuple[str, str]] = (),
        builds: bool = False,
    ) -> None:
        self.name, self.level, self.limits = name, level, limits
        self._unsafe = unsafe or told_unsafe()
        self._event: WorkerEvent | None = None
        self._ready = False
        self._cpu_s = 0.0
        self.missing: tuple[str, ...] = ()
        scratch = tempfile.mkdtemp(prefix="warpsight-") if self._unsafe else ""
        requests_out, requests = os.pipe()
        answers, answers_in = os.pipe()
        try:
            config = _config(argv, limits, readable, without, not self._unsafe, scratch, builds)
            config["fds"] = {"requests": requests_out, "answers": answers_in}
            config["passed"] = list(passed)
            config["links"] = [*config["links"], *links]
            self._stage = _start_stage(config, (requests_out, answers_in, *passed))
        except BaseException:
            for fd in (requests, answers):
                os.close(fd)
            raise
        finally:
            for fd in (requests_out, answers_in):
                os.close(fd)
        self._channel = Channel(self._stage, requests, answers, limits)
        self._fds = (requests, answers)
        self._end = weakref.finalize(self, _end, self._stage, (requests, answers), scratch)

    @property
    def pid(self) -> int | None:
        """The process that watches over the jail; it and everything below it end together. None when ended."""
        return self._stage.pid if self._end.alive and self._stage.poll() is None else None

    def start(self, wall_s: float = START_S) -> None:
        """Wait until the worker has said that it is ready and the kernel has confirmed it; `ask` does it if need be."""
        if self._ready:
            return
        ends_at = time.monotonic() + wall_s
        with self._losing():
            if not self._channel.until("missing", ends_at):
                self._raise_broken()
            self.missing = tuple(self._channel.status["missing"])
            if not self._unsafe and set(self.missing) & set(REQUIRED):
                self._raise_broken()
            if self._channel.exchange(None, ends_at, self._watch) != b"":
                raise Ended(WorkerEvent("not_locked", "answered before it had locked itself down"))
            self._check_lock()
        self._ready = True
        tell("worker_start", name=self.name, pid=self.pid, level=self.level)

    def ask(self, body: bytes, wall_s: float) -> bytes:
        """One question, one answer; WorkerLost with its event if none comes."""
        ends_at = time.monotonic() + wall_s
        self.start(wall_s)
        with self._losing():
            return self._channel.exchange(body, ends_at, self._watch)
        raise AssertionError

    def tightness(self) -> int:
        """How many filters the kernel shows on the worker now: one, and one more for each level."""
        shown = sight.status_of(self.worker_pid())
        return int(shown.get("Seccomp_filters", "0")) if shown.get("Seccomp") == "2" else 0

    def reasons(self) -> dict[str, str]:
        """Why each missing protection is missing, once started."""
        return {str(name): scrubbed(str(why)) for name, why in dict(self._channel.status.get("missing", {})).items()}

    def cpu_s(self) -> float:
        """Processor time the worker has used so far, or had used when it ended."""
        if self._end.alive and "ended" not in self._channel.status:
            self._cpu_s = max(self._cpu_s, sight.cpu_s(self.worker_pid()))
        return float(self._channel.status.get("cpu_s", self._cpu_s))

    def tree_cpu_s(self) -> float:
        """Processor time of the worker and of all that it started and that still runs; for a look from outside."""
        first = self._channel.status.get("first")
        return sight.tree_cpu_s(int(first)) if self._end.alive and first is not None else 0.0

    def log(self) -> bytes:
        """What it printed, up to the cap, scrubbed of local paths."""
        return scrubbed(self._channel.log.decode(errors="replace")).encode()

    def close(self) -> None:
        """End the jail and everything in it; fine to call twice."""
        self._end()

    def forget(self) -> None:
        """Let go without ending it: for a process that was forked from the one that owns the worker."""
        if self._end.detach() is not None:
            self._event = WorkerEvent("exited_early", "belongs to another process")
            _release(self._stage, self._fds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _losing(self) -> Any:
        """Whatever goes wrong in here, also an interrupt, ends the worker: a late answer meets no question."""
        if self._event is not None:
            raise WorkerLost(self.name, self._event, self.log())
        try:
            yield
        except Ended as ended:
            self._event = ended.event
            self.cpu_s()
            self.close()
            raise WorkerLost(self.name, ended.event, self.log()) from None
        except BaseException:
            self._event = WorkerEvent("exited_early", "given up by its parent")
            self.close()
            raise

    def worker_pid(self) -> int | None:
        """The worker itself as seen from here, the child of the jail's first process."""
        first = self._channel.status.get("first")
        return sight.first_child(int(first)) if first is not None else None

    def _check_lock(self) -> None:
        if "seccomp" in self.missing:
            return
        wanted = 2 + LEVELS.index(self.level)
        shown = sight.status_of(self.worker_pid())
        if self.tightness() < wanted or shown.get("NoNewPrivs") != "1":
            detail = f"the kernel shows {self.tightness()} filters, level {self.level!r} needs {wanted}"
            raise Ended(WorkerEvent("not_locked", detail))

    def _watch(self) -> WorkerEvent | None:
        if self.level not in ("tools", "serve") or (first := self._channel.status.get("first")) is None:
            return None
        used = sight.resident_bytes(int(first), shared=not self.limits.shared_bytes)
        if used <= self.limits.memory_bytes:
            return None
        detail = f"its processes together used {used} bytes, the cap is {self.limits.memory_bytes}"
        return WorkerEvent("out_of_memory", detail)

    def _raise_broken(self) -> None:
        with contextlib.suppress(Ended):
            self._channel.until("problem", time.monotonic() + 0.2)
        status = self._channel.status
        lost = {name: why for name, why in dict(status.get("missing", {})).items() if name in REQUIRED}
        told = "; ".join(f"{name} ({why})" for name, why in lost.items()) or str(status.get("problem", "")) or "?"
        text = scrubbed(f"{told} {self._channel.log.decode(errors='replace').strip()}".strip())
        raise BrokenMachine(
            f"expected every protection of the jail, these are missing: {text}",
            hint="`warpsight doctor` says how to get them; --unsafe goes on without, and every result says so",
        )


@functools.cache
def _filters(machine: str, sets_ids: bool) -> tuple[str, tuple[str, ...]]:
    base = seccomp.base_filter(machine, sets_ids=sets_ids)
    return base.hex(), tuple(seccomp.level_filter(level, machine).hex() for level in LEVELS)


def _config(
    argv: Sequence[str],
    limits: Limits,
    readable: Sequence[Path],
    without: Collection[str],
    strict: bool,
    scratch: str,
    builds: bool = False,
) -> dict[str, Any]:
    if without and strict:
        raise ValueError("protections can be left out only with unsafe=True")
    left_out = {*without}
    try:
        base, levels = _filters(platform.machine(), builds)
    except seccomp.UnknownMachine as unknown:
        if strict:
            raise BrokenMachine(str(unknown), hint="--unsafe goes on without, and every result says so") from None
        base, levels, left_out = "", (), {*left_out, "seccomp"}
    view = make_view(argv, readable)
    return {
        "argv": list(argv), "binds": view.binds, "links": view.links, "base": base, "levels": levels,
        "scratch_bytes": limits.scratch_bytes, "scratch_folder": scratch, "starts_own": builds,
        "strict": strict, "required": REQUIRED, "without": sorted(left_out),
        "limits": {
            "RLIMIT_AS": limits.memory_bytes + limits.shared_bytes,
            "RLIMIT_CPU": limits.cpu_s + 1, "RLIMIT_NPROC": limits.threads,
            "RLIMIT_FSIZE": limits.file_bytes, "RLIMIT_NOFILE": limits.open_files, "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 1 << 20, "RLIMIT_MSGQUEUE": 0,
        },
    }  # fmt: skip


def _start_stage(config: dict[str, Any], fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
    if sys.platform != "linux":
        raise BrokenMachine(f"expected Linux under the jail, this is {sys.platform}", hint="run it in a Linux machine")
    stage = subprocess.Popen(
        [sys.executable, "-I", "-S", str(STAGE)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        pass_fds=fds, env={}, cwd="/", start_new_session=True, bufsize=0,
    )  # fmt: skip
    assert stage.stdin
    data = json.dumps(config).encode()
    with contextlib.suppress(BrokenPipeError):
        stage.stdin.write(struct.pack(">I", len(data)) + data)
    return stage


def _end(stage: subprocess.Popen[bytes], fds: tuple[int, int], scratch: str) -> None:
    """Let go of the stage's input, which ends the jail; force it if that takes long."""
    assert stage.stdin and stage.stdout and stage.stderr
    with contextlib.suppress(OSError):
        stage.stdin.close()
    if stage.poll() is None:
        # Popen.wait with a timeout sleeps between looks; the kernel can tell us at once.
        ended = os.pidfd_open(stage.pid)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        if not poll.poll(END_S * 1000):
            stage.kill()
        os.close(ended)
        stage.wait()
    _release(stage, fds)
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


def _release(stage: subprocess.Popen[bytes], fds: tuple[int, int]) -> None:
    for stream in (stage.stdin, stage.stdout, stage.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    for fd in fds:
        os.close(fd)
