"""What the files of some parts of the package are, as one digest: kept results hold only while they are the same."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import warpsight
from warpsight.vgpu import _core


@functools.cache
def parts_digest(*parts: str) -> str:
    """What the files of these parts of the package are, data and compiled code included."""
    root = Path(warpsight.__file__).parent
    files = [p for part in parts for p in sorted((root / part).rglob("*")) if p.suffix in (".py", ".toml")]
    digest = hashlib.sha256()
    for path in (*files, Path(_core.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()
