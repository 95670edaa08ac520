"""The first lines of a Triton candidate: its launch and its constants, as data that is read and never run.

    # launch: grid=(cdiv(N, BLOCK)) num_warps=4 num_stages=3
    # constants: BLOCK=1024

Constants are the kernel's `tl.constexpr` parameters; the grid may use them beside the axes. A block has 32 threads a
warp. What must stay true: everything a launch needs stands in these lines, so no Python of the candidate decides it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from warpsight.errors import TaskError
from warpsight.tasks.expressions import RESERVED_NAMES

EXAMPLE = "# launch: grid=(cdiv(N, BLOCK)) num_warps=4 num_stages=3"
WARPS = (1, 2, 4, 8, 16, 32)
MOST_STAGES = 16
MOST_CONSTANTS = 64
META = ("num_warps", "num_stages")
DEFAULTS = {"num_warps": 4, "num_stages": 3}  # Triton's own for this class of GPU
_CONSTANT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(-?[0-9]{1,18}|True|False)")
_META = re.compile(r"\b(num_warps|num_stages)\s*=\s*(\S+)")


def read_constants(text: str, file: str, line: int) -> dict[str, int | bool]:
    """`BLOCK=1024 EVEN=True` as a dict; a name comes once and is none that means something else."""
    found: dict[str, int | bool] = {}
    for word in text.replace(",", " ").split():
        matched = _CONSTANT.fullmatch(word)
        if matched is None:
            expected = "NAME=INTEGER, NAME=True or NAME=False, apart by spaces"
            raise TaskError(file=file, key="constants", expected=expected, found=repr(word[:80]), line=line)
        name, value = matched[1], matched[2]
        if name in found or name in RESERVED_NAMES or name in META:
            why = "a second one" if name in found else "a name that is taken"
            raise TaskError(file=file, key=f"constants.{name}", expected="a name of its own", found=why, line=line)
        found[name] = value == "True" if value in ("True", "False") else int(value)
    if len(found) > MOST_CONSTANTS:
        expected = f"at most {MOST_CONSTANTS} constants"
        raise TaskError(file=file, key="constants", expected=expected, found=str(len(found)), line=line)
    return found


def split_launch(text: str, file: str, line: int) -> tuple[str, dict[str, int]]:
    """The launch line without `num_warps` and `num_stages`, and those two."""
    meta = dict(DEFAULTS)
    for matched in _META.finditer(text):
        name, value = matched[1], matched[2]
        allowed = WARPS if name == "num_warps" else range(1, MOST_STAGES + 1)
        if not value.isdecimal() or int(value) not in allowed:
            expected = ", ".join(map(str, WARPS)) if name == "num_warps" else f"1 to {MOST_STAGES}"
            raise TaskError(file=file, key=f"launch.{name}", expected=expected, found=repr(value), line=line)
        meta[name] = int(value)
    rest = _META.sub("", text).strip()
    if re.search(r"\bblock\s*=", rest):
        hint = "a block of a Triton kernel has 32 threads a warp"
        expected, found = "num_warps=..., not block=...", "block="
        raise TaskError(file=file, key="launch.block", expected=expected, found=found, line=line, hint=hint)
    return f"{rest} block=({32 * meta['num_warps']})", meta


def with_values(expression: str, constants: Mapping[str, int | bool]) -> str:
    """The expression with each constant's number in place of its name."""
    for name, value in constants.items():
        expression = re.sub(rf"\b{name}\b", str(int(value)), expression)
    return expression


def options_of(meta: Mapping[str, int], constants: Mapping[str, int | bool]) -> tuple[str, ...]:
    """Everything that the compiler is told besides the text, in one spelling: the cache key is made of it."""
    return (*(f"{name}={meta[name]}" for name in META), *(f"{name}={constants[name]}" for name in sorted(constants)))


def kernel_parameters(source: str, entry: str) -> tuple[list[str], list[str]] | None:
    """(plain parameters, `tl.constexpr` ones) of the top-level function `entry`; None where there is none.

    Raises SyntaxError where the text is not Python.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            constants = [a.arg for a in every if a.annotation is not None and _is_constexpr(a.annotation)]
            return [a.arg for a in every if a.arg not in constants], constants
    return None


def _is_constexpr(annotation: ast.expr) -> bool:
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return str(text).rpartition(".")[2] == "constexpr"
