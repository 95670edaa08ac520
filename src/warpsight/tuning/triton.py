"""What varies in a Triton kernel: the constants and the meta-parameters of its first lines, which are data.

    # launch: grid=(cdiv(N, BLOCK)) num_warps=4 num_stages=3
    # constants: BLOCK=1024

The grid follows its constants by name, so nothing is tied or guessed. No Python of the kernel is read or run here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpsight.nouns import Candidate
from warpsight.tasks.triton_header import DEFAULTS
from warpsight.tuning.records import Parameter, SearchSpace

WARPS, STAGES = (1, 2, 4, 8, 16), (1, 2, 3, 4)
HEADER = "read from the kernel's first lines"
_LAUNCH = re.compile(r"^[ \t]*#[ \t]*launch[ \t]*:.*$", re.MULTILINE)
_CONSTANTS = re.compile(r"^[ \t]*#[ \t]*constants[ \t]*:.*$", re.MULTILINE)
_VALUE = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)=([1-9][0-9]*)\b")


def triton_space(candidate: Candidate) -> SearchSpace:
    """Whole-number constants, a quarter to four times each, and both meta-parameters."""
    constants = _CONSTANTS.search(candidate.source)
    found = [] if constants is None else [(m[1], int(m[2])) for m in _VALUE.finditer(constants[0])]
    parameters = [
        Parameter(name=name, values=_near(value), given=value, constant=True, about="a constant of the first lines")
        for name, value in found
    ]
    for name, values in (("num_warps", WARPS), ("num_stages", STAGES)):
        given = _meta(candidate.source, name)
        listed = tuple(sorted({*values, given}))
        parameters.append(Parameter(name=name, values=listed, given=given, constant=False, about="of the launch"))
    return SearchSpace(parameters=tuple(parameters), launch=candidate.launch, origin=HEADER)


def with_header(text: str, values: Mapping[str, int]) -> str:
    """The text with these values in its first lines."""

    def changed(line: re.Match[str]) -> str:
        return _VALUE.sub(lambda m: f"{m[1]}={values.get(m[1], int(m[2]))}", line[0])

    text = _CONSTANTS.sub(changed, text, count=1)
    return _LAUNCH.sub(lambda line: _with_meta(line[0], values), text, count=1)


def _with_meta(line: str, values: Mapping[str, int]) -> str:
    for name in (name for name in DEFAULTS if name in values):
        written = f"{name}={values[name]}"
        line, count = re.subn(rf"\b{name}[ \t]*=[ \t]*\d+", written, line)
        line = line if count else f"{line} {written}"
    return line


def _meta(text: str, name: str) -> int:
    line = _LAUNCH.search(text)
    found = re.search(rf"\b{name}[ \t]*=[ \t]*(\d+)", line[0]) if line else None
    return int(found[1]) if found else DEFAULTS[name]


def _near(value: int) -> tuple[int, ...]:
    return tuple(sorted({value // d for d in (2, 4) if value % d == 0} | {value, 2 * value, 4 * value}))
