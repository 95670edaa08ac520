"""The tool server inside a process: the same calls, conversations and limits as over MCP, for environments of trainers.

Blocking, and safe to use from many threads: a conversation waits for its own calls alone. What must stay true: a call
gives what the same call over MCP gives, since the same `Service` answers it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from warpsight.errors import UsageError
from warpsight.serve.conversations import require_name
from warpsight.serve.reply import ServedReply, refused
from warpsight.serve.service import Service
from warpsight.serve.settings import ServeSettings

CANCELLED = "the call was cancelled; call the tool again if it is wanted"
NO_RESULT = "the call ended without a result; see the log"


class ToolServer:
    """Serves conversations until it is closed; `settings.workers` processes run the tools."""

    def __init__(self, settings: ServeSettings) -> None:
        self.service = Service(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _it: BaseException | None, _at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the workers, whatever they are at."""
        self.service.workers.close()

    def talk(self, name: str | None = None) -> Talk:
        """A conversation; of that name, or a new one."""
        return Talk(self.service, f"named:{require_name(name or secrets.token_hex(8))}")


class Talk:
    """One conversation with the tools."""

    def __init__(self, service: Service, conversation: str) -> None:
        self._service = service
        self.conversation = conversation

    def call(self, tool: str, arguments: Mapping[str, Any], *, seconds: float | None = None) -> ServedReply:
        """The reply to a call. One that takes longer than `seconds` is cancelled, and says so."""
        if tool not in self._service.tools:
            return refused(f"no tool {tool[:80]!r}; the tools are {', '.join(self._service.tools)}")
        try:
            job = self._service.start(tool, dict(arguments), self.conversation)
        except UsageError as problem:
            return refused(str(problem))
        changed = threading.Event()
        with job.watched(changed.set):
            while not job.ended:
                left = None if seconds is None else seconds - job.seconds
                if left is not None and left <= 0:
                    job.cancel()
                    return refused(f"cut off after {seconds:g} seconds")
                changed.wait(left)
                changed.clear()
        if job.result is not None:
            return job.result
        return refused(CANCELLED if job.cancelled else NO_RESULT)
