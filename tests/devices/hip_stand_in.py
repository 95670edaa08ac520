"""A worker that runs our HIP worker on a stand-in for AMD's package: host memory, kernels named by what they do.

It shows that protocol, memory and ends of the worker hold together; it shows nothing of a GPU. The stand-in has the
names, types and tuples that hip-python 10 documents, and no more. On the GPU `old` it is hip-python before 10.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import sys
import time
import types
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parents[2] / "src" / "warpsight" / "devices" / "hip_worker.py"
kept: list[Any] = []
launches: list[str] = []


class Status(int):
    @property
    def name(self) -> str:
        return {0: "hipSuccess", 1: "hipErrorIllegalAddress", 2: "hipErrorOutOfMemory", 6: "HIPRTC_ERROR_COMPILATION"}[
            self
        ]


FINE = Status(0)


def allocate(size: int) -> tuple[Status, int]:
    kept.append((ctypes.c_ubyte * size)())
    return FINE, ctypes.addressof(kept[-1])


def copy(to: Any, source: Any, size: int, kind: int) -> tuple[Status]:
    def address(thing: Any) -> int:
        return thing if isinstance(thing, int) else thing.ctypes.data

    ctypes.memmove(address(to), address(source), size)
    return (FINE,)


def launch(
    name: str, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: Any, params: Any, extra: Any
) -> tuple[Status]:
    address, count = (argument.value for argument in extra)
    launches.append(name)
    if records := os.environ.get("STAND_IN_LAUNCHES"):  # what a profiler around this process sees
        with Path(records).open("a") as file:
            file.write(json.dumps({"name": name, "grid": [gx, gy, gz], "block": [bx, by, bz]}) + "\n")
    if name == "illegal":
        return (Status(1),)
    if name == "large":
        return (Status(2),)
    floats = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
    for at in range(count):
        floats[at] *= 2
    return (FINE,)


def install() -> None:
    """The stand-ins under the names that the worker imports."""
    arch = b"gfx942:sramecc+\0\0" if sys.argv[1] == "old" else "gfx942:sramecc+"
    hip: Any = types.ModuleType("hip.hip")
    hip.hipMemcpyKind = types.SimpleNamespace(hipMemcpyHostToDevice=1, hipMemcpyDeviceToHost=2)
    hip.hipGetDeviceCount = lambda: (FINE, 1)
    hip.hipSetDevice = lambda number: (FINE,)
    hip.hipGetDeviceProperties = lambda number: (
        FINE,
        types.SimpleNamespace(gcnArchName=arch, l2CacheSize=4 << 20),
    )
    hip.hipModuleLoadData = lambda image: (FINE, bytes(image))
    hip.hipModuleGetFunction = lambda module, name: (FINE, name.decode())
    hip.hipMalloc, hip.hipMemcpy, hip.hipModuleLaunchKernel = allocate, copy, launch
    hip.hipMemset = lambda address, byte, size: (FINE,)
    hip.hipFree = hip.hipEventSynchronize = lambda thing: (FINE,)
    hip.hipDeviceSynchronize = lambda: (FINE,)
    hip.hipEventCreate = lambda: (FINE, {})
    hip.hipEventRecord = lambda event, stream: (event.update(at=time.perf_counter()), (FINE,))[1]
    hip.hipEventElapsedTime = lambda start, end: (FINE, (end["at"] - start["at"]) * 1000)
    hiprtc: Any = types.ModuleType("hip.hiprtc")
    hiprtc.hiprtcCreateProgram = lambda text, name, count, headers, names: (FINE, text)
    hiprtc.hiprtcCompileProgram = lambda program, count, words: (
        Status(6) if b"not a kernel" in program or not words[0].startswith(b"--offload-arch=gfx942") else FINE,
    )
    hiprtc.hiprtcGetProgramLogSize = lambda program: (FINE, 9)
    hiprtc.hiprtcGetProgramLog = lambda program, log: (log.__setitem__(slice(None), b"line 1: x"), (FINE,))[1]
    hiprtc.hiprtcGetCodeSize = lambda program: (FINE, 4)
    hiprtc.hiprtcGetCode = lambda program, code: (FINE,)
    package: Any = types.ModuleType("hip")
    package.hip, package.hiprtc = hip, hiprtc
    sys.modules["hip"], sys.modules["hip.hip"], sys.modules["hip.hiprtc"] = package, hip, hiprtc


if __name__ == "__main__":
    install()
    spec = importlib.util.spec_from_file_location("hip_worker", WORKER)
    assert spec and spec.loader
    worker: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    if "--replay" in sys.argv:
        worker.replay(Path(sys.argv[-1]), worker.HipSession)
        print(f"{len(launches)} launches")
    else:
        worker.serve("HIP", worker.HipSession, worker.REFUSALS)
