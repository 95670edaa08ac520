"""What a server is told when it starts. Loads nothing heavy: a client waits for the first answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpsight.session.feedback import Feedback

DEFAULT_WAIT_SECONDS = 25.0
LONGEST_WAIT_SECONDS = 50.0  # some clients give a call 60 seconds


@dataclass(frozen=True)
class ServeSettings:
    """`roots` are the only folders that are read; `data` is the only one that is written."""

    roots: tuple[Path, ...]
    data: Path
    device: str = "virtual"
    feedback: Feedback = "curated"
    unsafe: bool = False
