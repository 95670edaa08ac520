"""The launch and options lines at the top of the kernels kept here, in the format candidates have.

These texts are ours, so the reader is short: one launch line,
`grid=(a, b) block=(c) shared=d`, without a comma inside an expression.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from warpsight.nouns import Candidate, Launch
from warpsight.tasks import LaunchSize, evaluate_launch

_LAUNCH = re.compile(r"// launch: grid=\((?P<grid>.+)\) block=\((?P<block>.+)\) shared=(?P<shared>.+)")
_OPTIONS = re.compile(r"// options: (?P<options>.+)")


def read_kernel(source: str) -> Candidate:
    """The kernel with its launch and options, read from its first lines."""
    lines = source.splitlines()
    launch = _LAUNCH.fullmatch(lines[0])
    if launch is None:
        raise ValueError(f"expected a first line `// launch: grid=(...) block=(...) shared=...`, found {lines[0]!r}")
    options = _OPTIONS.fullmatch(lines[1])
    return Candidate(
        source=source,
        launch=Launch(grid=_three(launch["grid"]), block=_three(launch["block"]), shared=launch["shared"]),
        options=tuple(options["options"].split()) if options else (),
        sha256=hashlib.sha256(source.encode()).hexdigest(),
    )


def launch_size(kernel: Candidate, axes: Mapping[str, int]) -> LaunchSize:
    return evaluate_launch(kernel, axes)


def _three(text: str) -> tuple[str, str, str]:
    x, y, z = ([part.strip() for part in text.split(",")] + ["1", "1"])[:3]
    return x, y, z
