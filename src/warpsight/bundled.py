"""What comes along beside the code: example tasks, training configurations, pages. Only says where they lie.

There is one copy, at the root of the repository. A wheel carries it in `share/`; a checkout uses its own files, so
an edited page or task counts at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Kind = Literal["tasks", "configs", "docs"]
_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parents[1]


def bundled(kind: Kind) -> Path | None:
    """The folder of these files, or None where somebody left them out."""
    carried = _PACKAGE / "share" / kind
    if carried.is_dir():
        return carried
    own = _CHECKOUT / kind
    return own if own.is_dir() and (_CHECKOUT / "pyproject.toml").is_file() else None


def find_bundled(kind: Kind, word: str | Path) -> Path | None:
    """The file or folder of this name, given as `NAME` or as in the repository, `tasks/NAME`."""
    parts = Path(word).parts
    name = parts[1:] if parts[:1] == (kind,) else parts
    root = bundled(kind)
    if root is None or len(name) != 1 or name[0] in ("..", "/"):
        return None
    found = root / name[0]
    return found if found.exists() else None
