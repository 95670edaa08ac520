"""The device's printf against the C library's, conversion by conversion, and assertions."""

from __future__ import annotations

import ctypes
import struct

import pytest

from warpsight.vgpu.bytecode import GLOBAL_BASE, T
from warpsight.vgpu.definition import DefinitionFault, Memory, run
from warpsight.vgpu.definition.fragments import program

FULL = 0xFFFFFFFF


def printed(form: bytes, arguments: bytes, extra: bytes = b"") -> str:
    memory = Memory()
    at_form = memory.alloc("form", form + b"\0")
    at_arguments = memory.alloc("arguments", arguments)
    memory.alloc("extra", extra + b"\0")
    words = [w for a in (at_form, at_arguments) for w in (a & FULL, a >> 32)]
    p = program({"op": "PRINTF", "d0": 0, "a": ~2, "b": ~4}, consts=(0, 0, *words))
    return run(p, grid=(1, 1, 1), block=(1, 1, 1), memory=memory).output


def by_c(form: bytes, *values: object) -> str:
    buffer = ctypes.create_string_buffer(400)
    ctypes.CDLL(None).snprintf(buffer, 400, form, *values)
    return buffer.value.decode()


@pytest.mark.parametrize(
    "form",
    ["%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%.4d", "%8.4d", "%i", "%u", "%x", "%#x", "%X", "%#o", "%o", "%08X"],
)
@pytest.mark.parametrize("value", [0, 7, -42, 2147483647])
def test_integers(form: str, value: int) -> None:
    assert printed(form.encode(), struct.pack("<i", value)) == by_c(form.encode(), ctypes.c_int(value))


@pytest.mark.parametrize("form", ["%ld", "%lld", "%lu", "%llx", "%zu", "%20lld|"])
def test_long_integers(form: str) -> None:
    assert printed(form.encode(), struct.pack("<q", -5 << 40)) == by_c(form.encode(), ctypes.c_longlong(-5 << 40))


@pytest.mark.parametrize("form", ["%hd", "%hu", "%hhd", "%hhx"])
def test_short_integers_are_cut(form: str) -> None:
    assert printed(form.encode(), struct.pack("<i", 0x1FFFF)) == by_c(form.encode(), ctypes.c_int(0x1FFFF))


@pytest.mark.parametrize(
    "form", ["%f", "%.2f", "%10.3f|", "%-10.3f|", "%e", "%.3E", "%g", "%G", "%#g", "%+f", "%08.2f", "%.0f"]
)
@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.5, -2.5, 1e-7, 123456789.0, 1e300, float("inf"), float("-inf"), float("nan")]
)
def test_floats(form: str, value: float) -> None:
    assert printed(form.encode(), struct.pack("<d", value)) == by_c(form.encode(), ctypes.c_double(value))


def test_arguments_are_aligned_to_their_size() -> None:
    arguments = struct.pack("<i4xdi4xqi", 3, 0.5, ord("x"), 1 << 40, -1)
    assert printed(b"%d %f %c %lld %u%%\n", arguments) == f"3 0.500000 x {1 << 40} 4294967295%\n"


def test_strings_and_pointers() -> None:
    at_extra = GLOBAL_BASE + 2 * (4096 + 256)
    assert printed(b"[%s] [%8s] [%-8s] [%.2s] %p", struct.pack("<5Q", *[at_extra] * 4, 0x1234), b"abc") == (
        "[abc] [     abc] [abc     ] [ab] 0x1234"
    )
    assert printed(b"%p", bytes(8)) == "(nil)"
    assert printed(b"%*d|%-*d|", struct.pack("<4i", 5, 42, 5, 42)) == "   42|42   |"


def test_lanes_print_in_order() -> None:
    memory = Memory()
    form = memory.alloc("form", b"%d \0")
    p = program(
        {"op": "S2R", "sub": 12, "d0": 0},
        {"op": "ST", "ta": T.U32, "width": 4, "vec": 1, "list": 0, "sub": 3, "a": -1},
        {"op": "LEAFP", "d0": 2},
        {"op": "CVTA", "sub": 3, "d0": 2, "a": 2},
        {"op": "PRINTF", "d0": 1, "a": ~2, "b": 2},
        consts=(0, 0, form & FULL, form >> 32),
        lists=(0,),
        local_bytes=16,
    )
    assert run(p, grid=(1, 1, 1), block=(5, 1, 1), memory=memory).output == "0 1 2 3 4 "


def test_a_failed_assertion_says_what_and_where() -> None:
    memory = Memory()
    addresses = [memory.alloc(t, t.encode() + b"\0") for t in ("x > 0", "kernel.cu", "f(int)")]
    words = [w for a in addresses for w in (a & FULL, a >> 32)]
    p = program({"op": "ASSERTFAIL", "list": 0}, consts=(0, 0, *words, 12), lists=(~2, ~4, ~8, ~6, -1))
    with pytest.raises(DefinitionFault, match=r"kernel\.cu:12: f\(int\): Assertion `x > 0` failed") as caught:
        run(p, grid=(1, 1, 1), block=(32, 1, 1), memory=memory)
    assert caught.value.kind == "assert_failed"
