"""The kernels of a translation unit with their registers and the size of their machine code, by a compiler given.

Compiles the unit's device code; a piece that the compiler refuses is taken out and the rest is tried again, so that one
host-only type does not cost all kernels. A kernel that is taken out is listed with the compiler's reason. The compiler
is a parameter: this part of the project knows formats, not toolchains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from warpsight.nouns import Build, EntryUsage
from warpsight.nouns.base import Count, Noun
from warpsight.tasks.importers.hecbench.device_code import DeviceCode, device_code, instance_lines, prelude
from warpsight.tasks.importers.hecbench.instances import instances
from warpsight.tasks.importers.hecbench.unit import TranslationUnit
from warpsight.tasks.importers.records import NotImported

MAX_ROUNDS = 16
INSTRUCTION_BYTES = 16  # of machine code, on every architecture the toolchain compiles for


class Toolchain(Protocol):
    """What is asked of a compiler: device code to a Build, machine code to usage and sizes."""

    def compile(self, text: str, options: Sequence[str]) -> Build: ...

    def usage(self, cubin: bytes) -> tuple[EntryUsage, ...]: ...

    def sizes(self, cubin: bytes) -> Mapping[str, int]:
        """Instructions of each function."""
        ...


class ImportedKernel(Noun):
    """One kernel as it was compiled. `symbol` is its name in the machine code."""

    name: str
    symbol: str
    unit: str
    compiler: str
    registers: Count
    spill_bytes: Count
    shared_bytes: Count
    local_bytes: Count
    sass_instructions: Count
    sass_bytes: Count


@dataclass(frozen=True)
class UnitKernels:
    """What came of one unit: its kernels, those that were refused, and the device code that was compiled."""

    kernels: tuple[ImportedKernel, ...]
    refused: tuple[NotImported, ...]
    text: str


def list_kernels(unit: TranslationUnit, options: Sequence[str], toolchain: Toolchain) -> UnitKernels:
    """Compile the device code of a unit and list what is in it."""
    code = device_code(unit.text)
    if not code.kernels:
        return UnitKernels((), (), "")
    refused: dict[str, str] = {}
    wanted: dict[str, str] = {}  # an instance -> the kernel it is of
    for kernel in code.kernels:
        if kernel.template:
            types, reason = instances(code, kernel)
            wanted.update({f"{kernel.name}{one}": kernel.name for one in types})
            if reason:
                refused[kernel.name] = reason
    build, text = _until_it_compiles(_Trying(unit, code, wanted, refused), options, toolchain)
    kernels = kernels_of(build.cubin, build.entries, unit.file, build.compiler, toolchain) if build.ok else ()
    seen = {kernel.name for kernel in kernels}
    told = next((one.message for one in build.diagnostics if one.severity == "error"), "it is not in the machine code")
    for kernel in code.kernels:
        if kernel.name not in seen:
            refused.setdefault(kernel.name, told[:300])
    listed = [
        NotImported(file=f"{unit.place(kernel.line)} {kernel.name}", reason=refused[kernel.name])
        for kernel in code.kernels
        if kernel.name in refused and kernel.name not in seen
    ]
    return UnitKernels(kernels, tuple(listed), text if kernels else "")


def kernels_of(
    cubin: bytes, entries: Sequence[EntryUsage], unit: str, compiler: str, toolchain: Toolchain
) -> tuple[ImportedKernel, ...]:
    """The entries of a program with the sizes of their machine code."""
    if not entries:
        return ()
    sizes = toolchain.sizes(cubin)
    return tuple(
        ImportedKernel(
            name=plain_symbol(entry.name),
            symbol=entry.name,
            unit=unit,
            compiler=compiler,
            registers=entry.registers,
            spill_bytes=entry.spill_store_bytes + entry.spill_load_bytes,
            shared_bytes=entry.shared_bytes,
            local_bytes=entry.local_bytes,
            sass_instructions=sizes.get(entry.name, 0),
            sass_bytes=sizes.get(entry.name, 0) * INSTRUCTION_BYTES,
        )
        for entry in sorted(entries, key=lambda one: one.name)
    )


def plain_symbol(symbol: str) -> str:
    """The function's own name in a mangled symbol: the last of its nested names."""
    if not symbol.startswith("_Z"):
        return symbol
    at = 3 if symbol[2:3] == "N" else 2
    name = ""
    while found := re.match(r"\d+", symbol[at:]):
        at += len(found[0])
        name = symbol[at : at + int(found[0])]
        at += int(found[0])
        if symbol[2:3] != "N":
            break
    return name or symbol


@dataclass
class _Trying:
    """What is still in a unit: the pieces taken out, each instance wanted with its kernel, and who was refused."""

    unit: TranslationUnit
    code: DeviceCode
    wanted: dict[str, str]
    refused: dict[str, str]
    without: set[int] = field(default_factory=set[int])

    def blame(self, line: int, body_lines: int, message: str) -> bool:
        """Take out what lies at a line, counted from the unit's own first; False when there is nothing there."""
        piece = self.code.piece_at(line)
        if piece is None:
            return self._blame_instance(line - body_lines, message)
        if piece in self.without:
            return False
        self.without.add(piece)
        for kernel in self.code.kernels:
            if kernel.piece == piece:
                self.refused.setdefault(kernel.name, f"{self.unit.place(line)}: {message[:300]}")
        return True

    def alive(self) -> list[str]:
        return [one for one, kernel in self.wanted.items() if kernel not in self.refused]

    def _blame_instance(self, line: int, message: str) -> bool:
        """An error in the lines that ask for instances: each line is one of them."""
        alive = self.alive()
        if not 1 <= line <= len(alive):
            return False
        kernel = self.wanted.pop(alive[line - 1])
        if kernel not in self.wanted.values():
            self.refused[kernel] = f"{alive[line - 1]}: {message[:300]}"
        return True


def _until_it_compiles(trying: _Trying, options: Sequence[str], toolchain: Toolchain) -> tuple[Build, str]:
    """Compile, take out what is blamed, again, until it compiles or nothing more can be taken out."""
    head = prelude(trying.code.written())
    rounds = 0
    while True:
        body = trying.code.written(trying.without)
        text = head + body + instance_lines(trying.alive())
        build = toolchain.compile(text, options)
        errors = [(one.line, one.message) for one in build.diagnostics if one.severity == "error" and one.line]
        lines = body.count("\n")
        blamed = [trying.blame(line - head.count("\n"), lines, message) for line, message in errors]
        rounds += 1
        if build.ok or not any(blamed) or rounds == MAX_ROUNDS:
            return build, text
