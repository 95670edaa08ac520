"""`warpsight train` in a process of its own, that can be killed: its configuration as a file, and all that it says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from warpsight.learn.config import Rl, Sft, read_config

MOST_SECONDS = 240.0


class Child:
    """A training that goes on. Whoever waits for it waits for so long, then the test fails with what it said."""

    def __init__(self, process: subprocess.Popen[bytes], said: Path) -> None:
        self._process = process
        self._said = said

    @property
    def said(self) -> str:
        return self._said.read_text()

    def kill_when(self, what: str, there: Callable[[], object]) -> None:
        """Kill it while something is there: it is stopped first, and goes on where that has passed meanwhile."""
        latest = time.monotonic() + MOST_SECONDS
        while True:
            if self._process.poll() is not None:
                self._fail(f"it ended with {self._process.returncode} before there was {what}")
            if time.monotonic() > latest:
                self._fail(f"there was no {what} after {MOST_SECONDS:g} seconds")
            if there():
                self._process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if there():
                    break
                self._process.send_signal(signal.SIGCONT)
            time.sleep(0.005)
        self._process.kill()
        code = self._process.wait(timeout=MOST_SECONDS)
        if code != -signal.SIGKILL:
            self._fail(f"it ended with {code} before it was killed")

    def end(self) -> None:
        """Let it end by itself."""
        try:
            code = self._process.wait(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            self._fail(f"it had not ended after {MOST_SECONDS:g} seconds")
        else:
            if code:
                self._fail(f"expected that it ends with 0, it was {code}")

    def _fail(self, why: str) -> None:
        pytest.fail(f"{why}; it said:\n{self.said[-3000:]}")


@contextmanager
def training(config: Sft | Rl) -> Generator[Child]:
    """Train by the command; it and all that it started are ended with the block."""
    kind = "sft" if isinstance(config, Sft) else "rl"
    folder = Path(config.output).with_suffix(".child")
    folder.mkdir(parents=True, exist_ok=True)
    file, said = folder / "config.toml", folder / "said.txt"
    file.write_text("\n".join(toml_lines(config.model_dump(mode="json"))))
    assert read_config(file, kind) == config
    words = [sys.executable, "-m", "warpsight.cli.app", "train", kind, str(file)]
    with (
        said.open("wb") as out,
        subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True) as process,
    ):
        try:
            yield Child(process, said)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def toml_lines(values: dict[str, Any], table: str = "") -> list[str]:
    """A configuration as TOML, whose plain values and lists are written as in JSON; what is None is left out."""
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    plain = {name: value for name, value in values.items() if name not in tables and value is not None}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for name, value in tables.items():
        inner = f"{table}.{name}" if table else name
        lines += [f"[{inner}]", *toml_lines(value, inner)]
    return lines
