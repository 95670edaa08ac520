"""Variables of the device in a cut text: each begins with what it held when the kernel was launched."""

from __future__ import annotations

import re

import numpy as np

from warpsight.capture.cut import CutKernel, is_variable
from warpsight.capture.element_types import element_type
from warpsight.capture.items import SourceItem
from warpsight.capture.recording import CannotCapture, LaunchRecord
from warpsight.nouns.dtypes import is_float
from warpsight.source.tree import within

MOST_VALUES = 8192
_SUFFIX = {"float32": "f", "uint32": "u", "int64": "ll", "uint64": "ull"}


def with_values(cut: CutKernel, record: LaunchRecord) -> str:
    """The cut text with first values for the variables that the program had set."""
    text = cut.text
    for item in cut.items:
        if not is_variable(item) or item.text not in text:
            continue
        text = text.replace(item.text, _valued(item, cut, record), 1)
    return text


def _valued(item: SourceItem, cut: CutKernel, record: LaunchRecord) -> str:
    assert item.node is not None
    kind = item.node.child_by_field_name("type")
    declarators = item.node.children_by_field_name("declarator")
    if kind is None or kind.text is None or item.node.type != "declaration":
        return item.text
    element = element_type(kind.text.decode(), cut.items, cut.types)
    parts: list[str] = []
    for declarator in declarators:
        inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
        assert inner is not None and inner.text is not None
        shown = inner.text.decode()
        name = next(one.text.decode() for one in within(inner, "identifier") if one.text is not None)
        body = _contents(name, record)
        if body is None:
            return item.text
        if any(within(inner, "pointer_declarator")):
            raise CannotCapture(f"the variable {name} of the device is a pointer")
        parts.append(f"{shown}{_first_value(name, body, element.dtype, element.opaque, '[' in shown)}")
    before = item.text[: item.text.index(parts[0].split("=")[0].strip().split("[")[0])]
    return f"{before}{', '.join(parts)};"


def _contents(name: str, record: LaunchRecord) -> bytes | None:
    """By its own name, or by the one that the compiler made of it."""
    for known, body in record.variables.items():
        if known == name or re.search(rf"(?<!\d){len(name)}{re.escape(name)}(?:E|$|_)", known):
            return body
    return None


def _first_value(name: str, body: bytes, dtype: str, opaque: bool, several: bool) -> str:
    if not any(body):
        return ""
    if opaque:
        raise CannotCapture(f"the variable {name} of the device is a struct of several kinds of numbers")
    values = np.frombuffer(body[: len(body) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize], dtype)
    if values.size > MOST_VALUES:
        raise CannotCapture(f"the variable {name} of the device has {values.size:,} elements, {MOST_VALUES:,} at most")
    if is_float(dtype) and not np.isfinite(values.astype(np.float64)).all():
        raise CannotCapture(f"the variable {name} of the device holds numbers that are not finite")
    if dtype not in ("float32", "float64") and is_float(dtype):
        raise CannotCapture(f"the variable {name} of the device is of type {dtype}")
    shown = [f"{value!s}{_SUFFIX.get(dtype, '')}" for value in (_plain(v, dtype) for v in values)]
    return f" = {{{', '.join(shown)}}}" if several else f" = {shown[0]}"


def _plain(value: np.generic, dtype: str) -> str:
    if not is_float(dtype):
        return str(int(value))
    text = str(value)
    return text if any(c in text for c in ".en") else f"{text}.0"
