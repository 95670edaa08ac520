"""Runs one HIP kernel on an AMD GPU, in a process of its own that ends at the first sticky error.

The same protocol as the CUDA worker; `open` brings the text, which HIP's runtime compiler makes code of for this GPU.
With `--replay FILE` it does one recorded launch, for profilers. Never imported by others. Written against hip-python's
documented interface; not run on a GPU by us.
"""

from __future__ import annotations

import ctypes
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from warpsight.devices.cuda_worker import replay, serve
else:
    from cuda_worker import replay, serve

del sys.path[:1]  # the files beside this one are named after the packages they use

STEP = 2 << 20
LEAST_FLUSH_BYTES = 512 << 20  # HIP may not tell the cache's size; the largest now is 256 MB
REFUSALS = (
    "hipErrorInvalidValue",
    "hipErrorInvalidConfiguration",
    "hipErrorOutOfMemory",
    "hipErrorLaunchOutOfResources",
)


def checked(answer: Any) -> Any:
    """What a call returned (a tuple), without its status; a bad status is an exception with its name."""
    status, rest = answer[0], answer[1:]
    if int(status) != 0:
        raise RuntimeError(getattr(status, "name", str(status)))
    return rest[0] if len(rest) == 1 else rest


class HipSession:
    """One kernel and slots of memory that take turns, as in the CUDA worker."""

    def __init__(self, header: dict[str, Any], _: list[memoryview]) -> None:
        self.np: Any = import_module("numpy")
        self.hip: Any = import_module("hip").hip
        hip = self.hip
        if checked(hip.hipGetDeviceCount()) < 1:
            raise RuntimeError("HIP sees no GPU")
        checked(hip.hipSetDevice(0))  # ROCR_VISIBLE_DEVICES leaves one
        properties = checked(hip.hipGetDeviceProperties(0))
        told = properties.gcnArchName  # a str from hip-python 10 on, the bytes of the whole field before
        arch = (told.encode() if isinstance(told, str) else bytes(told)).split(b"\0")[0]
        self.module = checked(hip.hipModuleLoadData(self._compiled(header["text"], header["options"], arch)))
        self.kernel = checked(hip.hipModuleGetFunction(self.module, header["entry"].encode()))
        self.flush_bytes = max(LEAST_FLUSH_BYTES, 2 * int(properties.l2CacheSize))
        self.flush = checked(hip.hipMalloc(self.flush_bytes))
        self.start, self.end = checked(hip.hipEventCreate()), checked(hip.hipEventCreate())
        self.arena: Any = None
        self.slot_bytes = self.turn = 0
        self.placed: list[tuple[int, int]] = []
        self.extra: tuple[Any, ...] = ()
        self.sizes: tuple[list[int], list[int], int] = ([1, 1, 1], [1, 1, 1], 0)

    def _compiled(self, text: str, options: list[str], arch: bytes) -> bytearray:
        hiprtc: Any = import_module("hip").hiprtc
        program = checked(hiprtc.hiprtcCreateProgram(text.encode(), b"kernel.hip", 0, None, None))
        words = [b"--offload-arch=" + arch, *(option.encode() for option in options)]
        try:
            checked(hiprtc.hiprtcCompileProgram(program, len(words), words))
        except RuntimeError as error:
            log = bytearray(checked(hiprtc.hiprtcGetProgramLogSize(program)))
            checked(hiprtc.hiprtcGetProgramLog(program, log))
            raise RuntimeError(f"{error}: {log.decode(errors='replace')[:2000]}") from None
        code = bytearray(checked(hiprtc.hiprtcGetCodeSize(program)))
        checked(hiprtc.hiprtcGetCode(program, code))
        return code

    def load(self, header: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
        base = self._slot(header["pool"])
        self.placed = []
        arguments: list[Any] = []
        for value, blob in zip(header["values"], blobs, strict=True):
            if "at" in value:
                address = base + value["at"]
                self.placed.append((address, len(blob)))
                array = self.np.frombuffer(blob, self.np.uint8)
                checked(self.hip.hipMemcpy(address, array, array.nbytes, self.hip.hipMemcpyKind.hipMemcpyHostToDevice))
                arguments.append(ctypes.c_ulonglong(address + value["guard"]))
            else:
                arguments.append(self._scalar(blob, value["dtype"]))
        return self._arranged(header, arguments)

    def load_apart(self, header: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
        """Each array in an allocation of its own, as profilers are shown it."""
        self.placed = []
        arguments: list[Any] = []
        for value, blob in zip(header["values"], blobs, strict=True):
            if "dtype" in value:
                arguments.append(self._scalar(blob, value["dtype"]))
                continue
            address = int(checked(self.hip.hipMalloc(max(1, len(blob)))))
            self.placed.append((address, len(blob)))
            if value["initialised"] and len(blob):
                array = self.np.frombuffer(blob, self.np.uint8)
                checked(self.hip.hipMemcpy(address, array, array.nbytes, self.hip.hipMemcpyKind.hipMemcpyHostToDevice))
            arguments.append(ctypes.c_ulonglong(address))
        return self._arranged(header, arguments)

    def _arranged(self, header: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        checked(self.hip.hipDeviceSynchronize())
        self.extra = tuple(arguments)
        grid = [whole // size for whole, size in zip(header["global"], header["local"], strict=True)]
        self.sizes = (grid, list(header["local"]), header["shared"])
        return {}

    def go(self) -> dict[str, Any]:
        hip, (grid, block, shared) = self.hip, self.sizes
        checked(hip.hipMemset(self.flush, self.turn & 255, self.flush_bytes))
        checked(hip.hipEventRecord(self.start, None))
        checked(hip.hipModuleLaunchKernel(self.kernel, *grid, *block, shared, None, None, self.extra))
        checked(hip.hipEventRecord(self.end, None))
        checked(hip.hipEventSynchronize(self.end))
        return {"device_us": float(checked(hip.hipEventElapsedTime(self.start, self.end))) * 1000}

    def fetch(self) -> list[Any]:
        blocks: list[Any] = []
        for address, size in self.placed:
            block = self.np.empty(size, self.np.uint8)
            checked(self.hip.hipMemcpy(block, address, size, self.hip.hipMemcpyKind.hipMemcpyDeviceToHost))
            blocks.append(block)
        return blocks

    def _scalar(self, blob: memoryview, dtype: str) -> Any:
        """As ctypes, which is what a launch takes; a half has no type there and goes as its bits."""
        kind = "u2" if self.np.dtype(dtype) == self.np.float16 else dtype
        value = self.np.frombuffer(blob, dtype=kind)[0]
        return self.np.ctypeslib.as_ctypes_type(value.dtype)(value.item())

    def _slot(self, pool: int) -> int:
        """The next of two slots; the fill before a launch is larger than any cache, so two are enough."""
        wanted = -(-max(1, pool) // STEP) * STEP
        if self.arena is None or wanted > self.slot_bytes:
            if self.arena is not None:
                checked(self.hip.hipFree(self.arena))
            self.arena, self.slot_bytes = checked(self.hip.hipMalloc(2 * wanted)), wanted
        self.turn += 1
        return int(self.arena) + (self.turn % 2) * self.slot_bytes


if __name__ == "__main__":
    os.environ["ROCR_VISIBLE_DEVICES"] = sys.argv[1]
    replay(Path(sys.argv[3]), HipSession) if sys.argv[2:3] == ["--replay"] else serve("HIP", HipSession, REFUSALS)
