"""What one look of `warpsight doctor` gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "broken", "absent"]  # absent: optional and not there


@dataclass(frozen=True)
class Probe:
    """One thing looked at: what came of it and, when it is not fine, what to do."""

    name: str
    state: State
    detail: str
    fix: str | None = None
