"""The parent's side of the pipes to one jailed worker: sends, reads, counts, and says how a worker ended.

Covers every way a worker can misuse its pipes: silence, floods, half answers, answers nobody asked for. Trusts the
stage's status lines, which no worker holds an end of, and nothing on the answer and log pipes but their length.
What must stay true: no read or write here blocks past the deadline, and every failure is one `WorkerEvent`.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import struct
import subprocess
import time
from collections.abc import Callable
from typing import Any, cast

from warpsight.jail.ends import event_of
from warpsight.jail.records import Limits, WorkerEvent
from warpsight.jail.scrub import scrubbed

GRACE_S = 1.0  # how long the end of a worker may take to be told after its answers ended
_CHUNK = 1 << 18


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
        self._pending = memoryview(b"")
        self._body = bytearray()
        self._open = {answers, self._status_fd, self._log_fd}
        self.log = bytearray()
        self.status: dict[str, Any] = {}
        for fd in (requests, *self._open):
            os.set_blocking(fd, False)

    def exchange(self, request: bytes | None, ends_at: float, watch: Callable[[], WorkerEvent | None]) -> bytes:
        """Send a frame (or nothing), return the next answer. `watch` is asked now and then for a reason to stop."""
        if request is not None:
            self._refuse_early_answers()
            self.log.clear()  # the cap is for one question
            self._pending = memoryview(struct.pack(">I", len(request)) + request)
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
        with selectors.DefaultSelector() as selector:
            for fd in self._open:
                selector.register(fd, selectors.EVENT_READ)
            if self._pending:
                selector.register(self._requests, selectors.EVENT_WRITE)
            for key, _ in selector.select(min(left, 0.1)):
                self._send() if key.fd == self._requests else self._receive(key.fd)

    def _send(self) -> None:
        try:
            self._pending = self._pending[os.write(self._requests, self._pending[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._pending = memoryview(b"")  # its answers will say why

    def _receive(self, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._open.discard(fd)
        elif fd == self._answers:
            self._body += data
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
        if len(self._body) < 4:
            return None
        (size,) = struct.unpack(">I", self._body[:4])
        if size > self._limits.answer_bytes:
            detail = f"announced an answer of {size} bytes, the cap is {self._limits.answer_bytes}"
            raise Ended(WorkerEvent("too_much_output", detail))
        if len(self._body) < 4 + size:
            return None
        with memoryview(self._body) as view:  # one copy: answers can be hundreds of megabytes
            body = bytes(view[4 : 4 + size])
        del self._body[: 4 + size]
        return body

    def _refuse_early_answers(self) -> None:
        """Bytes that came before the question are no answer to it."""
        if self._answers in self._open:
            self._receive(self._answers)
        if self._body:
            raise Ended(WorkerEvent("bad_frame", f"wrote {len(self._body)} bytes or more without being asked"))

    def _how_it_ended(self, ends_at: float) -> WorkerEvent:
        grace = max(ends_at, time.monotonic() + GRACE_S)
        with contextlib.suppress(Ended):
            self.until("ended", min(grace, time.monotonic() + GRACE_S))
        if "problem" in self.status:
            return WorkerEvent("exited_early", scrubbed(f"could not be started: {self.status['problem']}"))
        if "ended" not in self.status:
            return WorkerEvent("bad_frame", "closed its answers and went on working")
        used_s = float(self.status.get("cpu_s", 0.0))
        return event_of(int(self.status["ended"]), self._limits, bytes(self.log), used_s, len(self._body))
