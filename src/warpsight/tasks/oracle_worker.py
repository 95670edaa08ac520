"""The process that calls references: one request frame in, one answer frame out, until its input ends.

Started as a file of its own with only the standard library and NumPy, so that it is there in a tenth of a second. It
runs the task author's file, which is trusted not to attack but not to be without bugs: whatever it does, exit, hang or
print, ends or stops this process and nothing else. Frames are a 4-byte length, a JSON header, then raw array bytes;
nothing is ever pickled. What must stay true: no call sees what an earlier call left in its module.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import traceback
import types
from typing import Any, BinaryIO, cast

import numpy as np

Header = dict[str, Any]


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the parent closes its end."""
    while (header := _read_header(requests)) is not None:
        arrays = _read_arrays(requests, header["arrays"])
        # The parent keeps the deadline; this ends us even when the parent is gone and we hang.
        signal.alarm(int(header["deadline_seconds"]) + 5)
        answer, returned = _answer(header, arrays)
        signal.alarm(0)
        text = json.dumps(answer).encode()
        answers.write(len(text).to_bytes(4, "big") + text)
        for array in returned:
            answers.write(array.tobytes())
        answers.flush()


def _read_header(stream: BinaryIO) -> Header | None:
    length = stream.read(4)
    return json.loads(stream.read(int.from_bytes(length, "big"))) if len(length) == 4 else None


def _read_arrays(stream: BinaryIO, described: list[Header]) -> Header:
    found: Header = {}
    for one in described:
        dtype, shape = np.dtype(one["dtype"]), tuple(one["shape"])
        data = bytearray(stream.read(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize))
        array = np.frombuffer(data, dtype).reshape(shape)
        found[one["name"]] = array if one["shape"] else array.item()
    return found


def _answer(header: Header, arrays: Header) -> tuple[Header, list[np.ndarray]]:
    try:
        returned: object = _call(header, arrays)
        named, kind = isinstance(returned, dict), type(returned).__name__
        by_name = cast(Header, returned) if named else {"": returned}
        values = {str(name): np.asarray(value) for name, value in by_name.items()}
    except (Exception, SystemExit) as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == header["file"]]
        return {"error": f"{type(error).__name__}: {error}", "line": lines[-1] if lines else None}, []
    described: list[Header] = []
    sent: list[np.ndarray] = []
    for name, array in values.items():
        usable = array.dtype.kind in "fiub"
        dtype = array.dtype.str if usable else ""
        described.append({"name": name, "dtype": dtype, "found": str(array.dtype), "shape": list(array.shape)})
        sent += [array] if usable else []
    return {"named": named, "type": kind, "outputs": described}, sent


def _call(header: Header, arrays: Header) -> Any:
    module = types.ModuleType("_warpsight_reference")
    module.__file__ = header["file"]
    exec(compile(header["text"], header["file"], "exec"), module.__dict__)
    function = module.__dict__[header["function"]]
    values = {**header["axes"], **arrays}
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


if __name__ == "__main__":
    answer_end = os.dup(1)
    os.dup2(2, 1)  # what a reference prints goes to stderr, never into an answer
    np.seterr(all="ignore")
    serve(sys.stdin.buffer, os.fdopen(answer_end, "wb"))
