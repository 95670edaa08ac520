"""The compiler process: loads NVRTC once and answers length-prefixed JSON requests until its input ends.

Runs as a file of its own (`python -I worker.py`) and imports nothing of the project, so that it starts fast and can be
put into a jail. It reads stdin and writes answers to what was stdout; what the compiler itself prints goes to stderr.
It trusts its parent and nothing else; the parent trusts only the shape of the answers.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import resource
import signal
import struct
import sys
from typing import Any, BinaryIO

MEMORY_CAP_BYTES = 8 << 30
GRACE_SECONDS = 5.0  # the parent kills at the deadline; this alarm only matters when the parent is gone


def read_frame(stream: BinaryIO) -> dict[str, Any] | None:
    """One request, or None at the end of input."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    (size,) = struct.unpack(">I", head)
    body = stream.read(size)
    return json.loads(body) if len(body) == size else None


def write_frame(stream: BinaryIO, answer: dict[str, Any]) -> None:
    """One answer, flushed."""
    body = json.dumps(answer).encode()
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()


def _take(size_of: Any, get: Any, program: Any) -> bytes:
    error, size = size_of(program)
    if int(error) != 0 or size == 0:
        return b""
    buffer = b" " * size
    (error,) = get(program, buffer)
    return buffer if int(error) == 0 else b""


def compile_once(nvrtc: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Compile one text; whatever NVRTC produced comes back with its result name and log."""
    error, program = nvrtc.nvrtcCreateProgram(request["source"].encode(), request["name"].encode(), 0, None, None)
    if int(error) != 0:
        return {"result": error.name, "log": "", "ptx": "", "cubin": ""}
    try:
        options = [option.encode() for option in request["options"]]
        (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        log = _take(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        ptx = _take(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program) if int(error) == 0 else b""
        cubin = _take(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program) if int(error) == 0 else b""
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return {
        "result": error.name,
        "log": log.rstrip(b"\0 ").decode(errors="replace"),
        "ptx": ptx.rstrip(b"\0").decode(errors="replace"),
        "cubin": base64.b64encode(cubin).decode(),
    }


def _limit() -> None:
    for kind, cap in ((resource.RLIMIT_AS, MEMORY_CAP_BYTES), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        soft = cap if hard == resource.RLIM_INFINITY else min(cap, hard)
        resource.setrlimit(kind, (soft, hard))
    # Python ignores nothing by default here, but a parent may have: the alarm must end us even inside the compiler.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Say hello, then answer until the input ends."""
    try:
        nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")  # compiled, without type information
        error, major, minor = nvrtc.nvrtcVersion()
    except Exception as problem:
        write_frame(answers, {"ready": False, "problem": f"{type(problem).__name__}: {problem}"})
        return
    if int(error) != 0:
        write_frame(answers, {"ready": False, "problem": f"nvrtcVersion answered {error.name}"})
        return
    write_frame(answers, {"ready": True, "version": f"{major}.{minor}"})
    while (request := read_frame(requests)) is not None:
        signal.setitimer(signal.ITIMER_REAL, float(request["deadline_s"]) + GRACE_SECONDS)
        answer = compile_once(nvrtc, request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        write_frame(answers, {"id": request["id"], **answer})


def main() -> None:
    """Keep the answer channel for ourselves, then serve."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit()
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
