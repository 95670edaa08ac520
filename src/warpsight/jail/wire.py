"""Messages between a worker and its parent: one JSON header and raw blobs in one frame. Standard library only.

Both sides use this file, workers by its path, so it imports nothing of the project. The parent reads answers of a
process in which a hostile kernel ran: `unpack` takes any bytes and returns a plain dict and blobs of the sizes it
names, or raises BadMessage. Nothing is ever unpickled or evaluated.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

HEADER_CAP_BYTES = 16 << 20


class BadMessage(ValueError):
    """The bytes are no message."""


def pack(header: Mapping[str, Any], blobs: Sequence[Any] = ()) -> bytes:
    """One message: length of the header, header with the sizes of the blobs, blobs (bytes or contiguous arrays)."""
    views = [memoryview(blob).cast("B") for blob in blobs]
    text = json.dumps({**header, "sizes": [view.nbytes for view in views]}).encode()
    return b"".join([struct.pack(">I", len(text)), text, *views])


def unpack(message: bytes) -> tuple[dict[str, Any], list[memoryview]]:
    """Header and blobs of a message."""
    if len(message) < 4:
        raise BadMessage(f"expected a message, {len(message)} bytes came")
    (length,) = struct.unpack_from(">I", message)
    if length > min(HEADER_CAP_BYTES, len(message) - 4):
        raise BadMessage(f"expected a header, it claims {length} bytes")
    try:
        parsed: Any = json.loads(message[4 : 4 + length])
    except (ValueError, RecursionError):
        raise BadMessage("expected a header in JSON") from None
    if not isinstance(parsed, dict):
        raise BadMessage("expected a header that is an object")
    header = cast(dict[str, Any], parsed)
    return header, _cut(memoryview(message)[4 + length :], header.pop("sizes", None))


def _cut(rest: memoryview, sizes: Any) -> list[memoryview]:
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in cast(list[Any], sizes)):
        raise BadMessage("expected the sizes of the blobs")
    if sum(cast(list[int], sizes)) != len(rest):
        raise BadMessage(f"expected blobs of the sizes named, {len(rest)} bytes came")
    blobs: list[memoryview] = []
    for size in cast(list[int], sizes):
        blobs.append(rest[:size])
        rest = rest[size:]
    return blobs
