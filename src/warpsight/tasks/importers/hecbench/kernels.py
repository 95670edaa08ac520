"""The kernels of a translation unit with their registers and the size of their machine code, by a compiler given.

Compiles the unit's device code; a piece that the compiler refuses is taken out and the rest is tried again, so that one
host-only type does not cost all kernels. A kernel that is taken out is listed with the compiler's reason. The compiler
is a parameter: this part of the project knows formats, not toolchains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from warpsight.nouns import Build, EntryUsage
from warpsight.nouns.base import Count, Noun
from warpsight.tasks.importers.hecbench.device_code import DeviceCode, device_code, instance_lines, instances, prelude
from warpsight.tasks.importers.hecbench.unit import Unit
from warpsight.tasks.importers.records import Refused

MAX_ROUNDS = 16
INSTRUCTION_BYTES = 16  # of machine code, on every architecture the toolchain compiles for
_MANGLED = re.compile(r"_Z(?:N)?((?:K?\d+[A-Za-z_]\w*)+)")


class Toolchain(Protocol):
    """What is asked of a compiler: device code to a Build, a ptxas log to usage, machine code to sizes."""

    def compile(self, text: str, options: Sequence[str]) -> Build: ...

    def usage(self, log: str) -> tuple[EntryUsage, ...]: ...

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
    refused: tuple[Refused, ...]
    text: str


def list_kernels(unit: Unit, options: Sequence[str], toolchain: Toolchain) -> UnitKernels:
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
    build, text = _until_it_compiles(unit, code, wanted, refused, options, toolchain)
    kernels = () if build is None else kernels_of(build.cubin, build.entries, unit.file, build.compiler, toolchain)
    seen = {kernel.name for kernel in kernels}
    for kernel in code.kernels:
        if kernel.name not in seen:
            refused.setdefault(kernel.name, "the compiler made nothing of it")
    listed = [
        Refused(file=f"{unit.place(kernel.line)} {kernel.name}", reason=refused[kernel.name])
        for kernel in code.kernels
        if kernel.name in refused and kernel.name not in seen
    ]
    return UnitKernels(kernels, tuple(listed), text)


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


def _until_it_compiles(
    unit: Unit,
    code: DeviceCode,
    wanted: dict[str, str],
    refused: dict[str, str],
    options: Sequence[str],
    toolchain: Toolchain,
) -> tuple[Build | None, str]:
    """Compile, take out what is blamed, again; None when nothing is left to take out."""
    kernel_at = {kernel.piece: kernel.name for kernel in code.kernels}
    without: set[int] = set()
    head = prelude(code.written())
    above = head.count("\n")
    for _ in range(MAX_ROUNDS):
        body = code.written(without)
        alive = [one for one in wanted if wanted[one] not in refused]
        text = head + body + instance_lines(alive)
        build = toolchain.compile(text, options)
        if build.ok:
            return build, text
        before = (len(without), len(refused))
        for message in build.diagnostics:
            if message.severity != "error" or message.line is None:
                continue
            piece = code.piece_at(message.line - above)
            if piece is None:
                _blame_instance(message.line - above - body.count("\n"), alive, wanted, refused, message.message)
            elif piece not in without:
                without.add(piece)
                if piece in kernel_at:
                    refused.setdefault(kernel_at[piece], _told(unit, message.line - above, message.message))
        if (len(without), len(refused)) == before:
            break
    first = next((message for message in build.diagnostics if message.severity == "error"), None)
    why = first.message if first else "the compiler failed and said nothing"
    for kernel in code.kernels:
        refused.setdefault(kernel.name, why[:300])
    return None, text


def _blame_instance(line: int, alive: list[str], wanted: dict[str, str], refused: dict[str, str], why: str) -> None:
    """An error in the lines that ask for instances: each line is one of them."""
    if 1 <= line <= len(alive):
        one = alive[line - 1]
        kernel = wanted.pop(one)
        if kernel not in wanted.values():
            refused[kernel] = f"{one}: {why[:300]}"


def _told(unit: Unit, line: int, message: str) -> str:
    return f"{unit.place(line)}: {message[:300]}"


CompileUnit = Callable[[Unit, Sequence[str]], UnitKernels]
