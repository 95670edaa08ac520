"""What the toolchain makes of a text: program, resources, diagnostics, machine code."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from warpsight.nouns.base import Count, GpuArch, Noun, Sha256, require


class Diagnostic(Noun):
    """One message of the compiler, at a line of the kernel where known."""

    severity: Literal["error", "warning", "note"]
    file: str
    line: int | None
    column: int | None
    message: str


class EntryUsage(Noun):
    """What one entry of the program needs of the machine, as the assembler reports it."""

    name: str
    registers: Count
    spill_store_bytes: Count
    spill_load_bytes: Count
    shared_bytes: Count
    local_bytes: Count
    const_bytes: Count
    barriers: Count = 0


class Build(Noun):
    """A compile, good or bad. A failed one has diagnostics and a log, and no program."""

    ok: bool
    source_sha256: Sha256
    gpu_arch: GpuArch
    options: tuple[str, ...]
    compiler: str
    ptx: str
    cubin: bytes
    entries: tuple[EntryUsage, ...]
    diagnostics: tuple[Diagnostic, ...]
    log: str
    cached: bool = False

    @model_validator(mode="after")
    def _program_only_if_ok(self) -> Self:
        if self.ok:
            require(self.ptx != "", "a good build has PTX")
            require(all(d.severity != "error" for d in self.diagnostics), "a good build has no error diagnostics")
        else:
            require(
                self.ptx == "" and self.cubin == b"" and self.entries == (),
                "a failed build has no PTX, no cubin and no entries",
            )
        return self


class SassInstruction(Noun):
    """One machine instruction: its words, its text, and the kernel line it came from."""

    function: str
    address: Count
    text: str
    word_lo: Count
    word_hi: Count
    line: int | None
