"""How a model hands over a kernel: the whole file, or search/replace blocks on one it knows.

A block must match exactly once, to the character; otherwise nothing is changed and the model is told where it stands.
Tools themselves only ever see whole kernels: `offer_edits` adds the short forms to what the model is shown, and
`whole_kernel` turns what it wrote back into the full text.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, cast

from pydantic import JsonValue

from warpsight.tools.box import ToolSpec

Base = Literal["current", "best", "original"]
KERNEL, EDITS, BASE = "kernel", "edits", "base"
_EDITS_SCHEMA: dict[str, JsonValue] = {
    "type": "array",
    "minItems": 1,
    "description": "instead of `kernel`: blocks applied in order; each `search` must occur exactly once in the kernel",
    "items": {
        "type": "object",
        "properties": {
            "search": {"type": "string", "minLength": 1, "description": "lines of the kernel, copied exactly"},
            "replace": {"type": "string", "description": "what stands there afterwards"},
        },
        "required": ["search", "replace"],
        "additionalProperties": False,
    },
}
_BASE_SCHEMA: dict[str, JsonValue] = {
    "type": "string",
    "enum": ["current", "best", "original"],
    "description": "which kernel is meant without `kernel`: the last one you gave (default), the fastest right one,"
    " or the one you were given",
}


class Edit(NamedTuple):
    """One block."""

    search: str
    replace: str


class EditFailed(ValueError):
    """The edits do not apply; the message is for the model."""


def offer_edits(spec: ToolSpec) -> ToolSpec:
    """The spec as the model sees it: a tool that takes a kernel takes edits too, or nothing for the current one."""
    properties = spec.parameters.get("properties")
    if not isinstance(properties, dict) or KERNEL not in properties:
        return spec
    required = cast(list[JsonValue], spec.parameters.get("required") or [])
    parameters: dict[str, JsonValue] = {
        **spec.parameters,
        "properties": {**properties, EDITS: _EDITS_SCHEMA, BASE: _BASE_SCHEMA},
        "required": [name for name in required if name != KERNEL],
    }
    return spec.model_copy(update={"parameters": parameters})


def whole_kernel(arguments: Mapping[str, JsonValue], kernels: Mapping[Base, str]) -> dict[str, JsonValue]:
    """The arguments with `kernel` as a whole text, for a tool that takes one."""
    rest = {name: value for name, value in arguments.items() if name not in (KERNEL, EDITS, BASE)}
    given, edits = arguments.get(KERNEL), arguments.get(EDITS)
    if given is not None and (edits is not None or BASE in arguments):
        raise EditFailed("give `kernel` (a whole file) or `edits` with an optional `base`, not both")
    if given is not None:
        return {**rest, KERNEL: given}
    text = kernels[cast(Base, arguments.get(BASE, "current"))]
    blocks = [Edit(str(e["search"]), str(e["replace"])) for e in cast(list[dict[str, JsonValue]], edits or [])]
    return {**rest, KERNEL: apply_edits(text, blocks)}


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text after all edits, or EditFailed and nothing is changed."""
    for number, edit in enumerate(edits, start=1):
        name = f"edit {number}" if len(edits) > 1 else "the edit"
        if not edit.search:
            raise EditFailed(f"{name}: `search` is empty; copy the lines that are to be replaced")
        at = _places(text, edit.search)
        if not at:
            raise EditFailed(f"{name}: `search` does not occur in the kernel{_nearest(text, edit.search)}")
        if len(at) > 1:
            lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in at[:8])
            raise EditFailed(
                f"{name}: `search` occurs {len(at)} times (lines {lines}); add lines around it until it occurs once"
            )
        text = text[: at[0]] + edit.replace + text[at[0] + len(edit.search) :]
    return text


def _places(text: str, search: str) -> list[int]:
    """Where it starts, overlapping places included: two that overlap are also not one."""
    found: list[int] = []
    at = text.find(search)
    while at >= 0:
        found.append(at)
        at = text.find(search, at + 1)
    return found


def _nearest(text: str, search: str) -> str:
    """The line that is most like the first line looked for, to show what differs."""
    first = next((line for line in search.splitlines() if line.strip()), "")
    lines = text.splitlines()
    close = difflib.get_close_matches(first, lines, n=1, cutoff=0.6)
    if not close:
        return "; copy the lines exactly, spaces included"
    return f"; the nearest line is {lines.index(close[0]) + 1}: {close[0]!r}"
