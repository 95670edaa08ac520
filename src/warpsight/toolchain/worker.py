"""The compiler process: loads and warms NVRTC, then compiles each source in a child of its own that is gone afterwards.

Runs jailed as a file of its own (`python -I worker.py`) and imports nothing of the project but the jail's worker files.
Covers: a source sees a compiler that no source before it has touched (the child is a copy of the warm process), can
read the CUDA headers and nothing else, and leaves neither file nor process behind. Does not cover what the child
answers: those bytes are handed on unread behind the number and the end of the child, and the parent checks their shape.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH108, PTH118, PTH120

from __future__ import annotations

import base64
import contextlib
import importlib
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
WARM_UP = 'extern "C" __global__ void warm(float* x) { x[threadIdx.x] += 1.0f; }'
WARM_OPTIONS = ["--gpu-architecture=sm_80", "-lineinfo", "--ptxas-options=-v", "--no-cache", "--std=c++17"]


def _take(size_of: Any, get: Any, program: Any) -> bytes:
    error, size = size_of(program)
    if int(error) != 0 or size == 0:
        return b""
    buffer = b" " * size
    (error,) = get(program, buffer)
    return buffer if int(error) == 0 else b""


def compile_once(nvrtc: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Compile one text; whatever NVRTC produced comes back with its result name and log."""
    names = [name.encode() for name in request["headers"]]
    texts = [text.encode() for text in request["headers"].values()]
    error, program = nvrtc.nvrtcCreateProgram(
        request["source"].encode(), request["name"].encode(), len(names), texts or None, names or None
    )
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


def load() -> Any:
    """NVRTC, loaded and used once so that every child finds it warm."""
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")  # compiled, without type information
    (error, *_) = nvrtc.nvrtcVersion()
    if int(error) != 0:
        raise RuntimeError(f"nvrtcVersion answered {error.name}")
    warm = compile_once(nvrtc, {"source": WARM_UP, "name": "warm.cu", "headers": {}, "options": WARM_OPTIONS})
    if warm["result"] != "NVRTC_SUCCESS":
        raise RuntimeError(f"a one-line kernel gave {warm['result']}: {warm['log']}")
    return nvrtc


def in_child(nvrtc: Any, request: dict[str, Any], answers: int) -> None:
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


def compile_in_child(nvrtc: Any, request: dict[str, Any]) -> bytes:
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
        nvrtc, problem = load(), ""
    except Exception as trouble:
        nvrtc, problem = None, f"{type(trouble).__name__}: {trouble}"
    worker_io.lock_down("serve")
    worker_io.read_frame()
    worker_io.write_frame(problem.encode())
    while nvrtc is not None and (frame := worker_io.read_frame()) is not None:
        worker_io.write_frame(compile_in_child(nvrtc, json.loads(frame)))


if __name__ == "__main__":
    main()
