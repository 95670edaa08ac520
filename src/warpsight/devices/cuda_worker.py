"""Runs one CUDA kernel on an NVIDIA GPU, in a process of its own that ends at the first sticky error.

Protocol: `open` (machine code, entry), then any number of `load` (contents, where to put them), `go` and `fetch`. It
holds no expected value, no seed, no verdict, no clock that counts. With `--replay FILE` it does one recorded `open` and
`load` and launches: a program for profilers. Never imported by others. Not run on a GPU by us.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "jail")]

if TYPE_CHECKING:
    from warpsight.jail import wire, worker_io
else:
    import wire
    import worker_io

del sys.path[:2]  # the files beside this one are named after the packages they use

STEP = 2 << 20
LEAST_FILL_BYTES = 256 << 20  # 30 us on the fastest memory there is: longer than a launch takes to be queued
# Errors of a launch that never started: the context lives on.
REFUSALS = (
    "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "CUDA_ERROR_OUT_OF_MEMORY",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "CUDA_ERROR_INVALID_CONFIGURATION", "CUDA_ERROR_INVALID_CLUSTER_SIZE",
)  # fmt: skip


class CudaSession:
    """One module, one kernel, an arena of memory slots that take turns: together larger than L2."""

    least_fill_bytes = LEAST_FILL_BYTES

    def __init__(self, header: dict[str, Any], blobs: list[memoryview]) -> None:
        self.np: Any = import_module("numpy")
        self.driver: Any = import_module("cuda.bindings.driver")
        self.core: Any = import_module("cuda.core")
        self.device: Any = self.core.Device(0)  # CUDA_VISIBLE_DEVICES leaves one
        self.device.set_current()
        self.stream: Any = self.device.create_stream()
        self.timed: Any = self.core.EventOptions(timing_enabled=True)
        self.kernel: Any = self.open_kernel(header, blobs)
        self.persisting = int(self.device.properties.max_persisting_l2_cache_size) > 0  # before Ampere there is none
        self.l2_bytes = int(self.device.properties.l2_cache_size)
        self.flush: Any = self.device.allocate(max(self.least_fill_bytes, 2 * self.l2_bytes), stream=self.stream)
        self.arena: Any = None
        self.slot_bytes = self.slots = self.turn = 0
        self.placed: list[tuple[int, int]] = []
        self.arguments: list[Any] = []
        self.config: Any = None

    def open_kernel(self, header: dict[str, Any], blobs: list[memoryview]) -> Any:
        """The kernel in what was sent."""
        code, made = bytes(blobs[0]), self.core.ObjectCode
        module: Any = made.from_ptx(code) if header["kind"] == "ptx" else made.from_cubin(code)
        return module.get_kernel(header["entry"])

    def load(self, header: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
        """Lay the given blocks into the next slot at the given offsets and set the arguments."""
        self._room_for(header["pool"])
        base = int(self.arena.handle) + self.turn * self.slot_bytes
        self.turn = (self.turn + 1) % self.slots
        self.placed, self.arguments = [], []
        for value, blob in zip(header["values"], blobs, strict=True):
            if "at" in value:
                self.placed.append((base + value["at"], len(blob)))
                self._to_device(base + value["at"], blob)
                self.arguments.append(self.np.uint64(base + value["at"] + value["guard"]))
            else:
                self.arguments.append(self.np.frombuffer(blob, dtype=value["dtype"])[0])
        return self.arrange(header)

    def load_apart(self, header: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
        """Each array in an allocation of its exact size, those without contents left as they are: for checkers, which
        see no further than the edge of an allocation."""
        self.placed, self.arguments = [], []
        for value, blob in zip(header["values"], blobs, strict=True):
            if "dtype" in value:
                self.arguments.append(self.np.frombuffer(blob, dtype=value["dtype"])[0])
                continue
            address = int(self._checked(self.driver.cuMemAlloc(max(1, len(blob)))))
            self.placed.append((address, len(blob)))
            if value["initialised"]:
                self._to_device(address, blob)
            self.arguments.append(self.np.uint64(address))
        return self.arrange(header)

    def arrange(self, header: dict[str, Any]) -> dict[str, Any]:
        """Arguments held to what the kernel declares, and the launch."""
        # A copy from pageable memory may still be on its way. Not `Device.sync`, which is NVIDIA's runtime's.
        self._checked(self.driver.cuCtxSynchronize())
        sizes = [info.size for info in self.kernel.arguments_info]
        given = [argument.nbytes for argument in self.arguments]
        if sizes != given:
            return {"refused": f"the kernel's parameters have {sizes} bytes, the arguments given have {given}"}
        if header["shared"]:  # the default limit is for static and dynamic together, so small ones may exceed it too
            self._allow_shared(header["shared"])
        block = header["local"]
        grid = tuple(whole // size for whole, size in zip(header["global"], block, strict=True))
        self.config = self.core.LaunchConfig(grid=grid, block=tuple(block), shmem_size=header["shared"])
        return {}

    def go(self) -> dict[str, Any]:
        """One launch on a cold cache. The fill before it keeps the GPU busy while the launch is queued, so the events
        hold the kernel and nothing of the host."""
        if self.persisting:
            self._checked(self.driver.cuCtxResetPersistingL2Cache())
        flush = int(self.flush.handle)
        self._checked(self.driver.cuMemsetD8Async(flush, self.turn & 255, self.flush.size, self.stream.handle))
        start = self.stream.record(options=self.timed)
        self.launch()
        end = self.stream.record(options=self.timed)
        end.sync()
        self.stream.sync()
        return {"device_us": float(end - start) * 1000}

    def launch(self) -> None:
        self.core.launch(self.stream, self.config, self.kernel, *self.arguments)

    def fetch(self) -> list[Any]:
        blocks: list[Any] = []
        for address, size in self.placed:
            block = self.np.empty(size, self.np.uint8)
            self._checked(self.driver.cuMemcpyDtoH(block.ctypes.data, address, size))
            blocks.append(block)
        return blocks

    def _room_for(self, pool: int) -> None:
        """Slots for this size of pool: enough that a slot's turn comes back after L2 has been filled twice."""
        wanted = -(-max(1, pool) // STEP) * STEP
        if self.arena is not None and wanted <= self.slot_bytes:
            return
        free, _ = self._checked(self.driver.cuMemGetInfo())
        slots = max(2, 1 + -(-2 * self.l2_bytes // wanted))
        self.slots = max(1, min(slots, int(free) // 2 // wanted))
        self.slot_bytes, self.turn = wanted, 0
        if self.arena is not None:
            self.arena.close(self.stream)
        self.arena = self.device.allocate(self.slots * wanted, stream=self.stream)
        self.stream.sync()

    def _to_device(self, address: int, blob: memoryview) -> None:
        if len(blob):
            array = self.np.frombuffer(blob, self.np.uint8)
            self._checked(self.driver.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes))

    def _allow_shared(self, size: int) -> None:
        attribute = self.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._checked(self.driver.cuKernelSetAttribute(attribute, size, self.kernel.handle, self.device.device_id))

    def _checked(self, answer: tuple[Any, ...]) -> Any:
        if int(answer[0]) != 0:
            raise RuntimeError(getattr(answer[0], "name", str(answer[0])))
        rest = answer[1:]
        return rest[0] if len(rest) == 1 else rest


def guarded(label: str, refusals: tuple[str, ...], work: Callable[..., Any], *given: Any) -> Any:
    """The answer of a step; a launch that cannot start is refused, any other error is sticky and ends this process."""
    try:
        return work(*given)
    except Exception as error:
        if any(name in str(error) for name in refusals):
            return {"refused": str(error)[:500]}
        print(f"\n{label}: {error}", file=sys.stderr, flush=True)
        os._exit(70)  # no clean-up: the context is poisoned and every call in it would fail


def replay(path: Path, open_session: Callable[[dict[str, Any], list[memoryview]], Any] = CudaSession) -> None:
    """One launch of a recorded request, for a profiler around this process."""
    header, blobs = wire.unpack(path.read_bytes())
    session = open_session(header["open"], blobs[:1])
    told = session.load_apart(header["load"], blobs[1:])
    if "refused" in told:
        sys.exit(f"the launch is not possible: {told['refused']}")
    for _ in range(header["launches"]):
        session.go()


def serve(
    label: str, open_session: Callable[[dict[str, Any], list[memoryview]], Any], refusals: tuple[str, ...]
) -> None:
    """Answer requests until the parent is done. `label` marks the last words of a process that a sticky error ends."""
    worker_io.lock_down("work")
    session: Any = None
    while (message := worker_io.read_frame()) is not None:
        header, blobs = wire.unpack(message)
        answer: dict[str, Any] = {}
        back: list[Any] = []
        if header["op"] == "open":
            try:
                session = open_session(header, blobs)
            except Exception as error:
                answer = {"closed": f"{type(error).__name__}: {error}"[:2500]}
        elif session is None:
            return
        elif header["op"] == "load":
            answer = guarded(label, refusals, session.load, header, blobs)
        elif header["op"] == "go":
            answer = guarded(label, refusals, session.go)
        else:
            back = guarded(label, (), session.fetch)
        worker_io.write_frame(wire.pack(answer, back))


def find_driver(words: list[str]) -> None:
    """The driver where the parent's environment says: the jail starts this process without one, and a machine may have
    its driver in LD_LIBRARY_PATH alone. Once loaded, it is the one that the packages get."""
    told = dict(word.split("=", 1) for word in words)
    for folder in told.pop("LD_LIBRARY_PATH", "").split(":"):
        path = os.path.join(folder, "libcuda.so.1")  # noqa: PTH118 (no folder of ours is meant by an empty name)
        if folder and os.path.isfile(path):  # noqa: PTH113
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            os.environ["TRITON_LIBCUDA_PATH"] = folder
            break
    os.environ.update(told)


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
    if "--replay" not in sys.argv:  # a profiler starts that one, with an environment
        find_driver(sys.argv[2:])
    replay(Path(sys.argv[3])) if sys.argv[2:3] == ["--replay"] else serve("CUDA", CudaSession, REFUSALS)
