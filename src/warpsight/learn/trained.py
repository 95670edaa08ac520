"""What a trained model says of itself: a small file beside its weights, so that it is asked as it was trained.

A model that was tuned on our tools need not be told of them again; one that was not must be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FILE = "warpsight.json"


def write_trained(folder: Path, *, listed: bool) -> None:
    """`listed`: whether its prompts list the tools."""
    (folder / FILE).write_text(json.dumps({"tools_listed": listed}) + "\n")


def must_list_tools(folder: Path | None) -> bool:
    """Whether prompts for this model or adapter list the tools: yes, unless it says otherwise."""
    file = None if folder is None else folder / FILE
    if file is None or not file.is_file():
        return True
    return bool(json.loads(file.read_text()).get("tools_listed", True))


def lists_tools(traces: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any of these traces has a prompt that lists tools."""
    return any(tool["function"].get("listed", True) for trace in traces for tool in trace["tools"])
