"""Which prompt a model gets when nobody says: by its name and where it runs. Nothing is asked of a network.

Local weights and names with a size of at most 8 billion parameters get the small one. A name without a size gets the
full one: better a small model that is asked too much once than a large one that is asked too little.
"""

from __future__ import annotations

import re
from typing import get_args
from urllib.parse import urlsplit

from warpsight.errors import UsageError
from warpsight.models.key import is_near
from warpsight.models.open import weights_path
from warpsight.reason.opening import Prompt

MOST_SMALL = 8.0  # billions of parameters
# `7b`, `1.5B`, `135M`, `e4b`, `8x7b`; a letter or digit before or after makes it part of another word.
_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x|[ae])?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)


def billions_in(name: str) -> float | None:
    """The parameters that a model's name says it has, in billions; the largest of several, None where it says none."""
    sizes = [
        float(number) * float(times or 1) / (1000.0 if unit in "mM" else 1.0)
        for times, number, unit in _SIZE.findall(name.rsplit("/", 1)[-1])
    ]
    return max(sizes, default=None)


def require_prompt(word: str) -> Prompt:
    """A prompt by its name."""
    for known in get_args(Prompt):
        if word == known:
            return known
    raise UsageError(f"expected a prompt {', '.join(get_args(Prompt))}, got {word!r}", hint="--prompt small")


def prompt_for(model: str, *, adapter: bool = False) -> Prompt:
    """The prompt for a model by its name, as `--model` takes it."""
    if adapter:
        return "trained"
    kind, _, rest = model.partition(":")
    if kind == "local" or weights_path(model) is not None:
        return "small"
    if kind == "scripted":
        return "full"
    size = billions_in(rest or model)
    return "small" if size is not None and size <= MOST_SMALL else "full"


def is_local(model: str, base_url: str | None) -> bool:
    """Whether it runs on this machine or in a private network: its server or engine is then likely to hold a model to
    a form, and nobody is charged for asking."""
    if model.partition(":")[0] == "local" or weights_path(model) is not None:
        return True
    return base_url is not None and is_near(urlsplit(base_url).hostname or "")
