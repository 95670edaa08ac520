"""The process that calls references, in the jail: one request frame in, one answer frame out, until its input ends.

Started as a file of its own with only the standard library and NumPy. It runs the file of a task's author, who may be a
stranger: whatever that does, exit, hang or print, ends or stops this process and nothing else. A frame holds a 4-byte
length, a JSON header, then raw array bytes; nothing is ever pickled. What must stay true: no call sees what an earlier
call left in its module.
"""

from __future__ import annotations

import contextlib
import fcntl
import inspect
import json
import sys
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "jail"))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

Header = dict[str, Any]


def serve() -> None:
    """Answer until the parent closes its end."""
    while (request := worker_io.read_frame()) is not None:
        start = 4 + int.from_bytes(request[:4], "big")
        header = json.loads(request[4:start])
        arrays = _read_arrays(request, start, header["arrays"])
        del request
        answer, returned = _answer(header, arrays)
        del arrays
        text = json.dumps(answer).encode()
        sys.stdout.flush()
        parts = [len(text).to_bytes(4, "big"), text, *(array.tobytes() for array in returned)]
        worker_io.write_frame(b"".join(parts))


def _read_arrays(request: bytes, at: int, described: list[Header]) -> Header:
    found: Header = {}
    for one in described:
        dtype, shape = np.dtype(one["dtype"]), tuple(one["shape"])
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        array = np.frombuffer(bytearray(request[at : at + size]), dtype).reshape(shape)  # a copy: it may be written
        found[one["name"]] = array if one["shape"] else array.item()
        at += size
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


def widen_pipes() -> None:
    """Room for a megabyte in each pipe: arrays pass in a few turns instead of hundreds."""
    for fd in (worker_io.REQUESTS_FD, worker_io.ANSWERS_FD):
        with contextlib.suppress(OSError):  # a system with a lower cap is slower, not wrong
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)


if __name__ == "__main__":
    np.seterr(all="ignore")
    widen_pipes()
    worker_io.lock_down("work")
    serve()
