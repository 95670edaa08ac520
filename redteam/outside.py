"""Runs of the gate in a process of their own, with a cache of their own: what a user sees who types the commands.

Attacks that change files, or what a process remembers, need both: the next command must not know what the last one had
in memory. Only commands and their JSON are used, so nothing here depends on how the gate is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAIT_S = 300.0


@dataclass(frozen=True)
class Answer:
    """What a command said: its exit code, its JSON, and its text where there is none."""

    code: int
    json: Any
    text: str


def ask(words: list[str | Path], cache: Path) -> Answer:
    """`warpsight WORDS`, or `python -m redteam.…` where the first word is a module, with this cache and data folder."""
    first = str(words[0])
    script = str(Path(sys.executable).with_name("warpsight"))
    program = [sys.executable, "-m", first] if first.startswith("redteam.") else [script, first]
    environment = dict(os.environ, WARPSIGHT_CACHE=str(cache), WARPSIGHT_DATA=str(cache.parent / "data"))
    try:
        ran = subprocess.run(
            [*program, *map(str, words[1:])],
            env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Answer(-1, None, f"no answer in {WAIT_S:.0f} s")
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        found = None
    return Answer(ran.returncode, found, f"{ran.stdout}\n{ran.stderr}")
