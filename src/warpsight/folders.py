"""Where this user's data lies. `WARPSIGHT_DATA` moves it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Runs, the ledger, reports and keys."""
    if chosen := environment.get("WARPSIGHT_DATA", ""):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("warpsight")
