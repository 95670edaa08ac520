"""What a run may use: tool calls, tokens, seconds, money. Pure functions of a limit and of what was spent.

Tokens are input and output of every reply, as a provider charges them. Seconds are those spent waiting for the model
and the tools; the time between a kill and a resume is not spent. What must stay true: what was spent comes from the
records of a run alone, so a resumed run, and a replayed one, shows its model the same lines.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from warpsight.errors import UsageError
from warpsight.nouns.base import Noun
from warpsight.nouns.run import Spent

_KEYS = {"calls": "tool_calls", "tokens": "tokens", "seconds": "seconds", "cost": "cost_usd", "usd": "cost_usd"}
_EXAMPLE = "calls=20,tokens=100000,seconds=900,cost=0.50"


class Budget(Noun):
    """The limits of a run; None is no limit."""

    tool_calls: Annotated[int, Field(ge=1)] | None = 24
    tokens: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    cost_usd: Annotated[float, Field(gt=0)] | None = None


def parse_budget(text: str) -> Budget:
    """`calls=20,tokens=100000,seconds=900,cost=0.50` as a Budget; what is not named keeps its default."""
    values: dict[str, float | int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, number = part.partition("=")
        field = _KEYS.get(name.strip())
        if field is None or field in values:
            raise UsageError(f"budget: expected {', '.join(_KEYS)}, each once; found {part!r}", hint=_EXAMPLE)
        try:
            values[field] = int(number) if field in ("tool_calls", "tokens") else float(number)
        except ValueError:
            raise UsageError(f"budget: expected a number for {name.strip()}, found {number!r}", hint=_EXAMPLE) from None
    try:
        return Budget.model_validate(values)
    except ValueError:
        raise UsageError(f"budget: expected numbers greater than zero, found {text!r}", hint=_EXAMPLE) from None


def add_spent(one: Spent, other: Spent) -> Spent:
    """The sum; a cost that is unknown on one side stays unknown."""
    known = one.cost_usd is not None and other.cost_usd is not None
    return Spent(
        tool_calls=one.tool_calls + other.tool_calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        seconds=one.seconds + other.seconds,
        cost_usd=(one.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
    )


def left_line(budget: Budget, spent: Spent) -> str:
    """What is left, in one short line for the model; empty without limits."""
    parts: list[str] = []
    if budget.tool_calls is not None:
        calls = max(0, budget.tool_calls - spent.tool_calls)
        parts.append(f"{calls} tool call{'' if calls == 1 else 's'}")
    if budget.tokens is not None:
        parts.append(f"{max(0, budget.tokens - _tokens(spent))} tokens")
    if budget.seconds is not None:
        parts.append(f"{max(0.0, budget.seconds - spent.seconds):.0f} s")
    if budget.cost_usd is not None and spent.cost_usd is not None:
        parts.append(f"${max(0.0, budget.cost_usd - spent.cost_usd):.2f}")
    return f"[budget left: {', '.join(parts)}]" if parts else ""


def calls_spent(budget: Budget, spent: Spent) -> bool:
    """Whether no tool call is left; a submission is still allowed then."""
    return budget.tool_calls is not None and spent.tool_calls >= budget.tool_calls


def exhausted(budget: Budget, spent: Spent) -> str | None:
    """Why the model cannot be asked again, or None. Tool calls are not part of it: see `calls_spent`."""
    if budget.tokens is not None and _tokens(spent) >= budget.tokens:
        return f"{_tokens(spent)} of {budget.tokens} tokens are spent"
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        return f"{spent.seconds:.0f} of {budget.seconds:.0f} seconds are spent"
    if budget.cost_usd is not None and spent.cost_usd is not None and spent.cost_usd >= budget.cost_usd:
        return f"${spent.cost_usd:.4f} of ${budget.cost_usd:.4f} are spent"
    return None


def seconds_left(budget: Budget, spent: Spent) -> float | None:
    """How long the next reply may take; None without a limit. Asked only while something is left."""
    return None if budget.seconds is None else max(0.001, budget.seconds - spent.seconds)


def remaining(budget: Budget, spent: Spent) -> Budget | None:
    """A budget of what is left, for a further attempt; None when something has run out."""
    if calls_spent(budget, spent) or exhausted(budget, spent) is not None:
        return None
    return Budget(
        tool_calls=None if budget.tool_calls is None else budget.tool_calls - spent.tool_calls,
        tokens=None if budget.tokens is None else budget.tokens - _tokens(spent),
        seconds=None if budget.seconds is None else budget.seconds - spent.seconds,
        cost_usd=None if budget.cost_usd is None else budget.cost_usd - (spent.cost_usd or 0.0),
    )


def share(budget: Budget, parts: int) -> Budget:
    """An equal part of a budget."""
    if budget.tool_calls is not None and budget.tool_calls < parts:
        raise UsageError(
            f"budget: {budget.tool_calls} tool calls cannot be shared by {parts} attempts", hint="raise calls="
        )
    return Budget(
        tool_calls=None if budget.tool_calls is None else budget.tool_calls // parts,
        tokens=None if budget.tokens is None else max(1, budget.tokens // parts),
        seconds=None if budget.seconds is None else budget.seconds / parts,
        cost_usd=None if budget.cost_usd is None else budget.cost_usd / parts,
    )


def _tokens(spent: Spent) -> int:
    return spent.input_tokens + spent.output_tokens
