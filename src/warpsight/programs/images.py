"""What nvcc embeds in a program: containers of PTX and machine code. This takes the PTX of one module out of them.

The form (a header, then entries with a header each) is not published; it is read here as the tools that come with the
compiler read it. Compressed entries are left to cuobjdump, in the jail. Bytes come from the program: every length is
checked before it is used.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from warpsight.errors import ToolchainError
from warpsight.toolchain.packages import program
from warpsight.toolchain.process import run_to_end
from warpsight.vgpu.ptx.join import join_ptx

MAGIC = 0xBA55ED50
PTX, ELF = 1, 2
_CONTAINER = struct.Struct("<IHHQ")
_COMPRESSED = 0xF000
_LEAST_ENTRY = 64
DEADLINE_S = 30.0
CAP_BYTES = 256 << 20


class NoPtx(ToolchainError):
    """The program brings no PTX for this kernel, and machine code alone is not run."""


def ptx_of(image: bytes) -> str:
    """The PTX of the newest architecture in a container; of several containers after one another, as -rdc makes them,
    that of all as one text."""
    parts = [found for container in _containers(image) if (found := _texts(container))]
    if not parts:
        raise NoPtx("the program holds machine code alone", "compile it with -arch=compute_80, or with `warpsight run`")
    most = min(max(found) for found in parts)  # a library's part may bring later architectures as well
    return join_ptx([found[max(arch for arch in found if arch <= most or arch == min(found))] for found in parts])


def machine_codes(image: bytes) -> list[bytes]:
    """The cubins in a container that are not compressed."""
    found = [entry for container in _containers(image) for entry in _entries(container)]
    return [payload for kind, _, flags, payload in found if kind == ELF and not flags & _COMPRESSED]


def _containers(image: bytes) -> Iterator[bytes]:
    at = 0
    while at + _CONTAINER.size <= len(image):
        magic, _, head, size = _CONTAINER.unpack_from(image, at)
        if magic != MAGIC or head < _CONTAINER.size or head + size > len(image) - at:
            return
        yield image[at : at + head + size]
        at += head + size


def _texts(container: bytes) -> dict[int, str]:
    """PTX by architecture."""
    found: dict[int, str] = {}
    for kind, arch, flags, payload in _entries(container):
        if kind != PTX:
            continue
        if flags & _COMPRESSED:
            return _decompressed(container)
        found[arch] = payload.rstrip(b"\0").decode("utf-8", errors="replace")
    return found


def _entries(container: bytes) -> list[tuple[int, int, int, bytes]]:
    _, _, head, size = _CONTAINER.unpack_from(container)
    found: list[tuple[int, int, int, bytes]] = []
    at, end = head, head + size
    while at + _LEAST_ENTRY <= end:
        kind, _, own, length = struct.unpack_from("<HHIQ", container, at)
        arch, flags = (
            struct.unpack_from("<I", container, at + 0x1C)[0],
            struct.unpack_from("<Q", container, at + 0x28)[0],
        )
        if own < _LEAST_ENTRY or length > end - at - own:
            return found
        found.append((kind, arch, flags, container[at + own : at + own + length]))
        at += own + length
    return found


def _decompressed(container: bytes) -> dict[int, str]:
    tool = program("cuobjdump", "nvidia-cuda-cuobjdump")
    told = run_to_end(
        [tool, "-ptx", "program.fatbin"], "cuobjdump", deadline_s=DEADLINE_S, cap_bytes=CAP_BYTES,
        file=("program.fatbin", container),
    ).decode("utf-8", errors="replace")  # fmt: skip
    parts = re.split(r"(?m)^\s*(?=\.version\s)", told)[1:]
    texts = [re.split(r"(?m)^Fatbin (?:ptx|elf) code:", text)[0] for text in parts]
    return {int((re.search(r"\.target\s+sm_(\d+)", text) or [0, 0])[1]): text for text in texts}
