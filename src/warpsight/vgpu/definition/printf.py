"""The device's printf, assertion and heap. Arguments lie in a buffer as CUDA's vprintf lays them out: each aligned to
its own size, 4 or 8 bytes.
"""

from __future__ import annotations

import math
import re
import struct

import numpy as np

from warpsight.vgpu.bytecode import NONE, Space
from warpsight.vgpu.definition.lanes import Ins, lanes_of
from warpsight.vgpu.definition.state import Warp, action

HEAP_LIMIT = 8 << 20
_CONVERSION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?(hh|h|ll|l|z|j|t)?([diuxXocsfFeEgGp%])|%", re.DOTALL)
_HAS_PRECISION = re.compile(rb"%[-+ #0]*(?:\*|\d+)?\.")


class _Arguments:
    """Reads arguments one after the other from the buffer of one lane."""

    def __init__(self, warp: Warp, lane: int, address: int) -> None:
        self._warp, self._lane, self._base, self._at = warp, lane, address, 0
        self.count = 0

    def take(self, size: int) -> bytes:
        self._at = -(-self._at // size) * size
        data = self._warp.read(self._lane, Space.GENERIC, self._base + self._at, size)
        self._at += size
        self.count += 1
        return data

    def integer(self, size: int, signed: bool) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)

    def double(self) -> float:
        return struct.unpack("<d", self.take(8))[0]

    def string(self) -> bytes:
        address = self.integer(8, signed=False)
        return self._warp.text(self._lane, address) if address else b"(null)"


def _integer_text(spec: str, letter: str, length: str, arguments: _Arguments) -> str:
    size = 8 if length in ("l", "ll", "z", "j", "t") else 4
    value = arguments.integer(size, signed=letter in "di")
    if length in ("h", "hh"):
        bits = 16 if length == "h" else 8
        value &= (1 << bits) - 1
        value -= (1 << bits) if letter in "di" and value >> (bits - 1) else 0
    if "." in spec:
        spec = (
            spec.replace("0", "", 1) if re.match(r"%[-+ #]*0", spec) else spec
        )  # C: a precision switches the 0 flag off
    if letter == "o" and "#" in spec:
        return (spec.replace("#", "") + "s") % (("0" if value else "") + f"{value:o}")
    if letter in "xX" and value == 0:
        spec = spec.replace("#", "")
    if value == 0 and spec.endswith((".", ".0")):
        return (spec.partition(".")[0] + "s") % ""
    return (spec + {"i": "d", "u": "d"}.get(letter, letter)) % value


def _float_text(spec: str, letter: str, value: float) -> str:
    if math.isfinite(value):
        return (spec + letter) % value
    name = "nan" if math.isnan(value) else "inf"
    name = name.upper() if letter.isupper() else name
    sign = "-" if math.copysign(1.0, value) < 0 else "+" if "+" in spec else " " if " " in spec else ""
    width = re.sub(r"\..*", "", re.sub(r"^%([-+ #0]*)", lambda m: "%-" if "-" in m[1] else "%", spec))
    return (width + "s") % (sign + name)


def _converted(match: re.Match[bytes], arguments: _Arguments) -> bytes:
    if match[0] == b"%":
        return b"%"
    flags, width, precision, length, letter = ((g or b"").decode() for g in match.groups())
    if letter == "%":
        return b"%"
    width = str(arguments.integer(4, signed=True)) if width == "*" else width
    precision = str(arguments.integer(4, signed=True)) if precision == "*" else precision
    has_precision = bool(_HAS_PRECISION.match(match[0])) and not precision.startswith("-")
    spec = f"%{flags}{width}" + (f".{precision}" if has_precision else "")
    if letter in "diuxXo":
        return _integer_text(spec, letter, length, arguments).encode()
    if letter in "fFeEgG":
        return _float_text(spec, letter, arguments.double()).encode()
    left = "-" if "-" in flags or width.startswith("-") else ""
    field = f"%{left}{width.lstrip('-')}".encode()
    if letter == "c":
        return (field + b"s") % bytes([arguments.integer(4, signed=False) & 255])
    if letter == "p":
        value = arguments.integer(8, signed=False)
        return (field + b"s") % (f"{value:#x}".encode() if value else b"(nil)")
    text = arguments.string()
    return (field + b"s") % (text[: int(precision or 0)] if has_precision else text)


def format_text(warp: Warp, lane: int, form: int, buffer: int) -> tuple[bytes, int]:
    """What printf writes for one lane, and how many arguments it read."""
    arguments = _Arguments(warp, lane, buffer)
    text = _CONVERSION.sub(lambda m: _converted(m, arguments), warp.text(lane, form))
    return text, arguments.count


@action("PRINTF")
def print_formatted(w: Warp, x: Ins, mask: int) -> None:
    forms, buffers = (w.addresses(r, 0, Space.GENERIC) for r in (x.a, x.b))
    for lane in lanes_of(mask):
        text, count = format_text(w, lane, forms[lane], buffers[lane])
        w.launch.output.append(text.decode("utf-8", "replace"))
        if x.d0 != NONE:
            w.registers.rows[x.d0][lane] = count


@action("ASSERTFAIL")
def assertion(w: Warp, x: Ins, mask: int) -> None:
    lane = lanes_of(mask)[0]
    message, file, line, function = w.list_rows(x, 4)
    texts = [
        w.text(lane, int(w.registers.pair(row)[lane])).decode("utf-8", "replace") for row in (message, file, function)
    ]
    number = int(w.registers.row(line)[lane])
    w.fail("assert_failed", lane, text=f"{texts[1]}:{number}: {texts[2]}: Assertion `{texts[0]}` failed.")


@action("TRAP")
def trap(w: Warp, x: Ins, mask: int) -> None:
    w.fail("trap", lanes_of(mask)[0])


@action("MALLOC")
def allocate(w: Warp, x: Ins, mask: int) -> None:
    sizes = w.registers.pair(x.a).copy()
    result = np.zeros(32, np.uint64)
    for lane in lanes_of(mask):
        size = int(sizes[lane])
        if size and sum(w.launch.heap_bytes.values()) + size <= HEAP_LIMIT:
            address = w.launch.memory.alloc("", bytes(size))
            w.launch.heap_bytes[address] = size
            result[lane] = address
    w.registers.put(x.d0, result, mask)


@action("FREE")
def release(w: Warp, x: Ins, mask: int) -> None:
    for lane in lanes_of(mask):
        address = int(w.registers.pair(x.a)[lane])
        if address == 0:
            continue
        if w.launch.heap_bytes.pop(address, None) is None:
            w.fail("out_of_bounds", lane, address, "free of an address that malloc did not give")
        w.launch.memory.free(address)
