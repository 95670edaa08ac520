"""What stands at the head of a GGUF file, and a writer for files of our own: no weights are read here.

Covers version 2 and 3, little-endian. Values of arrays are skipped: nothing of them is needed.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import UsageError

MAGIC = b"GGUF"
ALIGNED = 32
_F32, _TEXT, _LIST = 6, 8, 9
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
Scalar = int | float | str | bool


def read_head(path: Path) -> dict[str, Scalar]:
    """The scalar metadata of a GGUF file; UsageError where it is none."""
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise UsageError(f"expected a GGUF file at {path}, it begins otherwise")
            _version, _tensors, count = cast(tuple[int, int, int], _taken(file, "<IQQ"))
            found: dict[str, Scalar] = {}
            for _ in range(count):
                name = _text(file)
                value = _value(file, int(_taken(file, "<I")[0]))
                if value is not None:
                    found[name] = value
            return found
    except (OSError, struct.error, UnicodeDecodeError, KeyError) as problem:
        raise UsageError(f"could not read the head of {path}: {problem}") from None


def write_gguf(path: Path, head: Mapping[str, str | float], tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """A GGUF file of float32 tensors. Numbers of the head are written as float32."""
    parts = [MAGIC, struct.pack("<IQQ", 3, len(tensors), len(head))]
    for name, value in head.items():
        told = struct.pack("<I", _TEXT) + _packed(value) if isinstance(value, str) else struct.pack("<If", _F32, value)
        parts += [_packed(name), told]
    offset = 0
    for name, tensor in tensors.items():
        shape = struct.pack(f"<I{tensor.ndim}Q", tensor.ndim, *reversed(tensor.shape))
        parts += [_packed(name), shape, struct.pack("<IQ", 0, offset)]
        offset += _up(tensor.nbytes)
    parts.append(bytes(_up(sum(map(len, parts))) - sum(map(len, parts))))
    for tensor in tensors.values():
        data = np.ascontiguousarray(tensor, dtype="<f4").tobytes()
        parts += [data, bytes(_up(len(data)) - len(data))]
    path.write_bytes(b"".join(parts))


def _up(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _packed(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _taken(file: BinaryIO, form: str) -> Sequence[int | float | bool]:
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _text(file: BinaryIO) -> str:
    return file.read(int(_taken(file, "<Q")[0])).decode()


def _value(file: BinaryIO, kind: int) -> Scalar | None:
    if kind == _TEXT:
        return _text(file)
    if kind != _LIST:
        return _taken(file, _NUMBERS[kind])[0]
    of, count = cast(tuple[int, int], _taken(file, "<IQ"))
    if of in _NUMBERS:
        file.seek(struct.calcsize(_NUMBERS[of]) * count, 1)
    else:
        for _ in range(count):
            _value(file, of)
    return None
