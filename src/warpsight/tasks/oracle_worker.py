"""The process that calls one reference, in the jail: its text comes first, then one request in, one answer out.

Started as a file of its own with only the standard library and NumPy. It runs the file of a task's author, who may be a
stranger: whatever that does, exit, hang, print or change NumPy, is done to this process and to no other text, since no
second text is ever taken. A frame holds a 4-byte length, a JSON header, then raw array bytes; nothing is pickled.
What must stay true: each call gets a module of its own, NumPy's random numbers and error state from the start, and an
empty scratch folder. Not covered: what a text hides elsewhere in this process; the parent asks some calls twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import inspect
import json
import os
import shutil
import sys
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the threads spin while they wait, and digits depend on how many there are
import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "jail"))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

Header = dict[str, Any]


def serve(loaded: Header) -> None:
    """Answer calls of one text until the parent closes its end."""
    code = _compiled(loaded)
    while (request := _read_frame()) is not None:
        start = 4 + int.from_bytes(request[:4], "big")
        header = {**loaded, **json.loads(request[4:start])}
        arrays = _read_arrays(request, start, header["arrays"])
        del request
        _as_at_the_start()
        answer, returned = _answer(header, code, arrays)
        del arrays
        text = json.dumps(answer).encode()
        sys.stdout.flush()
        raw = (np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in returned)
        worker_io.write_parts([len(text).to_bytes(4, "big") + text, *raw])


def _read_frame() -> bytearray | None:
    """The next request in memory that may be written: its arrays need not be copied once more."""
    head = worker_io.read_exactly(worker_io.REQUESTS_FD, 4)
    if head is None:
        return None
    frame = bytearray(int.from_bytes(head, "big"))
    at, view = 0, memoryview(frame)
    while at < len(frame):
        read = os.readv(worker_io.REQUESTS_FD, [view[at:]])
        if read == 0:
            return None
        at += read
    return frame


def _compiled(loaded: Header) -> types.CodeType | None:
    """The text as code, not yet run; None where it is none, so that the first call says why."""
    with contextlib.suppress(Exception):
        return compile(loaded["text"], loaded["file"], "exec")
    return None


def _as_at_the_start() -> None:
    """What an honest text may leave behind without meaning to, and the next call would see."""
    np.seterr(all="ignore")
    np.random.seed(0)
    for entry in os.scandir("."):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink()


def _read_arrays(request: bytearray, at: int, described: list[Header]) -> Header:
    """The arrays of a request, each its own: no two share a byte, so the reference may write into them."""
    found: Header = {}
    for one in described:
        dtype, shape = np.dtype(one["dtype"]), tuple(one["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(request, dtype, count, at).reshape(shape)
        found[one["name"]] = np.require(array, requirements=["A", "W"]) if one["shape"] else array.item()
        at += count * dtype.itemsize
    return found


def _answer(header: Header, code: types.CodeType | None, arrays: Header) -> tuple[Header, list[np.ndarray]]:
    try:
        returned: object = _call(header, code, arrays)
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


def _call(header: Header, code: types.CodeType | None, arrays: Header) -> Any:
    module = types.ModuleType("_warpsight_reference")
    module.__file__ = header["file"]
    exec(code or compile(header["text"], header["file"], "exec"), module.__dict__)
    function = module.__dict__[header["function"]]
    values = {**header["axes"], **arrays}
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


def widen_pipes() -> None:
    """Room for a megabyte in each pipe: arrays pass in a few turns instead of hundreds."""
    for fd in (worker_io.REQUESTS_FD, worker_io.ANSWERS_FD):
        with contextlib.suppress(OSError):  # a system with a lower cap is slower, not wrong
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)


if __name__ == "__main__":
    widen_pipes()
    worker_io.keep_freed_memory()
    worker_io.lock_down("work")
    first = worker_io.read_frame()
    worker_io.write_frame(b"")
    if first is not None:
        serve(json.loads(first))
