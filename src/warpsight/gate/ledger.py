"""The append-only record of every evaluation of a run, each line bound to the one before it by its hash.

A line is compact JSON: seq, prev (hash of the line before), kind, body, hash (of the line without it). It is on disk
before the next step begins. Any single changed byte is found: a line's hash no longer fits, or the chain does not.
What it does not do: someone who may rewrite the whole file can make another one that is whole. Publish the head, or
keep a certificate (it holds the head) elsewhere, to rule that out.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from warpsight.errors import BrokenMachine, WarpsightError
from warpsight.files import sync_folder
from warpsight.gate.identity import compact, sha256_of

START = "0" * 64
FILE_NAME = "ledger.jsonl"
_KEYS = {"seq", "prev", "kind", "body", "hash"}


class BrokenLedger(WarpsightError):
    """A ledger that is not what was written: which line, and what is wrong with it."""


@dataclass(frozen=True)
class LedgerLine:
    """One entry."""

    seq: int
    prev: str
    kind: str
    body: dict[str, Any]
    hash: str


def read_line(raw: bytes, seq: int, prev: str) -> LedgerLine:
    """The line in `raw` (without its newline), held to its place in the chain."""
    where = f"ledger line {seq + 1}"
    try:
        found: Any = json.loads(raw)
    except (ValueError, RecursionError):
        raise BrokenLedger(f"{where}: expected JSON") from None
    if not isinstance(found, dict) or set(cast(dict[str, Any], found)) != _KEYS:
        raise BrokenLedger(f"{where}: expected the keys {', '.join(sorted(_KEYS))}")
    entry = cast(dict[str, Any], found)
    if compact(entry) != raw:
        raise BrokenLedger(f"{where}: not in the form it was written in")
    unhashed = {key: value for key, value in entry.items() if key != "hash"}
    if sha256_of(unhashed) != entry["hash"]:
        raise BrokenLedger(f"{where}: its hash is not that of its content")
    if entry["seq"] != seq or entry["prev"] != prev:
        raise BrokenLedger(f"{where}: it does not follow the line before it")
    if not isinstance(entry["kind"], str) or not isinstance(entry["body"], dict):
        raise BrokenLedger(f"{where}: expected a kind and a body")
    return LedgerLine(seq, prev, entry["kind"], cast(dict[str, Any], entry["body"]), entry["hash"])


def read_ledger(path: Path) -> tuple[LedgerLine, ...]:
    """All lines, each checked; BrokenLedger names the first that does not hold."""
    try:
        raw = path.read_bytes()
    except OSError as problem:
        raise BrokenLedger(f"expected a ledger at {path}: {problem}") from None
    if raw and not raw.endswith(b"\n"):
        raise BrokenLedger("the last line of the ledger is not whole")
    lines: list[LedgerLine] = []
    for row in raw.split(b"\n")[:-1]:
        lines.append(read_line(row, len(lines), lines[-1].hash if lines else START))
    return tuple(lines)


class Ledger:
    """A ledger in a folder, with the certificates beside it. Several processes may append to one ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self.certificates = folder / "certificates"
        self._read_bytes = 0
        self._places: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        self._lock = threading.Lock()

    def append(self, kind: str, body: dict[str, Any]) -> LedgerLine:
        """Add a line; when this returns, it is on disk."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = not self.path.exists()
            with self.path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                seq, prev = self._last(file.fileno())
                unhashed = {"seq": seq, "prev": prev, "kind": kind, "body": body}
                line = LedgerLine(seq, prev, kind, body, sha256_of(unhashed))
                _write_whole(file.fileno(), compact({**unhashed, "hash": line.hash}) + b"\n")
                os.fsync(file.fileno())
            if new:
                sync_folder(self.folder)
        except OSError as problem:
            raise BrokenMachine(f"could not write the ledger {self.path}: {problem}", "free space, or rights") from None
        return line

    def count(self, kind: str, key: str, value: str, through: int | None = None) -> int:
        """How many lines of this kind, up to line number `through`, have this value in their body.

        Others may have appended since: what is stated about a line must not depend on them.
        """
        with self._lock:
            if self.path.exists():
                self._read_new()
            places = self._places[kind, key, value]
            return len(places) if through is None else bisect_right(places, through)

    def _read_new(self) -> None:
        with self.path.open("rb") as file:
            file.seek(self._read_bytes)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(raw)
                    words = [(entry["kind"], name, str(word)) for name, word in entry["body"].items()]
                    seq = int(entry["seq"])
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise BrokenLedger(f"a line of {self.path} is not what was written") from None
                self._read_bytes += len(raw)
                for word in words:
                    self._places[word].append(seq)

    def _last(self, file: int) -> tuple[int, str]:
        """Number and hash that the next line follows. A torn last line was never acknowledged and is cut off."""
        size = os.fstat(file).st_size
        tail, start = b"", size
        while start > 0 and tail.count(b"\n") < 2:
            step = min(1 << 16, start)
            start -= step
            tail = os.pread(file, step, start) + tail
        if not tail.endswith(b"\n"):
            whole = tail.rfind(b"\n") + 1
            os.ftruncate(file, start + whole)
            tail = tail[:whole]
            if not tail and start > 0:
                return self._last(file)
        if not tail:
            return 0, START
        row = tail.rstrip(b"\n").rsplit(b"\n", 1)[-1]
        try:
            found = json.loads(row)
            line = read_line(row, found["seq"], found["prev"])
        except (ValueError, KeyError, TypeError):
            raise BrokenLedger(f"the last line of {self.path} is not what was written") from None
        return line.seq + 1, line.hash


def _write_whole(file: int, data: bytes) -> None:
    """All of it or none: a full disk takes a part of a line and says nothing until it is asked again."""
    before, left = os.fstat(file).st_size, memoryview(data)
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        os.ftruncate(file, before)
        raise
