"""What happens inside, one line an event, for `--verbose` and for whoever listens to the logger `warpsight`.

A line is the event's name and `key=value` pairs: `compile source=kernel.cu arch=sm_80 seconds=0.21`. Events are few: a
compile, a hit in a cache, the start of a worker, a launch. Nobody listens by default, and then an event costs next to
nothing. What must stay true: no secret and no text of a kernel or a model stands in a value.
"""

from __future__ import annotations

import logging
import sys
import time

LOGGER = logging.getLogger("warpsight")
LOGGER.addHandler(logging.NullHandler())  # without a listener nothing is printed, warnings neither


def event(name: str, /, **values: object) -> None:
    """Tell of something that happened."""
    if LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info(line_of(name, values), extra={"event": name, "values": values})


def line_of(name: str, values: dict[str, object]) -> str:
    """The event as it is printed."""
    return " ".join((name, *(f"{key}={_word(value)}" for key, value in values.items())))


def print_events() -> None:
    """Print events on stderr from here on, each with its time in UTC and the process it happened in."""
    if any(isinstance(listener, logging.StreamHandler) for listener in LOGGER.handlers):
        return
    shown = logging.StreamHandler(sys.stderr)
    shape = logging.Formatter("%(asctime)s.%(msecs)03dZ %(process)d %(message)s", "%Y-%m-%dT%H:%M:%S")
    shape.converter = time.gmtime
    shown.setFormatter(shape)
    LOGGER.addHandler(shown)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def _word(value: object) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return f'"{text}"' if " " in text or not text else text
