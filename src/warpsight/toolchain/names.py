"""Names that nvcc knows without an include, because it reads <cuda_runtime.h> for every source, and NVRTC does not.

A source is compiled as it is. Only where the compiler then misses such a name, it is compiled again behind a few lines
that bring the missing names and nothing else. So a source that needs none of them costs nothing, and one that defines
them itself is left alone. The lines are a header of their own: places in the source stay what they are.
What the log says is not believed: it only chooses among harmless lines, and the last compile decides.
"""

from __future__ import annotations

import functools
import re

from warpsight.toolchain import packages

PRELUDE_FILE = "warpsight_names.h"
_MISSED = re.compile(r'error: (?:identifier "(\w+)" is undefined|namespace "std" has no member "(\w+)")')
_AMBIGUOUS = re.compile(r'error: more than one instance of overloaded function "(?:std::)?\w+" matches')
# Macros, and the header that has them.
_MACROS = (
    (r"(FLT|DBL|LDBL)_[A-Z0-9_]+", "float.h"),
    (r"(S?CHAR|UCHAR|U?SHRT|U?INT|U?LONG|U?LLONG)_(MIN|MAX)|CHAR_BIT", "limits.h"),
    (r"U?INT(_FAST|_LEAST)?(8|16|32|64|PTR|MAX)_(MIN|MAX|C)|SIZE_MAX|PTRDIFF_(MIN|MAX)", "stdint.h"),
    (r"u?int_(fast|least)(8|16|32|64)_t", "stdint.h"),
    (r"CUDART_[A-Z0-9_]+", "math_constants.h"),
    (r"PRI[diuxX](8|16|32|64)", "inttypes.h"),
    (r"EXIT_SUCCESS|EXIT_FAILURE", "stdlib.h"),
    (r"offsetof", "stddef.h"),
    (r"memmove|memcmp|strlen", "string.h"),
)
# Types one at a time: the source may define the neighbours of a missing one in another way.
_TYPES = {
    "int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long long",
    "uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int",
    "uint64_t": "unsigned long long", "intptr_t": "long long", "uintptr_t": "unsigned long long",
    "intmax_t": "long long", "uintmax_t": "unsigned long long", "uint": "unsigned int", "ushort": "unsigned short",
    "ulong": "unsigned long", "ssize_t": "long",
}  # fmt: skip
_STD = (
    "cmath", "cstdint", "cstddef", "cstring", "cstdio", "cstdlib", "ctime", "array", "tuple", "functional", "numeric",
    "complex", "iterator", "optional", "variant", "span", "bit", "atomic", "ratio", "memory",
)  # fmt: skip
# Names of namespace std that are not written as `using` in a header of ours.
_TEMPLATES = {
    "limits": "numeric_limits",
    "utility": "swap exchange as_const pair make_pair integer_sequence index_sequence make_integer_sequence "
    "make_index_sequence index_sequence_for",
    "algorithm": "min max minmax clamp fill fill_n copy copy_n",
    "type_traits": "integral_constant bool_constant true_type false_type enable_if conditional type_identity void_t "
    "remove_const remove_volatile remove_cv remove_reference remove_cvref remove_pointer remove_extent add_const "
    "add_volatile add_cv add_pointer add_lvalue_reference add_rvalue_reference is_same is_const is_volatile "
    "is_reference is_lvalue_reference is_rvalue_reference is_array is_void is_null_pointer is_pointer is_integral "
    "is_floating_point is_arithmetic is_fundamental is_signed is_unsigned is_enum is_class is_union is_empty "
    "is_trivially_copyable is_base_of is_convertible is_constructible underlying_type make_unsigned make_signed decay "
    "declval common_type invoke_result conjunction disjunction negation",
}
_SLOW_ALGORITHMS = (
    "all_of any_of none_of find find_if count count_if equal lower_bound upper_bound binary_search equal_range "
    "reverse rotate transform for_each generate max_element min_element minmax_element merge partition remove "
    "remove_if replace unique is_sorted swap_ranges iter_swap make_heap push_heap pop_heap sort_heap next_permutation "
    "copy_if copy_backward lexicographical_compare"
)


def prelude(log: str) -> str:
    """The lines that bring the names which a failed compile missed, or nothing where none of them is known here."""
    lines = {_plain(name) if name else _standard().get(of_std, "") for name, of_std in _MISSED.findall(log)}
    if _AMBIGUOUS.search(log):
        lines.add("#include <warpsight/mixed_math.h>")
    return "".join(f"{line}\n" for line in sorted(lines) if line)


def _plain(name: str) -> str:
    """The line that brings a name which the source uses without a namespace."""
    if name in _TYPES:
        return f"typedef {_TYPES[name]} {name};"
    if name in _mathematics():
        return _mathematics()[name]
    header = next((header for names, header in _MACROS if re.fullmatch(names, name)), "")
    return f"#include <{header}>" if header else _standard().get(name, "")


@functools.cache
def _mathematics() -> dict[str, str]:
    """The constants of <math.h>, also one at a time."""
    text = (packages.own_headers() / "math.h").read_text()
    return {name: line for line, name in re.findall(r"^(#define (\w+) .*)$", text, re.MULTILINE)}


@functools.cache
def _standard() -> dict[str, str]:
    """Names of namespace std, each with the line that brings it."""
    found = {name: _from_cccl("algorithm", name) for name in _SLOW_ALGORITHMS.split()}
    for header, names in _TEMPLATES.items():
        for name in names.split():
            found |= dict.fromkeys((name, f"{name}_t", f"{name}_v"), f"#include <{header}>")
    for header in _STD:
        text = (packages.own_headers() / header).read_text()
        for name in re.findall(r"^using (?:::(?:cuda::std::)?)?(\w+)", text, re.MULTILINE):
            found.setdefault(name, f"#include <{header}>")
    return found


def _from_cccl(header: str, name: str) -> str:
    return f"#include <cuda/std/{header}>\nnamespace std {{ using ::cuda::std::{name}; }}"
