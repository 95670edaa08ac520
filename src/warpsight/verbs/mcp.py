"""How a client can start this server."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def own_command() -> str:
    """How a client can start us: the whole path, since its PATH may be another."""
    beside = Path(sys.executable).parent / "warpsight"
    return str(beside) if beside.exists() else shutil.which("warpsight") or "warpsight"
