"""The end of the time for a reply over HTTP, also while nothing comes: a read that waits is woken and fails.

Time-outs of the client are for one read each and begin anew with every byte; this one is for all of it. What must stay
true: only the socket of this answer is touched, and only until the answer has been read.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Generator, Mapping
from typing import Any


@contextlib.contextmanager
def cut_off(extensions: Mapping[str, Any], ends_at: float) -> Generator[None]:
    """Within this, an answer (by its `extensions`) that is still being read at `ends_at` breaks off there."""
    stream = extensions.get("network_stream")
    found = None if stream is None else stream.get_extra_info("socket")
    if not isinstance(found, socket.socket):
        yield
        return
    timer = threading.Timer(max(0.0, ends_at - time.monotonic()), _shut, (found,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut(found: socket.socket) -> None:
    """Wake whoever reads. The plain call also for TLS: its own would change the object under the reader."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(found, socket.SHUT_RDWR)
