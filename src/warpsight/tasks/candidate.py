"""A candidate is one text; its launch and its compile options are comment lines at its top.

    // launch: grid=(ceil(N/256)) block=(256) shared=0
    // options: --use_fast_math

Reads and checks those lines and evaluates the launch for given axes. CUDA C++ and OpenCL C share them: the grid counts
blocks (work-groups) in both; those of Triton are in `triton_header`. Does not compile, and does not know which options
the toolchain allows or how much shared memory a given device has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

from warpsight.errors import TaskError
from warpsight.nouns import Build, Candidate, Dim3, Language, Launch, Task
from warpsight.tasks import triton_header
from warpsight.tasks.expressions import ExpressionError, evaluate, parse_expression

MAX_SOURCE_CHARACTERS = 256 * 1024
MAX_BLOCK: Dim3 = (1024, 1024, 64)
MAX_BLOCK_THREADS = 1024
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 227 * 1024  # the most any supported GPU gives a block; the device knows its own limit

_EXAMPLE = "// launch: grid=(ceil(N/256)) block=(256) shared=0"
# What a terminal obeys instead of showing, what Python takes for the end of a line and a compiler does not, what turns
# the direction of writing, and what is no text at all: a kernel is shown to people, who must see what is compiled.
_UNSHOWN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_TOP_LINES: dict[Language, re.Pattern[str]] = {
    "cuda": re.compile(r"\s*//\s*(launch|options)\s*:(.*)"),
    "opencl": re.compile(r"\s*//\s*(launch|options)\s*:(.*)"),
    "triton": re.compile(r"\s*#\s*(launch|constants)\s*:(.*)"),
}
_COMMENTS: dict[Language, str] = {"cuda": "//", "opencl": "//", "triton": "#"}
_DECLARED: dict[Language, str] = {
    "cuda": 'extern "C" __global__ void {}(...)',
    "opencl": "__kernel void {}(...)",
    "triton": "`@triton.jit def {}(...)`",
}
_LAUNCH_KEY = re.compile(r"\b(grid|block|shared)\s*=")


class LaunchSize(NamedTuple):
    """A launch in numbers."""

    grid: Dim3
    block: Dim3
    shared_bytes: int


def language_of(file: str) -> Language:
    """The language of a kernel file, by its ending."""
    return "opencl" if file.endswith(".cl") else "triton" if file.endswith(".py") else "cuda"


def written_in(text: str) -> Language:
    """The language of a GPU kernel without a file name, by the comment its launch line is in."""
    return "triton" if re.search(r"^\s*#\s*launch\s*:", text, re.MULTILINE) else "cuda"


def kernel_name(task: Task, language: Language) -> str:
    """The file name that a kernel in this language is compiled under for this task: its own where it has one."""
    if language == "opencl":
        return task.opencl_file or "kernel.cl"
    if (language == "triton") == task.kernel_file.endswith(".py"):
        return task.kernel_file
    return "kernel.py" if language == "triton" else "kernel.cu"


def read_candidate(text: str, task: Task, file: str = "candidate", language: Language | None = None) -> Candidate:
    """The candidate in `text`, or a TaskError that names the line. Without `language` the ending of `file` tells it."""
    language = language_of(file) if language is None else language
    if len(text) > MAX_SOURCE_CHARACTERS:
        expected = f"at most {MAX_SOURCE_CHARACTERS} characters"
        raise TaskError(file=file, key="source", expected=expected, found=f"{len(text)} characters")
    if odd := _UNSHOWN.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        found = f"the character U+{ord(odd[0]):04X} in line {line}"
        raise TaskError(file=file, key="source", expected="text without control characters", found=found)
    if not re.search(rf"\b{re.escape(task.entry)}\s*\(", text):
        expected = f"a kernel {_DECLARED[language].format(task.entry)}"
        raise TaskError(file=file, key="entry", expected=expected, found="no such function")
    top = _top_lines(text, file, language)
    if "launch" not in top:
        hint = f"put `{triton_header.EXAMPLE if language == 'triton' else _EXAMPLE}` above the first line of code"
        raise TaskError(file=file, key="launch", expected="a launch line at the top", found="none", hint=hint)
    line, launch_text = top["launch"]
    if language == "triton":
        launch, options = _read_triton(top, task, file)
    else:
        launch = _read_launch(launch_text, file, line)
        options = tuple(top["options"][1].split()) if "options" in top else ()
    _check_names(launch, task, file, line)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Candidate(source=text, language=language, launch=launch, options=options, sha256=sha256)


def launch_of(build: Build, size: LaunchSize) -> LaunchSize:
    """The launch with at least the dynamic shared memory that the program itself asks for."""
    return size._replace(shared_bytes=max(size.shared_bytes, build.dynamic_shared_bytes))


def evaluate_launch(candidate: Candidate, axes: Mapping[str, int], file: str = "candidate") -> LaunchSize:
    """The numbers of a launch for these axes, within the limits of CUDA; a bad launch is an error with the numbers."""
    launch = candidate.launch
    grid = _dims(launch.grid, axes, "launch.grid", file)
    block = _dims(launch.block, axes, "launch.block", file)
    shared = _number(launch.shared, axes, "launch.shared", file)
    _within(grid, MAX_GRID, launch.grid, "launch.grid", file)
    _within(block, MAX_BLOCK, launch.block, "launch.block", file)
    threads = block[0] * block[1] * block[2]
    if threads > MAX_BLOCK_THREADS:
        found = f"{threads} threads in block {block}"
        raise TaskError(file=file, key="launch.block", expected=f"at most {MAX_BLOCK_THREADS} threads", found=found)
    if not 0 <= shared <= MAX_SHARED_BYTES:
        found = f"{shared} from {launch.shared!r}"
        raise TaskError(file=file, key="launch.shared", expected=f"0 to {MAX_SHARED_BYTES} bytes", found=found)
    return LaunchSize(grid, block, shared)


def _read_triton(top: Mapping[str, tuple[int, str]], task: Task, file: str) -> tuple[Launch, tuple[str, ...]]:
    """The launch with the constants' numbers in it, and all that the compiler is told."""
    line, text = top["launch"]
    constants = (
        triton_header.read_constants(top["constants"][1], file, top["constants"][0]) if "constants" in top else {}
    )
    for axis in task.axes:
        if axis.name in constants:
            found = f"the axis {axis.name}"
            raise TaskError(file=file, key=f"constants.{axis.name}", expected="a name that is no axis", found=found)
    rest, meta = triton_header.split_launch(text, file, line)
    launch = _read_launch(rest, file, line)
    x, y, z = (triton_header.with_values(expression, constants) for expression in launch.grid)
    shared = triton_header.with_values(launch.shared, constants)
    return Launch(grid=(x, y, z), block=launch.block, shared=shared), triton_header.options_of(meta, constants)


def _top_lines(text: str, file: str, language: Language) -> dict[str, tuple[int, str]]:
    """The launch and options lines above the first line of code: name -> (line number, what follows the colon)."""
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith(_COMMENTS[language]):
            break
        if matched := _TOP_LINES[language].fullmatch(line):
            name, rest = matched[1], matched[2].strip()
            if name in found:
                before = f"a second one (the first is on line {found[name][0]})"
                raise TaskError(file=file, key=name, expected=f"one {name} line", found=before, line=number)
            found[name] = (number, rest)
    return found


def _read_launch(text: str, file: str, line: int) -> Launch:
    keys = list(_LAUNCH_KEY.finditer(text))
    values: dict[str, str] = {}
    for key, end in zip(keys, [*(later.start() for later in keys[1:]), len(text)], strict=False):
        if key[1] in values:
            raise TaskError(file=file, key=f"launch.{key[1]}", expected="it once", found="it twice", line=line)
        values[key[1]] = text[key.end() : end].strip()
    before = text[: keys[0].start()].strip() if keys else text
    if before or "grid" not in values or "block" not in values:
        expected = "grid=(...) block=(...) and optionally shared=..."
        raise TaskError(file=file, key="launch", expected=expected, found=repr(text), line=line, hint=_EXAMPLE)
    grid = _three(values["grid"], "launch.grid", file, line)
    block = _three(values["block"], "launch.block", file, line)
    return Launch(grid=grid, block=block, shared=values.get("shared", "0"))


def _three(text: str, key: str, file: str, line: int) -> tuple[str, str, str]:
    """`(a, b)` as ("a", "b", "1"): commas inside inner parentheses do not split."""
    inner = text[1:-1] if _is_wrapped(text) else text
    parts, depth, start = list[str](), 0, 0
    for at, character in enumerate(inner):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(inner[start:at].strip())
            start = at + 1
    parts.append(inner[start:].strip())
    if len(parts) > 3 or not all(parts):
        raise TaskError(file=file, key=key, expected="one to three expressions", found=repr(text), line=line)
    x, y, z = (*parts, "1", "1")[:3]
    return x, y, z


def _is_wrapped(text: str) -> bool:
    """Whether the first parenthesis closes with the last character, as in `(a, b)` and not in `(a) / (b)`."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def _check_names(launch: Launch, task: Task, file: str, line: int) -> None:
    names = frozenset(axis.name for axis in task.axes)
    keyed = [("launch.grid", e) for e in launch.grid] + [("launch.block", e) for e in launch.block]
    for key, expression in [*keyed, ("launch.shared", launch.shared)]:
        try:
            parse_expression(expression, names)
        except ExpressionError as error:
            raise TaskError(file=file, key=key, expected=error.expected, found=error.found, line=line) from None


def _dims(expressions: tuple[str, str, str], axes: Mapping[str, int], key: str, file: str) -> Dim3:
    x, y, z = (_number(expression, axes, key, file) for expression in expressions)
    return x, y, z


def _number(expression: str, axes: Mapping[str, int], key: str, file: str) -> int:
    try:
        return evaluate(expression, axes)
    except ExpressionError as error:
        raise TaskError(file=file, key=key, expected=error.expected, found=error.found) from None


def _within(value: Dim3, most: Dim3, expressions: tuple[str, str, str], key: str, file: str) -> None:
    for name, number, limit, expression in zip("xyz", value, most, expressions, strict=True):
        if not 1 <= number <= limit:
            found = f"{number} from {expression!r}"
            raise TaskError(file=file, key=f"{key}.{name}", expected=f"1 to {limit}", found=found)
