"""What the toolchain makes of a text: program, resources, diagnostics, machine code."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import Count, GpuArch, Language, Noun, Sha256, Trust, require, trust_field


class Diagnostic(Noun):
    """One message of the compiler, at a line of the kernel where known."""

    severity: Literal["error", "warning", "note"]
    file: str
    line: int | None
    column: int | None
    message: str


class EntryUsage(Noun):
    """What one entry of the program needs of the machine, as its machine code says.

    `max_threads` is the most threads a block may have by the kernel's own launch bounds; 0 where it sets none.
    """

    name: str
    registers: Count
    spill_store_bytes: Count
    spill_load_bytes: Count
    shared_bytes: Count
    local_bytes: Count
    const_bytes: Count
    barriers: Count = 0
    max_threads: Count = 0


class Build(Noun):
    """A compile, good or bad. A failed one has diagnostics and a log, and no program.

    A CUDA build is PTX and machine code for a GPU. An OpenCL build is for the processor it was made on: it carries its
    own text, and in `native` what the OpenCL compiler made of it; it has no architecture and no entries. A Triton build
    is PTX and machine code, and its text, which Triton launches from on a real GPU; `dynamic_shared_bytes` is what
    Triton chose, and every launch of it gets at least that.
    """

    ok: bool
    language: Language = "cuda"
    source_sha256: Sha256
    gpu_arch: GpuArch | Literal[""] = ""
    options: tuple[str, ...]
    compiler: str
    ptx: str = ""
    cubin: bytes = b""
    text: str = ""
    native: bytes = b""
    entries: tuple[EntryUsage, ...] = ()
    diagnostics: tuple[Diagnostic, ...]
    log: str
    cached: bool = False
    dynamic_shared_bytes: Count = Field(default=0, exclude_if=lambda count: count == 0)
    trust: Trust = trust_field()

    @model_validator(mode="after")
    def _program_only_if_ok(self) -> Self:
        if self.ok:
            require(all(d.severity != "error" for d in self.diagnostics), "a good build has no error diagnostics")
        else:
            require(
                self.ptx == "" and self.cubin == b"" and self.entries == (),
                "a failed build has no PTX, no cubin and no entries",
            )
            require(self.native == b"", "a failed build has no native program")
        return self

    @model_validator(mode="after")
    def _program_is_of_the_language(self) -> Self:
        if self.language in ("cuda", "triton"):
            require(self.gpu_arch != "", "a CUDA build names its architecture")
            require(not self.ok or self.ptx != "", "a good build has PTX")
            require(self.native == b"", "a CUDA build has no OpenCL program")
            require(self.text == "" or self.language == "triton", "a CUDA build has no text: its program is all")
            require(self.trust == "host_code" or self.language == "cuda", "a Triton build says that host code made it")
        else:
            require(self.dynamic_shared_bytes == 0, "an OpenCL build asks for no shared memory of its own")
            require(self.gpu_arch == "" and self.ptx == "" and self.cubin == b"", "an OpenCL build has no PTX")
            require(not self.ok or (self.text != "" and self.native != b""), "a good OpenCL build has its program")
        return self


class SassInstruction(Noun):
    """One machine instruction: its words, its text, and the kernel line it came from."""

    function: str
    address: Count
    text: str
    word_lo: Count
    word_hi: Count
    line: int | None
