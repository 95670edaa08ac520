"""A census of instruction forms: how many real programs use each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from warpsight.errors import UsageError


def kernels_of(file: Path) -> tuple[int, dict[str, int]]:
    """How many kernels the census has, and how many of them use each operation; (0, {}) when it does not say."""
    data: Any = json.loads(file.read_text(encoding="utf-8"))
    kernels, used = data.get("kernels"), data.get("base_operations")
    return (kernels, cast("dict[str, int]", used)) if isinstance(kernels, int) and isinstance(used, dict) else (0, {})


def read_census(file: Path) -> dict[str, int]:
    """Form -> number of programs, from a census file."""
    try:
        data: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError(f"expected a census in JSON at {file}: {problem}") from None
    forms: Any = cast("dict[str, Any]", data).get("forms") if isinstance(data, dict) else None
    counts = cast("dict[str, Any]", forms) if isinstance(forms, dict) else {}
    if not counts or not all(isinstance(count, int) and count >= 0 for count in counts.values()):
        raise UsageError(f'{file}: expected {{"forms": {{form: count, ...}}}} with at least one form')
    return counts
