"""A worker's side of the jail: frames on fd 3 and 4, and the filters it puts on itself. Imports nothing of the project.

For workers run as `python -I file.py`; the jail makes this file readable in every worker. A frame is four bytes of
length, big-endian, and the bytes, so 4 GiB less one byte at most. What the worker prints (fd 1 and 2) is a log and
never an answer.
What must stay true: `lock_down` runs before the first byte that is not trusted; the parent sends no request until the
kernel itself shows the filters, so a worker that forgets gets no work.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
if TYPE_CHECKING:
    from warpsight.jail import kernel
else:
    import kernel

REQUESTS_FD, ANSWERS_FD, FILTERS_FD = 3, 4, 5
FRAME_CAP_BYTES = (1 << 32) - 1
LEVELS = ("tools", "serve", "work", "compute")
OUT_OF_MEMORY_STATUS = 77  # told by the parent as out_of_memory

_PR_SET_DUMPABLE = 4
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3

_filters: list[bytes] = []
_installed = 0


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def read_exactly(fd: int, size: int) -> bytes | None:
    """`size` bytes, or None when the channel ends first."""
    parts: list[bytes] = []
    while size > 0:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(fd: int = REQUESTS_FD) -> bytes | None:
    """The next request, or None at the end of the channel."""
    head = read_exactly(fd, 4)
    return None if head is None else read_exactly(fd, struct.unpack(">I", head)[0])


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Every byte, however small the pipe."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_frame(body: bytes, fd: int = ANSWERS_FD) -> None:
    """One answer."""
    write_parts([body], fd)


def write_parts(parts: Sequence[bytes | memoryview], fd: int = ANSWERS_FD) -> None:
    """One answer made of these bytes, one after the other, without a copy of them all."""
    size = sum(len(part) for part in parts)
    if size > FRAME_CAP_BYTES:
        raise ValueError(f"expected an answer of at most {FRAME_CAP_BYTES} bytes, this one has {size}")
    write_all(fd, struct.pack(">I", size) + bytes(parts[0]))
    for part in parts[1:]:
        write_all(fd, part)


def tighten(level: str) -> None:
    """Install the filters up to this level on all threads; levels already in force stay. There is no way back."""
    global _installed
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if not _filters:
        _filters.extend(_read_filters())
    for code in _filters[_installed : LEVELS.index(level) + 1]:
        program = _Program(len(code) // 8, code)
        if libc.syscall(kernel.number_of("seccomp"), _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)) != 0:
            raise OSError(ctypes.get_errno(), f"the kernel refused the filter of level {level}")
        _installed += 1


def keep_freed_memory() -> None:
    """Have malloc keep what is freed: pages of large arrays are then not cleared by the kernel again and again."""
    malloc = ctypes.CDLL(None)
    if hasattr(malloc, "mallopt"):  # of glibc
        malloc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)
        malloc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the most that it takes


def confine(folders: Sequence[str]) -> None:
    """From now on read only these folders, write only the scratch folder we stand in, start nothing. No way back."""
    if not kernel.landlock_version():
        return  # the parent knows that it is missing, and whether that is allowed
    rules = [*((folder, kernel.FS_READ) for folder in folders), (".", kernel.FS_SCRATCH)]
    kernel.landlock(rules, network=False, scope=False)


def lock_down(level: str = "work") -> None:
    """Tighten, then tell the parent that requests may come. Call it once, after the slow imports."""
    tighten(level)
    write_frame(b"")


def _read_filters() -> list[bytes]:
    """What the jail left on fd 5: one frame per level; none at all where filters are not to be had."""
    found: list[bytes] = []
    while (code := read_frame(FILTERS_FD)) is not None:
        found.append(code)
    os.close(FILTERS_FD)
    return found
