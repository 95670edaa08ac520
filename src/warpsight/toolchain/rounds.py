"""A compile in rounds: as the source is, then again behind the names that the compiler missed, as long as that helps.

Most sources need one round. The number of rounds is capped and all share one deadline, so that a source cannot make
work by asking for one name after another. Which names there are is a matter of `names`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from warpsight.toolchain.names import PRELUDE_FILE, prelude
from warpsight.toolchain.nvrtc import NvrtcProcess, RawCompile
from warpsight.toolchain.process import WALL_TIMES

MOST_ROUNDS = 5  # a missing name can hide others: an error stops the compiler before it sees them
SHORTEST_S = 0.1


def compile_with_names(
    source: str, file: str, options: Sequence[str], deadline_s: float, process: NvrtcProcess
) -> tuple[RawCompile, Mapping[str, str]]:
    """The last compile, and the header of names that it was given."""
    spent_s, known = 0.0, list[str]()
    for left in reversed(range(MOST_ROUNDS)):
        headers = {PRELUDE_FILE: "".join(known)} if known else {}
        started, words = time.monotonic(), [*options, *pre_include(headers)]
        raw = process.compile(source, file, words, max(deadline_s - spent_s, SHORTEST_S), headers)
        spent_s += (time.monotonic() - started) / WALL_TIMES  # the least that it worked, on however busy a machine
        missing = prelude(raw.log) if left and raw.result == "NVRTC_ERROR_COMPILATION" else ""
        lines = [line for line in missing.splitlines(keepends=True) if line not in known]
        if not lines:
            return raw, headers
        known += lines
    raise AssertionError("the last round looks for no more names")


def pre_include(headers: Mapping[str, str]) -> list[str]:
    """The options that read these headers before the source, which leaves its lines where they are."""
    return [f"--pre-include={name}" for name in headers]
