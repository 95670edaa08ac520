"""Triton's PTX made into one that is launched like any other: the task's arguments are all its parameters.

Triton appends pointers to scratch memory that kernels rarely use; unused ones are taken off the entry here, so that
program and task agree, and a kernel that uses one is refused by name. Paths of this machine are taken out, the
kernel's own file becomes file 1, which lines refer to, and line records inside inline assembly are dropped: LLVM counts
on in them, one line of the kernel for each line of assembly. Reads text only, and believes nothing else about it.
"""

from __future__ import annotations

import re

from warpsight.errors import WarpsightError

PTX_CAP_CHARS = 32 << 20
_ENTRY = re.compile(r"\.visible\s+\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_FILE = re.compile(r'^([ \t]*\.file[ \t]+)(\d+)([ \t]+")([^"\n]*)(".*)$', re.MULTILINE)
_LOC = re.compile(r"^([ \t]*\.loc[ \t]+)(\d+)\b", re.MULTILINE)
_INLINED = re.compile(r"(\binlined_at[ \t]+)(\d+)\b")
_ASSEMBLY = re.compile(r"// begin inline asm.*?// end inline asm", re.DOTALL)
_LOC_LINE = re.compile(r"^[ \t]*\.loc[ \t][^\n]*\n", re.MULTILINE)
_LIBRARY = re.compile(r'[^"]*/(triton/[^"]*)$')


class BadPtx(WarpsightError):
    """What came back is no PTX that can be launched with the task's arguments. The candidate's fault."""


def tidy(ptx: str, *, entry: str, parameters: int, file: str) -> str:
    """The PTX with `parameters` parameters, the kernel's own file as number 1 by the name `file`."""
    if len(ptx) > PTX_CAP_CHARS:
        raise BadPtx(f"expected at most {PTX_CAP_CHARS} characters of PTX, got {len(ptx)}")
    entries = [found[1] for found in _ENTRY.finditer(ptx)]
    if entries != [entry]:
        raise BadPtx(f"expected PTX with the one kernel {entry}, it has {', '.join(entries) or 'none'}")
    plain = _ASSEMBLY.sub(lambda found: _LOC_LINE.sub("", found[0]), ptx)
    return _own_file_first(_without_scratch(plain, parameters), file)


def _without_scratch(ptx: str, parameters: int) -> str:
    found = _ENTRY.search(ptx)
    assert found is not None
    declared = [part.strip() for part in found[2].split(",")] if found[2].strip() else []
    if len(declared) < parameters:
        raise BadPtx(f"expected a kernel of at least {parameters} parameters, the PTX has {len(declared)}")
    body = ptx[found.end() :]
    for part in declared[parameters:]:
        name = part.split()[-1]
        if re.search(rf"\b{re.escape(name)}\b", body):
            raise BadPtx("the kernel uses Triton's global scratch memory, which is not given to it here")
    kept = ",\n\t".join(declared[:parameters])
    return f"{ptx[: found.start(2)]}\n\t{kept}\n{ptx[found.end(2) :]}"


def _own_file_first(ptx: str, file: str) -> str:
    """Numbers 1 and that of the kernel's file change places; library files keep their names inside the package."""
    base = file.rpartition("/")[2]
    files = {int(found[2]): found[4] for found in _FILE.finditer(ptx)}
    own = next((number for number, name in files.items() if name.rpartition("/")[2] == base), 1)
    swap = {1: own, own: 1}

    def renamed(found: re.Match[str]) -> str:
        number = int(found[2])
        name = file if number == own else _LIBRARY.sub(r"\1", found[4])
        name = name if not name.startswith("/") or number == own else name.rpartition("/")[2]
        return f"{found[1]}{swap.get(number, number)}{found[3]}{name}{found[5]}"

    def renumbered(found: re.Match[str]) -> str:
        return f"{found[1]}{swap.get(int(found[2]), int(found[2]))}"

    return _INLINED.sub(renumbered, _LOC.sub(renumbered, _FILE.sub(renamed, ptx)))
