"""Refuses #include of files by absolute path or through a parent folder, before the compiler sees them.

Kernels need the headers of the CUDA packages and nothing else of the machine. This keeps honest sources portable and
says plainly what is wrong; it is no wall (macros can hide a path): the wall is the jail the compiler runs in.
"""

from __future__ import annotations

import re

from warpsight.nouns import Diagnostic

_INCLUDE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include(?:_next)?|embed)[ \t]*[<\"]([^>\"\n]*)", re.MULTILINE)


def refused_includes(source: str, name: str) -> tuple[Diagnostic, ...]:
    """One error per include that names a place outside the header folders."""
    found: list[Diagnostic] = []
    for match in _INCLUDE.finditer(source):
        path = match[1]
        if path.startswith(("/", "~")) or ".." in path.split("/"):
            start = source.rfind("\n", 0, match.start(1)) + 1
            line = source.count("\n", 0, match.start(1)) + 1
            message = f"#include of {path!r} is not allowed: only headers of the CUDA packages can be included"
            column = match.start(1) - start + 1
            found.append(Diagnostic(severity="error", file=name, line=line, column=column, message=message))
    return tuple(found)
