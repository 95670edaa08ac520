"""The compiler process: loads NVRTC, then compiles each source in a child of its own that is gone afterwards.

Runs jailed as a file of its own (`python -I worker.py LIBRARY`) and imports nothing of the project but the jail's
worker files; NVRTC is called through ctypes, since its Python bindings take as long to import as a compile. Covers: a
source sees a compiler that no source has touched (the child is a copy of a process that never compiled), can read the
CUDA headers and nothing else, and leaves neither file nor process behind. Does not cover what the child answers: those
bytes are handed on unread behind the number and the end of the child, and the parent checks their shape.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH108, PTH118, PTH120, PTH208

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import math
import os
import resource
import shutil
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jail"))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

ANSWER_CAP_BYTES = 256 << 20
HEAD = struct.Struct(">Qi")  # the number of the request, the wait status of the child
SUCCESS = 0
BUILTINS = "libnvrtc-builtins.so"


class Nvrtc:
    """The few calls that are used of the library, which answers 0 for success."""

    def __init__(self, library: str) -> None:
        self.library = ctypes.CDLL(library)
        beside = os.path.dirname(library)
        # A child may load no library any more: what NVRTC asks for by name at its first compile is loaded here.
        self.more = [ctypes.CDLL(os.path.join(beside, name)) for name in os.listdir(beside) if BUILTINS in name]
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        error = self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        if error != SUCCESS:
            raise RuntimeError(f"nvrtcVersion answered {self.name_of(error)}")

    def name_of(self, error: int) -> str:
        """Such as NVRTC_ERROR_COMPILATION."""
        return bytes(self.library.nvrtcGetErrorString(error)).decode()

    def take(self, what: str, program: ctypes.c_void_p) -> bytes:
        """The log, the PTX or the machine code; nothing where there is none."""
        size = ctypes.c_size_t()
        if getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != SUCCESS or size.value == 0:
            return b""
        buffer = ctypes.create_string_buffer(size.value)
        return buffer.raw if getattr(self.library, f"nvrtcGet{what}")(program, buffer) == SUCCESS else b""


def _texts(texts: list[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts)) if texts else None


def compile_once(nvrtc: Nvrtc, request: dict[str, Any]) -> dict[str, Any]:
    """Compile one text; whatever NVRTC produced comes back with its result name and log."""
    headers, options, library = request["headers"], request["options"], nvrtc.library
    program = ctypes.c_void_p()
    source, name = request["source"].encode(), request["name"].encode()
    error = library.nvrtcCreateProgram(
        ctypes.byref(program), source, name, len(headers), _texts([*headers.values()]), _texts([*headers])
    )
    if error != SUCCESS:
        return {"result": nvrtc.name_of(error), "log": "", "ptx": "", "cubin": ""}
    error = library.nvrtcCompileProgram(program, len(options), _texts(options))
    log = nvrtc.take("ProgramLog", program)
    ptx, cubin = (nvrtc.take(what, program) if error == SUCCESS else b"" for what in ("PTX", "CUBIN"))
    return {
        "result": nvrtc.name_of(error),
        "log": log.rstrip(b"\0 ").decode(errors="replace"),
        "ptx": ptx.rstrip(b"\0").decode(errors="replace"),
        "cubin": base64.b64encode(cubin).decode(),
    }


def in_child(nvrtc: Nvrtc, request: dict[str, Any], answers: int) -> None:
    """The disposable part: tightens itself, compiles, writes, ends. Never returns."""
    try:
        os.close(worker_io.REQUESTS_FD)
        os.close(worker_io.ANSWERS_FD)
        seconds = max(1, math.ceil(request["deadline_s"]))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        worker_io.confine(request["folders"])
        worker_io.tighten("work")
        worker_io.write_all(answers, json.dumps(compile_once(nvrtc, request)).encode())
        os._exit(0)
    except MemoryError:
        os._exit(worker_io.OUT_OF_MEMORY_STATUS)
    except BaseException as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        os._exit(1)


def collect(answers: int) -> bytes:
    """What the child wrote, up to the cap."""
    parts: list[bytes] = []
    total = 0
    while total <= ANSWER_CAP_BYTES and (part := os.read(answers, 1 << 20)):
        parts.append(part)
        total += len(part)
    return b"".join(parts)


def clear() -> None:
    """End whatever the child may have left: every process of this jail but ours, every file of the scratch folder."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    for entry in os.scandir("."):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)


def compile_in_child(nvrtc: Nvrtc, request: dict[str, Any]) -> bytes:
    """One child for one source; its end and its bytes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        in_child(nvrtc, request, writing)
    os.close(writing)
    body = collect(reading)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    clear()
    return HEAD.pack(int(request["id"]), status) + body


def main() -> None:
    """Load, lock the door, serve until the requests end."""
    try:
        nvrtc, problem = Nvrtc(sys.argv[1]), ""
    except Exception as trouble:
        nvrtc, problem = None, f"{type(trouble).__name__}: {trouble}"
    worker_io.lock_down("serve")
    worker_io.read_frame()
    worker_io.write_frame(problem.encode())
    while nvrtc is not None and (frame := worker_io.read_frame()) is not None:
        worker_io.write_frame(compile_in_child(nvrtc, json.loads(frame)))


if __name__ == "__main__":
    main()
