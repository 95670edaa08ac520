"""Runs one OpenCL kernel on PoCL, in the jail: the process the kernel's native code lives in. Never imported by others.

Protocol: `open` (text, compiled files, entry), then any number of `files` (more compiled files), `load` (the contents,
where to put them), `go` and `fetch`. It holds no expected value, no seed, no verdict, no clock that counts. The kernel
can overwrite all of this process, so the parent believes nothing but raw bytes that it then checks itself.
The compiler's work was done elsewhere: this process starts no program, and the filter would end it if it tried.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "jail")]

if TYPE_CHECKING:
    from warpsight.devices.opencl_cpu import name_the_processor
    from warpsight.jail import wire, worker_io
else:
    import wire
    import worker_io
    from opencl_cpu import name_the_processor

SCRATCH = Path.cwd()  # the jail starts a worker in its scratch folder
ALIGNMENT = 4096
MEMORY_BYTES = 4 << 30


def open_pocl(kind: str, relative: str, threads: int = 0) -> tuple[Any, list[Any]]:
    """pyopencl and the PoCL devices of these kinds; all files that PoCL makes go to the scratch folder.

    `relative` is the processor to compile for if PoCL does not know this one.
    """
    os.environ.update(
        POCL_DEVICES=kind,
        POCL_CACHE_DIR=str(SCRATCH / "pocl"),
        PYOPENCL_NO_CACHE="1",
        PYOPENCL_COMPILER_OUTPUT="0",
        HOME=str(SCRATCH),
        XDG_CACHE_HOME=str(SCRATCH),
        TMPDIR=str(SCRATCH),
        PATH="/usr/bin",
        HWLOC_SYNTHETIC=f"numa:1(memory={MEMORY_BYTES}) pu:{threads or 1}",  # the jail has no /sys to look this up in
        HWLOC_THISSYSTEM="1",
    )
    if threads:
        os.environ["POCL_MAX_PTHREAD_COUNT"] = str(threads)
    name_the_processor(relative)
    import pyopencl as cl

    platforms = [p for p in cl.get_platforms() if p.name == "Portable Computing Language"]
    return cl, (platforms[0].get_devices() if platforms else [])


def write_files(names: list[str], blobs: list[memoryview]) -> None:
    """Compiled files into PoCL's cache folder, under the names the compiling worker found them by."""
    for name, blob in zip(names, blobs, strict=True):
        path = SCRATCH / "pocl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blob)


class OpenclSession:
    """One program, one kernel, one pool of memory that the arrays are laid out in."""

    def __init__(self, cl: Any, device: Any, header: dict[str, Any], blobs: list[memoryview]) -> None:
        import numpy as np

        self.np, self.cl = np, cl
        write_files(header["names"], blobs)
        self.context = cl.Context([device])
        profiled = cl.command_queue_properties.PROFILING_ENABLE
        self.queue = cl.CommandQueue(self.context, properties=profiled)
        program = cl.Program(self.context, header["text"]).build(options=header["options"], cache_dir=False)
        self.kernel = cl.Kernel(program, header["entry"])
        self.pool = np.empty(0, np.uint8)
        self.placed: list[Any] = []
        self.buffers: list[Any] = []
        self.sizes: tuple[tuple[int, ...], tuple[int, ...]] = ((1,), (1,))

    def load(self, header: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
        """Lay the given blocks into the pool at the given offsets and set the arguments."""
        self.buffers.clear()
        self.placed.clear()
        if self.pool.nbytes < header["pool"]:
            raw = self.np.zeros(header["pool"] + ALIGNMENT, self.np.uint8)
            start = -raw.ctypes.data % ALIGNMENT
            self.pool = raw[start : start + header["pool"]]
        arguments: list[Any] = []
        for value, blob in zip(header["values"], blobs, strict=True):
            arguments.append(self._place(value, blob) if "at" in value else self._scalar(value, blob))
        if self.kernel.num_args == len(arguments) + 1:
            arguments.append(self.cl.LocalMemory(max(1, header["shared"])))
        if self.kernel.num_args != len(arguments):
            return {"refused": f"the kernel takes {self.kernel.num_args} parameters, {len(arguments)} were given"}
        for at, argument in enumerate(arguments):
            try:
                self.kernel.set_arg(at, argument)
            except self.cl.Error as error:
                return {"refused": f"parameter {at + 1} does not take the argument given: {error}"}
        self.sizes = (tuple(header["global"]), tuple(header["local"]))
        return {}

    def _scalar(self, value: dict[str, Any], blob: memoryview) -> Any:
        return self.np.frombuffer(blob, dtype=value["dtype"])[0]

    def _place(self, value: dict[str, Any], blob: memoryview) -> Any:
        """The block (guard, contents, guard) in the pool; the kernel is given the contents in its middle."""
        at, guard = value["at"], value["guard"]
        block = self.pool[at : at + len(blob)]
        block[:] = self.np.frombuffer(blob, self.np.uint8)
        self.placed.append(block)
        inside = block[guard : len(block) - guard]
        if inside.nbytes == 0:  # OpenCL has no empty buffers; what lies there is guard
            inside = block[guard : guard + 1]
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.USE_HOST_PTR
        self.buffers.append(self.cl.Buffer(self.context, flags, hostbuf=inside))
        return self.buffers[-1]

    def go(self) -> dict[str, Any]:
        try:
            event = self.cl.enqueue_nd_range_kernel(self.queue, self.kernel, *self.sizes)
            event.wait()
        except self.cl.Error as error:
            return {"refused": str(error)}
        return {"device_us": (event.profile.end - event.profile.start) / 1000}

    def fetch(self) -> list[Any]:
        for buffer in self.buffers:  # a map makes the host's view whole; PoCL works in place, so nothing is copied
            mapped, _ = self.cl.enqueue_map_buffer(
                self.queue, buffer, self.cl.map_flags.READ, 0, (buffer.size,), self.np.uint8
            )
            mapped.base.release(self.queue)
        self.queue.finish()
        return self.placed


def widen_pipes() -> None:
    """Room for a megabyte in each pipe: arrays pass in a few turns instead of hundreds."""
    for fd in (worker_io.REQUESTS_FD, worker_io.ANSWERS_FD):
        with contextlib.suppress(OSError):  # a system with a lower cap is slower, not wrong
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)


def main() -> None:
    widen_pipes()
    cl, devices = open_pocl("pthread", sys.argv[1], int(sys.argv[2]))
    worker_io.lock_down("work")
    session: OpenclSession | None = None
    while (message := worker_io.read_frame()) is not None:
        header, blobs = wire.unpack(message)
        answer: dict[str, Any] = {}
        back: list[Any] = []
        if header["op"] == "open":
            session = OpenclSession(cl, devices[0], header, blobs)
        elif session is None:
            return
        elif header["op"] == "files":
            write_files(header["names"], blobs)
        elif header["op"] == "load":
            answer = session.load(header, blobs)
        elif header["op"] == "go":
            answer = session.go()
        else:
            back = session.fetch()
        del message, blobs
        worker_io.write_frame(wire.pack(answer, back))


if __name__ == "__main__":
    main()
