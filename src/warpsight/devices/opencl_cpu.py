"""Names an older relative of a processor that PoCL's compiler is too old to know. The parent looks, workers use it.

The LLVM inside PoCL 3.0 is of 2022. It calls a processor that it does not know `generic`, and its own C compiler then
refuses that name, so nothing compiles (seen on a Zen 5). PoCL has no setting for the name. Its function for it is
exported, so it is replaced in this process, before any device is opened, by one that names an older processor with the
same vector instructions. Where that cannot be done all stays as it was, and builds say `unknown target CPU`.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
# From the newest on: a name that LLVM has known since 2016, and what it takes for granted.
RELATIVES = (
    ("skylake-avx512", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma", "bmi1", "bmi2"}),
    ("haswell", {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}),
    ("sandybridge", {"avx", "sse4_2", "popcnt"}),
    ("x86-64", set[str]()),
)
_kept: list[ctypes.Array[ctypes.c_char]] = []  # the name must outlive all calls


def relative_of(flags: Iterable[str]) -> str:
    """The newest processor that has no instruction which this one lacks."""
    have = set(flags)
    return next(name for name, needs in RELATIVES if needs <= have)


def instructions_of_this_machine() -> str:
    """Which instructions there are. Virtual machines give one model name to processors that differ."""
    text = CPUINFO.read_text() if CPUINFO.exists() else ""
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    return " ".join(sorted(flags[1].split())) if flags else ""


def relative_of_this_machine() -> str:
    """The name to use if the compiler does not know this processor; nothing where names are not a trouble."""
    return relative_of(instructions_of_this_machine().split()) if platform.machine() == "x86_64" else ""


def name_the_processor(name: str) -> bool:
    """Has PoCL answer `name` if its compiler does not know this processor. Whether that was needed and worked."""
    library = _pocl()
    function = getattr(library, "pocl_get_llvm_cpu_name", None) if name and library else None
    if function is None:
        return False
    function.restype = ctypes.c_char_p
    if function() != b"generic":
        return False
    _replace(ctypes.cast(function, ctypes.c_void_p).value or 0, name)
    return function() == name.encode()


def _pocl() -> ctypes.CDLL | None:
    """The PoCL beside pyopencl. The same file opened twice is one library."""
    spec = find_spec("pyopencl")
    origin = spec.origin if spec else None
    found = sorted((Path(origin).parent / ".libs").glob("libpocl*.so*")) if origin else []
    return ctypes.CDLL(str(found[0])) if found else None


def _replace(address: int, name: str) -> None:
    """Writes `return strdup(name)` over the function: PoCL frees what it gets."""
    libc = ctypes.CDLL(None)
    text = ctypes.create_string_buffer(name.encode())
    _kept.append(text)
    strdup = ctypes.cast(libc.strdup, ctypes.c_void_p).value or 0
    # mov rdi, text; mov rax, strdup; jmp rax
    code = b"\x48\xbf" + ctypes.addressof(text).to_bytes(8, "little")
    code += b"\x48\xb8" + strdup.to_bytes(8, "little") + b"\xff\xe0"
    page = address - address % mmap.PAGESIZE
    length = address + len(code) - page
    writable, executable = mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ | mmap.PROT_EXEC
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if libc.mprotect(page, length, writable | mmap.PROT_EXEC) == 0:
        ctypes.memmove(address, code, len(code))
        libc.mprotect(page, length, executable)
