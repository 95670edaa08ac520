"""When to ask again, and how long to wait before: exponential backoff with jitter, and what the server asks for.

Pure arithmetic; the waiting is done by `http.py`. What must stay true: the number of attempts and the total time have a
limit, and a server that names a time (Retry-After) is never asked earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# 408 time-out, 409 conflict, 425 too early, 429 too many, all of 5xx (529 is "overloaded").
AGAIN = frozenset({408, 409, 425, 429})


@dataclass(frozen=True)
class Patience:
    """How much trouble one reply is worth. `total_s` bounds everything: attempts, waits and reading."""

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    connect_s: float = 10.0
    read_s: float = 300.0
    total_s: float = 900.0


def patience_of(reply_seconds: float) -> Patience:
    """The trouble that a reply is worth which may take so long, silence included."""
    return Patience(read_s=reply_seconds, total_s=reply_seconds)


def worth_again(status: int) -> bool:
    return status in AGAIN or 500 <= status <= 599


def wait_s(patience: Patience, attempt: int, asked_s: float | None, chance: float) -> float:
    """The wait after an attempt (1 is the first): half of it by chance (0 to 1), and never under what was asked for."""
    full = min(patience.longest_wait_s, patience.first_wait_s * 2.0 ** min(attempt - 1, 60))
    own = full * (0.5 + 0.5 * chance)
    return own if asked_s is None else max(own, asked_s)


def asked_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """What the server asks for: milliseconds, seconds or a date; None when it says nothing that can be read."""
    in_ms = _number(headers.get("retry-after-ms"))
    if in_ms is not None:
        return in_ms / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        until = parsedate_to_datetime(text.strip())
    except ValueError:
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 1e9 else None
