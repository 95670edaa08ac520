"""The feedback of a run (none, time, raw, curated, wrong): what `profile` and `time` show, and nothing else.

`compare` and `inspect` leave out what they would take from a profile where `profile` shows none, since a run without
profiles would be none otherwise. `wrong` shows a well-formed diagnosis of another kernel, for ablations; it needs the
tasks to take it from, which only the bench gives.
"""

from __future__ import annotations

from typing import Literal, get_args

from warpsight.errors import UsageError

Feedback = Literal["none", "time", "raw", "curated", "wrong"]
MODES: tuple[Feedback, ...] = get_args(Feedback)
OFFERED: tuple[Feedback, ...] = ("none", "time", "raw", "curated")  # `wrong` is for the bench alone
NO_PROFILE = "profiles are off in this run"
NO_TIME = "times are off in this run"


def shows_time(feedback: Feedback) -> bool:
    return feedback != "none"


def shows_counters(feedback: Feedback) -> bool:
    """Whether true counters may be shown."""
    return feedback in ("raw", "curated")


def require_offered(word: str) -> Feedback:
    """A mode by its name, for a person's run."""
    if word == "wrong":
        raise UsageError(
            "feedback `wrong` misleads the model on purpose: it is refused outside the bench",
            hint=f"one of {', '.join(OFFERED)}",
        )
    for mode in OFFERED:
        if mode == word:
            return mode
    raise UsageError(f"expected feedback {', '.join(OFFERED)}, got {word!r}", hint="--feedback curated")
