"""Watches a program's launches and keeps one of them: sizes, parameters, arrays before and after.

The arrays are what the pointers among the parameters lead to, each from there to the end of its allocation. What must
stay true: nothing is kept beyond the cap; the program is ended once the launch is recorded, so no result of it counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warpsight.errors import WarpsightError
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.launches import LaunchAsked, LaunchDone, Launcher
from warpsight.programs.loaded import LoadedKernel, LoadedModule
from warpsight.vgpu.bytecode import Space
from warpsight.vgpu.machine import Dim3

DEFAULT_CAP_BYTES = 64 << 20


class CannotCapture(WarpsightError):
    """This launch, or this kernel, cannot be made a task; the message says what is in the way."""

    exit_code = 1


class LaunchRecorded(Exception):
    """Ends the program: the launch is kept."""


@dataclass(frozen=True)
class RecordedArray:
    """What a pointer leads to, before and after. `address` and `end` are those of the program."""

    address: int
    end: int
    before: np.ndarray
    after: np.ndarray


@dataclass
class LaunchRecord:
    """One launch, as the program made it. `params` are the bytes of each parameter, `arrays` by their number."""

    kernel: str
    number: int
    grid: Dim3
    block: Dim3
    shared_bytes: int
    params: tuple[bytes, ...]
    arrays: dict[int, RecordedArray]
    source: Path | None
    ptx: str
    variables: dict[str, bytes] = field(default_factory=dict[str, bytes])
    changed_variables: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()


Wanted = Callable[[str, LaunchAsked], bool]
"""Whether the kernel of this name, launched so, is looked for."""


class RecordingLauncher(Launcher):
    """A launcher that keeps the launch `number` among those that are wanted; equal repeats count once."""

    def __init__(
        self, memory: DeviceMemory, *, cores: int, wanted: Wanted, number: int, cap_bytes: int = DEFAULT_CAP_BYTES
    ) -> None:
        super().__init__(memory, check=None, cores=cores)
        self.wanted, self.number, self.cap_bytes = wanted, number, cap_bytes
        self.seen = 0
        self.known: dict[str, int] = {}
        self.record: LaunchRecord | None = None

    def run(
        self, module: LoadedModule, kernel: LoadedKernel, asked: LaunchAsked, *, constants: bytes, seconds: float
    ) -> LaunchDone:
        self.known[kernel.name] = self.known.get(kernel.name, 0) + 1
        found = self.wanted(kernel.name, asked)
        self.seen += found
        if not found or self.seen != self.number:
            return super().run(module, kernel, asked, constants=constants, seconds=seconds)
        params = _params(kernel, asked)
        before = self._before(params)
        variables = self._variables(module, kernel)
        done = super().run(module, kernel, asked, constants=constants, seconds=seconds)
        self.record = self._recorded(module, kernel, asked, params, before, variables, done)
        raise LaunchRecorded

    def _before(self, params: tuple[bytes, ...]) -> dict[int, tuple[int, int, np.ndarray]]:
        """The contents under each pointer, at most the cap together."""
        found: dict[int, tuple[int, int]] = {}
        for number, raw in enumerate(params):
            address = int.from_bytes(raw, "little") if len(raw) == 8 else 0
            end = self._end_of(address)
            if end is not None:
                found[number] = (address, end)
        total = sum(end - address for address, end in found.values())
        if total > self.cap_bytes:
            raise CannotCapture(
                f"the arrays of this launch have {total:,} bytes, at most {self.cap_bytes:,} are recorded",
                hint="run the program with smaller arguments, or raise the cap with --cap-mb",
            )
        return {n: (at, end, self.memory.view(at, end - at).copy()) for n, (at, end) in found.items()}

    def _end_of(self, address: int) -> int | None:
        for piece in self.memory.pieces.values():
            if piece.address <= address < piece.address + piece.size:
                return piece.address + piece.size
        return None

    def _variables(self, module: LoadedModule, kernel: LoadedKernel) -> dict[str, bytes]:
        """The variables that the kernel names, with their contents, those in constant memory too."""
        found: dict[str, bytes] = {}
        for symbol in kernel.program.symbols:
            known = module.variables.get(symbol.name)
            if known is not None:
                found[symbol.name] = self.memory.view(known.address, known.size).tobytes()
            elif symbol.space is Space.GLOBAL and symbol.name in module.addresses:
                found[symbol.name] = self.memory.view(module.addresses[symbol.name], max(1, symbol.size)).tobytes()
        return found

    def _recorded(
        self,
        module: LoadedModule,
        kernel: LoadedKernel,
        asked: LaunchAsked,
        params: tuple[bytes, ...],
        before: dict[int, tuple[int, int, np.ndarray]],
        variables: dict[str, bytes],
        done: LaunchDone,
    ) -> LaunchRecord:
        after = self._variables(module, kernel)
        arrays = {
            number: RecordedArray(at, end, old, self.memory.view(at, end - at).copy())
            for number, (at, end, old) in before.items()
        }
        under = {self._base_of(array.address) for array in arrays.values()}
        own = {v.address for v in module.variables.values()} | set(module.addresses.values())
        return LaunchRecord(
            kernel=kernel.name, number=self.number, grid=asked.grid, block=asked.block,
            shared_bytes=asked.shared_bytes, params=params, arrays=arrays, source=kernel.source, ptx=module.ptx,
            variables=variables,
            changed_variables=tuple(sorted(name for name, body in after.items() if body != variables.get(name))),
            elsewhere=tuple(f"{at:#x}" for at, _ in done.touched if at not in under and at not in own),
            obstacles=tuple(_obstacles(kernel, asked, done)),
        )  # fmt: skip

    def _base_of(self, address: int) -> int | None:
        pieces = self.memory.pieces.values()
        return next((p.address for p in pieces if p.address <= address < p.address + p.size), None)


def _params(kernel: LoadedKernel, asked: LaunchAsked) -> tuple[bytes, ...]:
    return tuple(asked.params[p.offset : p.offset + p.size] for p in kernel.program.params)


def _obstacles(kernel: LoadedKernel, asked: LaunchAsked, done: LaunchDone) -> list[str]:
    """What makes a launch none that could be repeated on its own."""
    found: list[str] = []
    if done.faults:
        found.append(f"the launch faults: {done.faults[0].kind}: {done.faults[0].message}")
    if asked.cooperative and kernel.core_meeting is not None:
        found.append("its blocks wait for each other across the grid (a cooperative launch)")
    if kernel.uses_heap:
        found.append("it takes memory with malloc on the device, which lives on after the launch")
    if done.printed:
        found.append("it prints, and what it prints is a result that no array holds")
    return found
