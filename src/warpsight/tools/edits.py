"""How a kernel is handed over: the whole file, or search/replace blocks on one that is known by a name.

A block must match exactly once, to the character; otherwise nothing is changed and the caller is told where it stands.
Tools themselves only ever see whole kernels: `offer_edits` adds the short forms to what a caller is shown, and
`whole_kernel` turns what came back into full texts. A kernel's id is made of its hash, so that everybody who has the
text knows the id, in another process too.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from pydantic import JsonValue

from warpsight.tools.box import ToolSpec

KERNEL, EDITS, BASE, AGAINST = "kernel", "edits", "base", "against"
CURRENT, BEST, GIVEN = "current", "best", "given"
_SHOWN_NAMES = 12
_FORM = 'write "edits": [{"search": "lines as they are", "replace": "lines as they are to be"}]'
_KINDS: dict[type, str] = {str: "a text", bool: "a truth value", list: "a list", dict: "an object"}
_EDITS_SCHEMA: dict[str, JsonValue] = {
    "type": "array",
    "description": "instead of `kernel`: changes to `base`, in order; each `search` must occur exactly once",
    "items": {
        "type": "object",
        "properties": {"search": {"type": "string"}, "replace": {"type": "string"}},
        "required": ["search", "replace"],
    },
}
_BASE_SCHEMA: dict[str, JsonValue] = {
    "type": "string",
    "description": "without `kernel`: `current` (default), `best`, `given` or an id as `c3f9a12`",
}


class EditBlock(NamedTuple):
    """One block."""

    search: str
    replace: str


class EditFailed(ValueError):
    """The edits do not apply; the message is for the model."""


def offer_edits(spec: ToolSpec) -> ToolSpec:
    """The spec as a caller sees it: a tool that takes a kernel takes edits too, or nothing for the current one."""
    properties = spec.parameters.get("properties")
    if not isinstance(properties, dict) or KERNEL not in properties:
        return spec
    required = cast(list[JsonValue], spec.parameters.get("required") or [])
    left = [name for name in required if name != KERNEL]
    parameters: dict[str, JsonValue] = {
        **{key: value for key, value in spec.parameters.items() if key != "required"},
        "properties": {**properties, EDITS: _EDITS_SCHEMA, BASE: _BASE_SCHEMA},
        **({"required": left} if left else {}),
    }
    return spec.model_copy(update={"parameters": parameters})


def whole_kernel(
    arguments: Mapping[str, JsonValue], kernels: Mapping[str, str], spec: ToolSpec | None = None
) -> dict[str, JsonValue]:
    """The arguments with `kernel` as a whole text, and `against` too for a tool that compares with another kernel."""
    rest = {name: value for name, value in arguments.items() if name not in (KERNEL, EDITS, BASE)}
    rest |= _against(arguments, kernels, spec)
    given, edits = arguments.get(KERNEL), arguments.get(EDITS)
    if given is not None and (edits is not None or arguments.get(BASE) is not None):
        raise EditFailed("give `kernel` (a whole file) or `edits` with an optional `base`, not both")
    if given is not None:
        return {**rest, KERNEL: _text(arguments, KERNEL)}
    text = _named(_text(arguments, BASE, CURRENT), kernels)
    return {**rest, KERNEL: apply_edits(text, read_edits(edits))}


def read_edits(value: JsonValue) -> list[EditBlock]:
    """The blocks in an argument, whoever wrote it; EditFailed shows the exact form where it is another."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise EditFailed(f"`{EDITS}`: expected a list, found {_kind(value)}; {_FORM}")
    return [_edit(number, one) for number, one in enumerate(value, start=1)]


def _edit(number: int, value: JsonValue) -> EditBlock:
    if not isinstance(value, dict):
        raise EditFailed(f"edit {number}: expected an object, found {_kind(value)}; {_FORM}")
    if set(value) != set(EditBlock._fields):
        found = ", ".join(f"`{name[:40]}`" for name in value) or "none"
        raise EditFailed(f"edit {number}: expected the keys `search` and `replace`, found {found}; {_FORM}")
    return EditBlock(_text(value, "search"), _text(value, "replace"))


def _text(given: Mapping[str, JsonValue], name: str, otherwise: str | None = None) -> str:
    found = otherwise if given.get(name) is None else given[name]
    if not isinstance(found, str):
        raise EditFailed(
            f"`{name}`: expected a text, found {_kind(found)}{f'; {_FORM}' if name in EditBlock._fields else ''}"
        )
    try:
        found.encode()
    except UnicodeEncodeError:
        raise EditFailed(f"`{name}`: half of a character (a lone surrogate) is no text") from None
    return found


def _kind(value: JsonValue) -> str:
    return "nothing" if value is None else _KINDS.get(type(value), "a number")


def apply_edits(text: str, edits: Sequence[EditBlock]) -> str:
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


def _against(
    arguments: Mapping[str, JsonValue], kernels: Mapping[str, str], spec: ToolSpec | None
) -> dict[str, JsonValue]:
    properties = None if spec is None else spec.parameters.get("properties")
    declared = properties.get(AGAINST) if isinstance(properties, dict) else None
    if not isinstance(declared, dict):
        return {}
    wanted = _text(arguments, AGAINST, str(declared.get("default", GIVEN)))
    return {AGAINST: wanted if "\n" in wanted else _named(wanted, kernels)}  # a whole text needs no name


def _named(name: str, kernels: Mapping[str, str]) -> str:
    if name not in kernels:
        known = list(kernels)
        shown = ", ".join(known[:_SHOWN_NAMES]) + (", ..." if len(known) > _SHOWN_NAMES else "")
        raise EditFailed(f"no kernel is called {name[:40]!r}; known are {shown}")
    return kernels[name]


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
