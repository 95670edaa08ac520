"""What a server is told when it starts. Loads nothing heavy: a client waits for the first answer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.session.feedback import Feedback

DEFAULT_WAIT_SECONDS = 25.0
LONGEST_WAIT_SECONDS = 50.0  # some clients give a call 60 seconds
HEADER = "Warpsight-Conversation"  # names the conversation of a request over HTTP; or ?conversation=NAME in its address


@dataclass(frozen=True)
class ServeSettings:
    """`roots` are the only folders that are read; `data` is the only one that is written. `workers` are processes that
    run the tools; with 0 this process does. `few` offers the few tools of small models alone."""

    roots: tuple[Path, ...]
    data: Path
    device: str = "virtual"
    feedback: Feedback = "curated"
    unsafe: bool = False
    workers: int = 0
    few: bool = False


def workers_for(device: str, *, http: bool, asked: int | None) -> int:
    """How many processes run the tools. A device that measures gets one: its times must be of a quiet machine."""
    if device == "virtual":
        return (os.cpu_count() or 1) if http and asked is None else asked or 0
    if (asked or 0) > 1:
        raise UsageError(f"expected at most one worker on {device}: times are measured one after another")
    return asked or 0
