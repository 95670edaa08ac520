"""A kernel's name as a person tells it from its template instances: `_Z3addILi16EfEvPT_` is `add<16, float>`.

Reads what kernels of C++ programs have as template arguments: numbers, basic types, pointers, plain names. What is
beyond that is shown without its arguments, as `kernel_name` shows it.
"""

from __future__ import annotations

import functools
import re

from warpsight.vgpu.faults import kernel_name

_TYPES = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long",
    "f": "float", "d": "double", "w": "wchar_t", "Dh": "half",
}  # fmt: skip
_LITERAL = re.compile(r"L([bchastijlmxy])(n?)(\d+)E")
_LENGTH = re.compile(r"\d+")
MOST = 60


@functools.cache
def kernel_title(symbol: str) -> str:
    """The name with its template arguments where they can be read and are short."""
    name = kernel_name(symbol)
    at = symbol.find(name) + len(name)
    if not symbol.startswith("_Z") or symbol[at : at + 1] != "I":
        return name
    said: list[str] = []
    at += 1
    while at < len(symbol) and symbol[at] != "E":
        read = _argument(symbol, at)
        if read is None:
            return name
        said.append(read[0])
        at = read[1]
    whole = f"{name}<{', '.join(said)}>"
    return whole if len(whole) <= MOST else f"{whole[: MOST - 1]}…"


def _argument(symbol: str, at: int) -> tuple[str, int] | None:
    """One argument and where it ends; None for a form that is not read."""
    if found := _LITERAL.match(symbol, at):
        kind, minus, digits = found.groups()
        value = {"0": "false", "1": "true"}.get(digits, digits) if kind == "b" else f"{'-' if minus else ''}{digits}"
        return value, found.end()
    for sign, after in (("P", "*"), ("K", " const"), ("R", "&")):
        if symbol.startswith(sign, at):
            inner = _argument(symbol, at + 1)
            return None if inner is None else (inner[0] + after, inner[1])
    if found := _LENGTH.match(symbol, at):
        end = found.end() + int(found[0])
        return (symbol[found.end() : end], end) if symbol[end : end + 1] != "I" else None
    for code in (symbol[at : at + 2], symbol[at : at + 1]):
        if code in _TYPES:
            return _TYPES[code], at + len(code)
    return None
