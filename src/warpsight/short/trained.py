"""What a trained model says of itself: a small file beside its weights, so that it is asked as it was trained.

A model that was tuned on our tools need not be told of them again; one that was not must be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from warpsight.short.prompting import Suite

FILE = "warpsight.json"
WORDS = "causes.toml"  # the dictionary that a model was trained with; files without one are of models before it


def write_trained(folder: Path, *, listed: bool, suites: Iterable[Suite], first_words: bool = False) -> None:
    """`listed`: whether its prompts list the tools; `suites`: what it was asked in training; `first_words`: whether it
    was trained on the names that findings had before there was one dictionary."""
    said = {"tools_listed": listed, "suites": sorted(set(suites))} | ({} if first_words else {"words": WORDS})
    (folder / FILE).write_text(json.dumps(said) + "\n")


def suite_to_optimize(folder: Path) -> Suite:
    """How this model is asked for a faster kernel: to make it, if it learned that; else for the cause alone."""
    file = folder / FILE
    known = json.loads(file.read_text()).get("suites", ["optimize"]) if file.is_file() else ["optimize"]
    return "optimize" if "optimize" in known else "apply"


def must_list_tools(folder: Path | None) -> bool:
    """Whether prompts for this model or adapter list the tools: yes, unless it says otherwise."""
    file = None if folder is None else folder / FILE
    if file is None or not file.is_file():
        return True
    return bool(json.loads(file.read_text()).get("tools_listed", True))


def knows_first_words(folder: Path | None) -> bool:
    """Whether this model was trained on the names that findings had before there was one dictionary."""
    file = None if folder is None else folder / FILE
    return file is not None and file.is_file() and json.loads(file.read_text()).get("words") != WORDS


def lists_tools(traces: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any of these traces has a prompt that lists tools."""
    return any(tool["function"].get("listed", True) for trace in traces for tool in trace["tools"])
