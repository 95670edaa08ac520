"""Known attacks that have no meaning for a candidate that is one kernel text, and why."""

from __future__ import annotations

ELSEWHERE: dict[str, str] = {}
