"""The device code of a translation unit: what a compiler of device code alone can take, and the kernels in it.

Host functions go; kernels, device functions, types, constants and macros stay. Pure text; the compiler has the last
word, and what it refuses is taken out piece by piece (see `kernels`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warpsight.tasks.importers.hecbench.items import Piece, blanked, pieces

_MACRO = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)(?:\([^)]*\))?\s+(.*)", re.DOTALL)
_KERNEL_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:<[^<>()]*>\s*)?\(")
_LAUNCH = re.compile(r"\b((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)\s*(<(?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*>)*>)*>)?\s*<<<")
_PARENTHESES = re.compile(r"\b__\w+__\s*\((?:[^()]|\([^()]*\))*\)")

# What host headers give and a compiler of device code alone does not, by what a text uses of it: the headers are slow.
_GIVEN: tuple[tuple[str, str], ...] = (
    (r"\bu?int(?:_fast|_least)?(?:8|16|32|64)_t\b|\bu?intptr_t\b",
     "#include <cuda/std/cstdint>\nusing namespace cuda::std;\n"),
    (r"\b(?:FLT|DBL)_[A-Z_]+\b", "#include <cuda/std/cfloat>\n"),
    (r"\b(?:U?(?:CHAR|SHRT|INT|LONG|LLONG))_(?:MAX|MIN)\b", "#include <cuda/std/climits>\n"),
    (r"\bstd::numeric_limits\b", "#include <cuda/std/limits>\n"),
    (r"\bstd::(?:is_|enable_if|conditional|remove_|decay)\w*", "#include <cuda/std/type_traits>\n"),
    (r"\bstd::(?:move|forward|swap|pair|declval)\b", "#include <cuda/std/utility>\n"),
    (r"\bstd::(?:min|max|clamp)\b", "#include <cuda/std/__algorithm/min.h>\n#include <cuda/std/__algorithm/max.h>\n"),
    (r"\bstd::(?:abs|fabs|sqrt|exp|log\w*|pow|sin|cos|tan\w*|floor|ceil|isnan|isinf|fma|round)\b",
     "#include <cuda/std/cmath>\n"),
    (r"\bstd::complex\b", "#include <cuda/std/complex>\n"),
    (r"\bstd::array\b", "#include <cuda/std/array>\n"),
    (r"\bstd::(?!vector|string|cout|cerr|endl|chrono|unique_ptr)",
     "namespace cuda { namespace std {} }\nnamespace std { using namespace cuda::std; }\n"),
    (r"\bM_PI\b", "#define M_PI 3.14159265358979323846\n"),
    (r"\bM_PI_2\b", "#define M_PI_2 1.57079632679489661923\n"),
    (r"\bM_SQRT2\b", "#define M_SQRT2 1.41421356237309504880\n"),
    (r"\bM_E\b", "#define M_E 2.7182818284590452354\n"),
    (r"\bNULL\b", "#define NULL 0\n"),
    (r"\buint\b", "typedef unsigned int uint;\n"),
    (r"\bushort\b", "typedef unsigned short ushort;\n"),
    (r"\bulong\b", "typedef unsigned long ulong;\n"),
)  # fmt: skip


def prelude(text: str) -> str:
    """The lines to put above a device code, by the names it uses."""
    plain = blanked(text)
    own = {found[1] for found in re.finditer(r"#\s*define\s+(\w+)", plain)}
    used = [lines for names, lines in _GIVEN if any(one[0] not in own for one in re.finditer(names, plain))]
    return "".join(dict.fromkeys(used))


@dataclass(frozen=True)
class KernelPlace:
    """A kernel of the text: its name, whether it is a template, and the line it begins on."""

    name: str
    template: bool
    line: int
    piece: int


@dataclass(frozen=True)
class LaunchCall:
    """A launch in the text: of which kernel, with which template arguments written, at which character."""

    name: str
    arguments: str
    at: int


@dataclass(frozen=True)
class DeviceCode:
    """The pieces of a unit, which of them are kept, and the kernels among them."""

    text: str
    pieces: tuple[Piece, ...]
    kept: frozenset[int]
    kernels: tuple[KernelPlace, ...]
    launches: tuple[LaunchCall, ...]
    plain: str

    def written(self, without: Collection[int] = ()) -> str:
        """The device code in the lines of the unit: what is left out leaves its lines empty."""
        parts: list[str] = []
        at = 0
        for number, piece in enumerate(self.pieces):
            parts.append(_lines_only(self.text[at : piece.start]))
            whole = self.text[piece.start : piece.end]
            parts.append(whole if number in self.kept and number not in without else _lines_only(whole))
            at = piece.end
        return "".join([*parts, _lines_only(self.text[at:])])

    def piece_at(self, line: int) -> int | None:
        """Which piece a line of the text lies in."""
        for number, piece in enumerate(self.pieces):
            first = self.text.count("\n", 0, piece.start) + 1
            if first <= line <= first + self.text.count("\n", piece.start, piece.end):
                return number
        return None


def device_code(text: str) -> DeviceCode:
    """Cut a unit into pieces and choose those that device code needs."""
    found = pieces(text)
    plain = blanked(text)
    device, kernel = _annotations(found)
    kept = frozenset(n for n, piece in enumerate(found) if _keeps(piece, device | kernel))
    kernels = tuple(
        KernelPlace(name, _is_template(piece.head), text.count("\n", 0, piece.start) + 1, n)
        for n, piece in enumerate(found)
        if piece.kind == "function" and _has(piece.head, kernel) and (name := kernel_name(piece.head))
    )
    launches = (LaunchCall(one[1].rpartition("::")[2], one[2] or "", one.start()) for one in _LAUNCH.finditer(plain))
    return DeviceCode(text, found, kept, kernels, tuple(launches), plain)


def kernel_name(head: str) -> str:
    """The name in the head of a kernel, "" where a macro hides it."""
    text = _PARENTHESES.sub(" ", head)
    after = re.split(r"\bvoid\b", text, maxsplit=1)
    found = _KERNEL_NAME.search(after[-1])
    return found[1] if found else ""


def instance_lines(wanted: Sequence[str]) -> str:
    """Lines that make a compiler of device code produce these instances of template kernels."""
    return "".join(f"template __global__ decltype({one}) {one};\n" for one in wanted)


def _annotations(found: Sequence[Piece]) -> tuple[set[str], set[str]]:
    """The words that mark device functions and kernels: CUDA's own, and macros made of them."""
    device, kernel = {"__device__", "constexpr"}, {"__global__"}
    for piece in found:
        if piece.kind == "directive" and (macro := _MACRO.match(piece.head)):
            if "__global__" in macro[2]:
                kernel.add(macro[1])
            elif "__device__" in macro[2]:
                device.add(macro[1])
    return device, kernel


def _keeps(piece: Piece, marks: set[str]) -> bool:
    if piece.kind == "function":
        return _has(piece.head, marks)
    if piece.kind == "declaration":
        return not re.match(r"\s*using\s+namespace\s+std\b", piece.head)
    return True


def _has(head: str, marks: Collection[str]) -> bool:
    return any(word in marks for word in re.findall(r"[A-Za-z_]\w*", head))


def _is_template(head: str) -> bool:
    return bool(re.match(r"\s*template\s*<\s*[^>\s]", head))


def _lines_only(text: str) -> str:
    return "\n" * text.count("\n")
