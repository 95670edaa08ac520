"""Markup made of parts that are escaped by construction: a plain string is text, only `Html` is markup.

Whatever comes from a model, a kernel or a task is a plain string, so it cannot become a tag, an attribute or a script.
Characters that a browser would drop, or that change the direction of what is read, are shown as what they are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

# C0 controls but tab and newline, DEL and C1, the marks that reorder text, separators, lone surrogates.
_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_VOID = frozenset(("meta", "input", "br", "hr", "link"))


class Html(str):
    """Text that is markup already. Made here, and from files of this package, never from what others wrote."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"


def text(value: str) -> Html:
    """Any text as markup that shows it."""
    visible = _STRANGE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", value.replace("\r\n", "\n"))
    return Html(html.escape(visible, quote=True))


def join(*children: Child) -> Html:
    """Parts in a row."""
    return Html("".join(_parts(children)))


def tag(name: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """One element. `class_` is class, other underscores are dashes; True is a bare attribute, None and False none."""
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{said}>")
    return Html(f"<{name}{said}>{join(*children)}</{name}>")


def _parts(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            yield child
        elif isinstance(child, str):
            yield text(child)
        else:
            yield from _parts(child)


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    said = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{text(said)}"'
