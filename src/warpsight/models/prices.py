"""What tokens cost, from a file that the user wrote. A price that is not in it is unknown, and then so is the cost.

["claude-x"]                  # the model's name as it is asked for, in USD per million tokens
input = 3.0
output = 15.0
cached = 0.3                  # optional: tokens read from the provider's cache
cache_write = 3.75            # optional: tokens written to it
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from warpsight.errors import UsageError
from warpsight.models.model import Usage
from warpsight.nouns.base import Noun

PER = 1_000_000
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Noun):
    """USD per million tokens."""

    input: Amount
    output: Amount
    cached: Amount | None = None
    cache_write: Amount | None = None


Prices = dict[str, Price]
_PRICES = TypeAdapter(Prices)


def read_prices(path: Path) -> Prices:
    """The price list in a TOML file."""
    try:
        return _PRICES.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as problem:
        raise UsageError(f"could not read the price list {path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as problem:
        raise UsageError(
            f"expected a price list in {path}, found: {problem}", hint='["MODEL"]  input = 3.0  output = 15.0'
        ) from None


def priced(usage: Usage, price: Price | None) -> Usage:
    """The usage with its cost. What the provider says itself counts first; a missing price leaves it unknown."""
    if usage.cost_usd is not None or price is None or not usage.known:
        return usage
    plain = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
    parts = (
        (plain, price.input),
        (usage.output_tokens, price.output),
        (usage.cached_tokens, price.cached),
        (usage.cache_write_tokens, price.cache_write),
    )
    if any(tokens and each is None for tokens, each in parts):
        return usage
    cost = sum(tokens * (each or 0.0) for tokens, each in parts) / PER
    return usage.model_copy(update={"cost_usd": cost})
