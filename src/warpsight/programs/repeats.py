"""Launches that need not run again: same kernel, same arguments, same bytes in all that it read or wrote before.

A launch is a function of those, so what it wrote is put back instead. Exact: contents are compared by a digest of 512
bits, and a launch that printed, faulted, took memory from the device heap or met across its grid always runs. Digests
and copies of what was written cost time too, so they are made only for launches that came before, and only while they
stay a small share of what the launches take, those included that were saved. What holds the result already is left as
it is: in a timing loop nothing is copied.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warpsight.programs.device_memory import DeviceMemory

MOST_KEPT_BYTES = 1 << 30
MOST_SHARE = 0.1  # of the time that launches took or would have taken, for digests and copies
LEAST_S = 2e-4  # a shorter launch is run as quickly as put back
FREE_S = 0.01  # that they may take before anything is known
BYTES_PER_S = 2e9  # of a digest or a copy, until it is known better

Touched = tuple[tuple[int, bool], ...]


Result = dict[int, tuple[NDArray[np.uint8], bytes]]
"""What a launch wrote, by allocation, with its digest."""


@dataclass
class _Known:
    """What is known of one launch with one set of arguments."""

    touched: Touched
    seconds: float = 0.0
    results: dict[bytes, Result] = field(default_factory=dict[bytes, Result])


class Repeats:
    """The launches so far. `skip` before a launch, `ran` after it."""

    def __init__(self, memory: DeviceMemory) -> None:
        self._memory = memory
        self._known: dict[Hashable, _Known] = {}
        self._digests: dict[int, bytes] = {}  # of allocations that nobody wrote since
        self._kept_bytes = 0
        self._state: bytes | None = None
        self._passed_bytes = 0  # through digests and copies
        self.cost_s = self.launch_s = self.saved_s = 0.0
        self.skipped = 0

    def wrote(self, address: int) -> None:
        """The allocation at this base may hold something else now."""
        self._digests.pop(address, None)

    def skip(self, key: Hashable) -> bool:
        """True: the launch was made by putting back what it wrote before."""
        self._state = None
        known = self._known.get(key)
        if known is None or (self.cost_s > FREE_S and not (known.seconds > LEAST_S and self._affordable(0))):
            return False
        began = time.perf_counter()
        skipped = self._skip(known)
        self.cost_s += time.perf_counter() - began
        self.skipped += skipped
        self.saved_s += known.seconds if skipped else 0.0
        return skipped

    def _skip(self, known: _Known) -> bool:
        if any(at not in self._memory.pieces for at, _ in known.touched):
            return False
        size = self._undigested(known.touched)
        if not self._affordable(size):
            return False
        self._passed_bytes += size
        self._state = self._state_of(known.touched)
        result = known.results.get(self._state)
        if result is None:
            return False
        for address, (data, digest) in result.items():
            if self._digests.get(address) == digest:
                continue
            self._memory.view(address, data.size)[:] = data
            self._digests[address] = digest
            self._passed_bytes += data.size
        return True

    def ran(self, key: Hashable, touched: Touched, seconds: float, *, repeatable: bool) -> None:
        """A launch was run, and touched these allocations."""
        self.launch_s += seconds
        for address, written in touched:
            if written:
                self.wrote(address)
        known = self._known.get(key)
        if known is None or known.touched != touched:
            if repeatable and len(self._known) < 10_000:
                self._known[key] = _Known(touched, seconds)
            return
        known.seconds = seconds
        if self._state is not None and repeatable:
            self._keep(known, self._state)

    def _keep(self, known: _Known, state: bytes) -> None:
        written = [self._memory.pieces[at] for at, wrote in known.touched if wrote]
        size = sum(piece.size for piece in written)
        if self._kept_bytes + size > MOST_KEPT_BYTES or not self._affordable(2 * size):
            return
        began = time.perf_counter()
        self._kept_bytes += size
        self._passed_bytes += 2 * size
        result: Result = {}
        for piece in written:
            digest = self._memory.core.digest(piece.address, piece.size)
            result[piece.address] = self._memory.view(piece.address, piece.size).copy(), digest
            self._digests[piece.address] = digest
        known.results[state] = result
        self.cost_s += time.perf_counter() - began

    def _affordable(self, size: int) -> bool:
        """Whether so many bytes may be digested or copied, at the pace so far."""
        rate = max(1e6, self._passed_bytes / self.cost_s) if self.cost_s > FREE_S else BYTES_PER_S
        return self.cost_s + size / rate < FREE_S + MOST_SHARE * (self.launch_s + self.saved_s)

    def _undigested(self, touched: Touched) -> int:
        pieces = [self._memory.pieces[address] for address, _ in touched]
        return sum(piece.size for piece in pieces if piece.seen_by_host or piece.address not in self._digests)

    def _state_of(self, touched: Touched) -> bytes:
        found: list[bytes] = []
        for address, _ in touched:
            piece = self._memory.pieces[address]
            digest = None if piece.seen_by_host else self._digests.get(address)
            if digest is None:
                digest = self._digests[address] = self._memory.core.digest(address, piece.size)
            found.append(address.to_bytes(8, "little") + piece.size.to_bytes(8, "little") + digest)
        return b"".join(found)
