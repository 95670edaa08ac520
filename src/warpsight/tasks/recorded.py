"""Recorded contents of a captured task: files named by the hash of their bytes, compressed, in the task's own folder.

They are the data of somebody's program. Nothing here sends them anywhere; a task says their hash and no value. What
must stay true: bytes that come back are those of the hash, whatever was done to the file.
"""

from __future__ import annotations

import functools
import hashlib
import zlib
from pathlib import Path

import numpy as np

from warpsight.errors import TaskError

FOLDER = "recorded"
MOST_BYTES = 1 << 30


def write_recorded(folder: Path, array: np.ndarray) -> str:
    """Keep the bytes of an array under their hash, which is returned. What is there already stays."""
    body = np.ascontiguousarray(array).tobytes()
    sha256 = hashlib.sha256(body).hexdigest()
    place = folder / FOLDER / f"{sha256}.z"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(zlib.compress(body, 6))
    return sha256


def read_recorded(folder: Path, sha256: str, dtype: str) -> np.ndarray:
    """The numbers of that hash, not to be written. Raises TaskError where it is not there, or not what it was."""
    body = _body(folder / FOLDER / f"{sha256}.z", sha256)
    if len(body) % np.dtype(dtype).itemsize:
        raise _error(folder, sha256, f"whole numbers of {dtype}", f"{len(body)} bytes")
    return np.frombuffer(body, dtype)


@functools.lru_cache(maxsize=32)
def _body(place: Path, sha256: str) -> bytes:
    folder = place.parents[1]
    try:
        unpacker = zlib.decompressobj()
        body = unpacker.decompress(place.read_bytes(), MOST_BYTES)
    except OSError as error:
        raise _error(folder, sha256, "a readable file", error.strerror or "none") from None
    except zlib.error as error:
        raise _error(folder, sha256, "what was recorded", f"a damaged file ({error})") from None
    if hashlib.sha256(body).hexdigest() != sha256:
        raise _error(folder, sha256, "the bytes that were recorded", "others")
    return body


def _error(folder: Path, sha256: str, expected: str, found: str) -> TaskError:
    file = str(folder / FOLDER / f"{sha256}.z")
    return TaskError(file=file, key="recorded", expected=expected, found=found, hint="capture the kernel again")
