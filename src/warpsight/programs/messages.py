"""What crosses the socket between a program and the virtual GPU, read as if an enemy had written it.

A message is an operation and the length of its body, four bytes each, then numbers of eight bytes and texts with their
length before; little-endian, as `runtime/state.hpp` writes it. Covers the form only: every read is bounded, and what is
not of this form raises `BadRequest`, which ends the program. What the numbers claim is checked where they are used.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable

from warpsight.errors import WarpsightError

HEAD = struct.Struct("<II")
_NUMBER = struct.Struct("<Q")


class Op(enum.IntEnum):
    """What a program asks for; the numbers of `runtime/state.hpp`."""

    HELLO = 1
    MODULE = 2
    ALLOCATE = 3
    RELEASE = 4
    COPY = 5
    KERNEL = 6
    LAUNCH = 7
    OCCUPANCY = 8
    MISSING = 9
    HEAP = 10
    LIBRARY = 11
    LOOK = 12


ANSWERED = frozenset({Op.HELLO, Op.MODULE, Op.KERNEL, Op.LAUNCH, Op.OCCUPANCY, Op.LIBRARY, Op.LOOK})
MOST_BYTES = {Op.MODULE: 256 << 20, Op.LOOK: 256 << 20}
MOST_OTHER_BYTES = 64 << 10


class BadRequest(WarpsightError):
    """The program sent what no honest runtime sends."""


def check_head(head: bytes) -> tuple[Op, int]:
    """Operation and length of the body."""
    number, length = HEAD.unpack(head)
    try:
        op = Op(number)
    except ValueError:
        raise BadRequest(f"expected an operation, the program sent number {number}") from None
    most = MOST_BYTES.get(op, MOST_OTHER_BYTES)
    if length > most:
        raise BadRequest(f"{op.name}: expected at most {most} bytes, the program announced {length}")
    return op, length


class Fields:
    """The body of one message, read from its front."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def number(self, most: int = (1 << 64) - 1) -> int:
        if self._at + 8 > len(self._body):
            raise BadRequest("expected a number, the message ended")
        (value,) = _NUMBER.unpack_from(self._body, self._at)
        self._at += 8
        if value > most:
            raise BadRequest(f"expected a number up to {most}, the program sent {value}")
        return value

    def data(self) -> bytes:
        length = self.number(len(self._body) - self._at - 8 if len(self._body) - self._at >= 8 else 0)
        found = self._body[self._at : self._at + length]
        self._at += length
        return found

    def text(self) -> str:
        """A name: letters as a linker takes them, so that it can be shown."""
        found = self.data()
        if len(found) > 16384 or not found or any(byte < 33 or byte > 126 for byte in found):
            raise BadRequest("expected a name, the program sent something else")
        return found.decode("ascii")

    def end(self) -> None:
        if self._at != len(self._body):
            raise BadRequest(f"{len(self._body) - self._at} bytes are left over in a message")


def pack_numbers(numbers: Iterable[int]) -> bytes:
    return b"".join(_NUMBER.pack(number) for number in numbers)


def pack_data(data: bytes) -> bytes:
    return _NUMBER.pack(len(data)) + data
