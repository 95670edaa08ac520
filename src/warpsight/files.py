"""One way to write a file: aside, then renamed, so that a kill leaves the old one or the new one and never half.

What must stay true: nothing is left beside the file when writing fails; a full disk is not made fuller.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_whole(path: Path, data: bytes | str, *, durable: bool = False, mode: int | None = None) -> None:
    """Write a file, texts in UTF-8. `durable`: it and its name are on the disk when this returns. `mode`: its rights.

    The folder must be there. OSError is the caller's to explain.
    """
    aside = f"{path.parent}/.new-{os.getpid()}-{threading.get_ident()}"  # no other thread or process has that name
    try:
        with os.fdopen(handle := _opened(aside, mode), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            if durable:
                file.flush()
                os.fsync(handle)
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def put_in_place(finished: Path, path: Path) -> None:
    """Give a large file, which was written beside its place and is whole, its name."""
    finished.replace(path)


def _opened(name: str, mode: int | None) -> int:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666 if mode is None else mode)
    if mode is not None:
        os.fchmod(handle, mode)  # whatever the mask of this process takes away
    return handle


def sync_folder(folder: Path) -> None:
    """Make the name of a new file in it last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
