"""A Triton build on a real GPU, launched by Triton itself: which worker runs it, and what that worker is told.

Triton compiles the text again for the GPU that is there and launches it by its own launcher, so the candidate's Python
runs in the GPU's worker, where the walls that a driver cannot live behind are missing. That is done only where the user
asks to go on without protections; else the build's own program is launched as any other. Not run on a GPU by us.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpsight.nouns import Build

TRITON_WORKER = Path(__file__).with_name("triton_worker.py")
SIGNATURE = "signature="


def signature_of(build: Build) -> tuple[str, ...]:
    """The types of the plain parameters as the build was made for them, in Triton's words: `*fp32`, `i32`."""
    told = next((word for word in build.options if word.startswith(SIGNATURE)), SIGNATURE)
    return tuple(part.partition(":")[0] for part in told.removeprefix(SIGNATURE).split(",") if part)


def triton_request(build: Build, entry: str) -> tuple[dict[str, Any], list[Any]]:
    """The `open` message: the text, its constants and launch words, the types of its parameters."""
    words = [word for word in build.options if not word.startswith(SIGNATURE)]
    opened = {"op": "open", "entry": entry, "kind": "triton", "options": words, "types": list(signature_of(build))}
    return opened, [build.text.encode()]
