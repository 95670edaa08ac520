"""A worker that runs our CUDA worker on a stand-in for NVIDIA's packages: host memory, kernels named by what they do.

It shows that the protocol, the memory layout, the guards and the ends of a worker hold together; it shows nothing of a
GPU. The stand-in has the names, arguments and errors that cuda-core 1.2 documents, and no more.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import time
import types
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parents[2] / "src" / "warpsight" / "devices" / "cuda_worker.py"
L2_BYTES = 4 << 20
STATIC_SHARED_BYTES = 16 << 10  # of the kernel `tiled`
launched_at: list[int] = []
filled: list[int] = []
allowed: list[int] = []
kept: list[Any] = []


class CUDAError(Exception):
    pass


class Buffer:
    def __init__(self, size: int) -> None:
        self.memory = (ctypes.c_ubyte * size)()
        self.handle, self.size = ctypes.addressof(self.memory), size

    def close(self, stream: Any = None) -> None:
        self.memory = None


class Event:
    def __init__(self) -> None:
        self.at = time.perf_counter()

    def sync(self) -> None:
        pass

    def __sub__(self, other: Event) -> float:
        return (self.at - other.at) * 1000


class Stream:
    handle = 7

    def record(self, event: Event | None = None, options: Any = None) -> Event:
        assert options.timing_enabled
        return Event()

    def sync(self) -> None:
        pass


class Device:
    properties = types.SimpleNamespace(l2_cache_size=L2_BYTES, max_persisting_l2_cache_size=L2_BYTES // 2)

    def __init__(self, device_id: int) -> None:
        self.device_id = device_id

    def set_current(self) -> None:
        pass

    def create_stream(self) -> Stream:
        return Stream()

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        return Buffer(size)


class ObjectCode:
    def __init__(self, code: bytes) -> None:
        assert code.startswith(b"\x7fELF") or b".version" in code

    @classmethod
    def from_cubin(cls, code: bytes) -> ObjectCode:
        return cls(code)

    from_ptx = from_cubin

    def get_kernel(self, name: str) -> types.SimpleNamespace:
        sizes = [types.SimpleNamespace(size=8), types.SimpleNamespace(size=4)]
        return types.SimpleNamespace(name=name, arguments_info=sizes, handle=1)


def launch(stream: Stream, config: Any, kernel: Any, address: Any, count: Any) -> None:
    launched_at.append(int(address))
    floats = ctypes.cast(int(address), ctypes.POINTER(ctypes.c_float))
    if kernel.name == "illegal":
        raise CUDAError("CUDA_ERROR_ILLEGAL_ADDRESS: While executing a kernel, the device encountered a bad address")
    if kernel.name == "chatty":
        print("CUDA: printed by a kernel: the GPU is lost, it has fallen off the bus", flush=True)
        raise CUDAError("CUDA_ERROR_ASSERT: device-side assert triggered")
    if kernel.name == "tiled":
        whole = STATIC_SHARED_BYTES + config.shmem_size
        if whole > 48 << 10 and not (allowed and allowed[-1] >= config.shmem_size):
            raise CUDAError("CUDA_ERROR_INVALID_VALUE: more shared memory than was allowed")
    if kernel.name == "filled":
        floats[0] = float(filled[-1])
        return
    if kernel.name == "lost":
        raise CUDAError("CUDA_ERROR_ECC_UNCORRECTABLE: an uncorrectable error")
    if kernel.name == "large":
        raise CUDAError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested")
    if kernel.name == "endless":
        time.sleep(600)
    if kernel.name == "where":
        floats[0] = float(len(set(launched_at)))
        return
    for at in range(int(count) + (1 if kernel.name == "overrun" else 0)):
        floats[at] *= 2


def fill(address: int, byte: int, size: int, stream: Any) -> tuple[int]:
    filled.append(size)
    ctypes.memset(address, byte, min(size, 1 << 20))  # a GPU is faster at this
    return (0,)


def allow(attribute: str, size: int, kernel: int, device: int) -> tuple[int]:
    assert attribute == "dynamic shared" and kernel == 1
    allowed.append(size)
    return (0,)


def install() -> None:
    """The stand-ins under the names that the worker imports."""
    core: Any = types.ModuleType("cuda.core")
    core.Device, core.ObjectCode, core.launch = Device, ObjectCode, launch
    core.EventOptions = core.LaunchConfig = lambda **options: types.SimpleNamespace(**options)
    driver: Any = types.ModuleType("cuda.bindings.driver")
    driver.cuCtxResetPersistingL2Cache = driver.cuCtxSynchronize = lambda: (0,)
    driver.cuMemsetD8Async, driver.cuKernelSetAttribute = fill, allow
    attributes = types.SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="dynamic shared")
    driver.CUfunction_attribute = attributes
    driver.cuMemcpyHtoD = driver.cuMemcpyDtoH = lambda to, source, size: (ctypes.memmove(to, source, size) * 0,)
    driver.cuMemAlloc = lambda size: (0, kept.append(Buffer(size)) or kept[-1].handle)
    driver.cuMemGetInfo = lambda: (0, 1 << 30, 1 << 30)
    for name, module in (("cuda", types.ModuleType("cuda")), ("cuda.bindings", types.ModuleType("cuda.bindings"))):
        sys.modules[name] = module
    sys.modules["cuda.core"], sys.modules["cuda.bindings.driver"] = core, driver


if __name__ == "__main__":
    install()
    spec = importlib.util.spec_from_file_location("cuda_worker", WORKER)
    assert spec and spec.loader
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    if "--replay" in sys.argv:
        worker.replay(Path(sys.argv[-1]))
        print(f"{len(launched_at)} launches")
    else:
        worker.serve("CUDA", worker.CudaSession, worker.REFUSALS)
