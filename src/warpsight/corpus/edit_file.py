"""Edit files: search/replace blocks as text, the way a defect is kept beside its family.

    <<<<<<< SEARCH
    lines of the fast kernel
    =======
    lines that stand there with the defect
    >>>>>>> REPLACE

An empty replacement takes the whole lines away. Anything outside the blocks is an error: nothing is guessed.
"""

from __future__ import annotations

import re

from warpsight.errors import TaskError
from warpsight.tools.edits import EditBlock

_BLOCK = re.compile(r"<<<<<<< SEARCH\n(.*?)\n=======\n(.*?)>>>>>>> REPLACE\n", re.DOTALL)


def parse_edits(text: str, file: str) -> tuple[EditBlock, ...]:
    """The blocks of one file, at least one."""
    rest = _BLOCK.sub("", text)
    blocks = [(search, replace) for search, replace in _BLOCK.findall(text)]
    if not blocks or rest.strip():
        found = repr(rest.strip()[:80]) if rest.strip() else "none"
        raise TaskError(file=file, key="(blocks)", expected="only SEARCH/REPLACE blocks", found=found)
    return tuple(
        EditBlock(search, replace[:-1]) if replace else EditBlock(search + "\n", "") for search, replace in blocks
    )
