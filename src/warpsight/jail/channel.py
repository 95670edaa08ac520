"""The parent's side of the pipes to one jailed worker: sends, reads, counts, and says how a worker ended.

Covers every way a worker can misuse its pipes: silence, floods, half answers, answers nobody asked for. Trusts the
stage's status lines, which no worker holds an end of, and nothing on the answer and log pipes but their length.
What must stay true: no read or write here blocks past the deadline, and every failure is one `WorkerEvent`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import struct
import subprocess
import time
from collections.abc import Callable
from typing import Any, cast

from warpsight.jail.ends import event_of
from warpsight.jail.records import Limits, WorkerEvent
from warpsight.jail.scrub import scrubbed

GRACE_S = 1.0  # how long the end of a worker may take to be told after its answers ended
_CHUNK = 1 << 20  # what a pipe holds at most without rights


class Ended(Exception):
    """The worker will answer no more; `event` says why."""

    def __init__(self, event: WorkerEvent) -> None:
        super().__init__(event.detail)
        self.event = event


class Channel:
    """Pipes to a stage and the worker below it. One thread at a time."""

    def __init__(self, stage: subprocess.Popen[bytes], requests: int, answers: int, limits: Limits) -> None:
        assert stage.stdin and stage.stdout and stage.stderr
        self._limits = limits
        self._requests, self._answers = requests, answers
        self._status_fd, self._log_fd = stage.stdout.fileno(), stage.stderr.fileno()
        self._status_text = b""
        self._pending: list[memoryview] = []
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._open = {answers, self._status_fd, self._log_fd}
        self.log = bytearray()
        self.status: dict[str, Any] = {}
        for fd in (requests, *self._open):
            os.set_blocking(fd, False)
        self._poll = select.poll()
        for fd in self._open:
            self._poll.register(fd, select.POLLIN)
        for fd in (requests, answers):  # fewer turns; a system that gives no more room works as well
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _CHUNK)

    def exchange(self, request: bytes | None, ends_at: float, watch: Callable[[], WorkerEvent | None]) -> bytes:
        """Send a frame (or nothing), return the next answer. `watch` is asked now and then for a reason to stop."""
        if request is not None:
            self._refuse_early_answers()
            self.log.clear()  # the cap is for one question
            self._pending = [memoryview(struct.pack(">I", len(request))), memoryview(request)]
            self._poll.register(self._requests, select.POLLOUT)
        while (body := self._whole_answer()) is None:
            self.turn(ends_at)
            if self._answers not in self._open:
                raise Ended(self._how_it_ended(ends_at))
            if event := watch():
                raise Ended(event)
        return body

    def until(self, known: str, ends_at: float) -> bool:
        """Read until a status of this name came; False if the stage ended without it."""
        while known not in self.status and self._status_fd in self._open:
            self.turn(ends_at)
        return known in self.status

    def turn(self, ends_at: float) -> None:
        """Wait a little for any pipe and move what can be moved."""
        left = ends_at - time.monotonic()
        if left <= 0:
            raise Ended(WorkerEvent("deadline", "still working when its wall time was over"))
        for fd, _ in self._poll.poll(min(left, 0.1) * 1000):
            self._send() if fd == self._requests else self._receive(fd)

    def _send(self) -> None:
        try:
            sent = os.writev(self._requests, [part[:_CHUNK] for part in self._pending])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._pending = []  # its answers will say why
        else:
            while self._pending and sent >= len(self._pending[0]):
                sent -= len(self._pending.pop(0))
            if self._pending:
                self._pending[0] = self._pending[0][sent:]
        if not self._pending:
            self._poll.unregister(self._requests)

    def _receive(self, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._open.discard(fd)
            self._poll.unregister(fd)
        elif fd == self._answers:
            self._body.append(data)
            self._body_bytes += len(data)
        elif fd == self._log_fd:
            self._keep_log(data)
        else:
            self._read_status(data)

    def _keep_log(self, data: bytes) -> None:
        room = self._limits.log_bytes - len(self.log)
        self.log += data[:room]
        if len(data) > room:
            raise Ended(WorkerEvent("too_much_output", f"printed more than {self._limits.log_bytes} bytes"))

    def _read_status(self, data: bytes) -> None:
        *lines, self._status_text = (self._status_text + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                self.status |= cast("dict[str, Any]", json.loads(line))

    def _whole_answer(self) -> bytes | None:
        if self._body_bytes < 4:
            return None
        if len(self._body[0]) < 4:
            self._body = [b"".join(self._body)]
        (size,) = struct.unpack_from(">I", self._body[0])
        if size > self._limits.answer_bytes:
            detail = f"announced an answer of {size} bytes, the cap is {self._limits.answer_bytes}"
            raise Ended(WorkerEvent("too_much_output", detail))
        if self._body_bytes < 4 + size:
            return None
        # One copy of all but the ends: answers can be hundreds of megabytes.
        begin, last = memoryview(self._body[0])[4:], memoryview(self._body[-1])
        more = self._body_bytes - 4 - size
        if len(self._body) == 1:
            body, rest = bytes(begin[:size]), bytes(begin[size:])
        else:
            body = b"".join([begin, *self._body[1:-1], last[: len(last) - more]])
            rest = bytes(last[len(last) - more :])
        self._body, self._body_bytes = [rest] if rest else [], len(rest)
        return body

    def _refuse_early_answers(self) -> None:
        """Bytes that came before the question are no answer to it."""
        if self._answers in self._open:
            self._receive(self._answers)
        if self._body:
            raise Ended(WorkerEvent("bad_frame", f"wrote {self._body_bytes} bytes or more without being asked"))

    def _how_it_ended(self, ends_at: float) -> WorkerEvent:
        grace = max(ends_at, time.monotonic() + GRACE_S)
        with contextlib.suppress(Ended):
            self.until("ended", min(grace, time.monotonic() + GRACE_S))
        if "problem" in self.status:
            return WorkerEvent("exited_early", scrubbed(f"could not be started: {self.status['problem']}"))
        if "ended" not in self.status:
            return WorkerEvent("bad_frame", "closed its answers and went on working")
        used_s = float(self.status.get("cpu_s", 0.0))
        return event_of(int(self.status["ended"]), self._limits, bytes(self.log), used_s, self._body_bytes)
