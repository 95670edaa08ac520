"""No inline assembly in an OpenCL candidate: without it, and with the linker knowing no function of the system, device
code has no plain way to call the system, and so to take its worker over and answer in its place.

The names of the assembler are macros that mean nothing, so it does not help to paste them together; a text that
defines or undefines them is refused. It is no wall: native code that jumps into data is still possible, and the jail is
what holds it. It is there because a kernel that has taken its worker over saves what the worker costs, and on a kernel
of microseconds the parent's clock cannot tell that from a gain.
"""

from __future__ import annotations

import re

from warpsight.nouns import Diagnostic

NAMES = ("asm", "__asm", "__asm__")
NO_ASSEMBLY = tuple(f"-D{name}=assembly_is_not_allowed" for name in NAMES)
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\r?\n")
_GAP = r"(?:[ \t\f\v]|/\*.*?\*/)*"
_REDEFINED = re.compile(rf"(?:#|%:|\?\?=){_GAP}(?:undef|define){_GAP}(?:__)?asm(?:__)?\b", re.DOTALL)
_OPTION = re.compile(r"-[DU](?:__)?asm(?:__)?(?:=.*)?")


def refused_assembly(source: str, options: tuple[str, ...], name: str) -> tuple[Diagnostic, ...]:
    """An error where the text or its options would bring the assembler back; where it is used the compiler says so."""
    brought_back = _REDEFINED.search(_SPLICE.sub("", source)) or any(_OPTION.fullmatch(option) for option in options)
    if not brought_back:
        return ()
    message = "inline assembly is not allowed in an OpenCL kernel, nor are macros named asm"
    return (Diagnostic(severity="error", file=name, line=None, column=None, message=message),)
