"""Compiles one OpenCL text with PoCL, in the jail, and never runs it. Never imported by others.

PoCL makes native code for each block size, and only when a kernel is enqueued; its linker is a program. Here the launch
waits for an event that never comes, so the code is made and no instruction of it runs: this worker may start the
linker, the worker that runs the kernel may start nothing. PoCL's single-threaded device compiles at once and its
threaded device runs the same code, so what the first made is filed under the second.
The answer is the compiler's log and files; the parent treats both as bytes of a stranger.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "jail")]

if TYPE_CHECKING:
    from warpsight.devices.opencl_worker import SCRATCH, open_pocl
    from warpsight.jail import wire, worker_io
else:
    import wire
    import worker_io
    from opencl_worker import SCRATCH, open_pocl

CACHE = SCRATCH / "pocl"
SMALL_GRID, LARGE_GRID = 1, 1 << 20  # PoCL has one form of the code for small grids and one for any
SCALAR_SIZES = (4, 8, 1, 2, 16, 32, 64, 128, 12, 24, 48)


_kept: list[Any] = []


class _CompileRefused(Exception):
    """The text does not compile, or has no such kernel; the message is the log."""


def program_folders() -> set[Path]:
    return {path.parent for path in CACHE.glob("*/*/program.bc")}


def built(cl: Any, device: Any, header: dict[str, Any]) -> tuple[Any, Any, Path, str]:
    """Context and program for one device, the folder PoCL keeps it in, and the log."""
    before = program_folders()
    context = cl.Context([device])
    program = cl.Program(context, header["text"])
    try:
        program.build(options=header["options"], cache_dir=False)
    except cl.Error as error:
        raise _CompileRefused(program.get_build_info(device, cl.program_build_info.LOG) or str(error)) from None
    (folder,) = program_folders() - before
    return context, program, folder, program.get_build_info(device, cl.program_build_info.LOG) or ""


def set_arguments(cl: Any, context: Any, kernel: Any) -> None:
    """Arguments that the kernel accepts; it will not run, so their contents do not matter."""
    pointed = cl.kernel_arg_address_qualifier
    by_space: dict[int, list[Any]] = {
        pointed.GLOBAL: [cl.Buffer(context, cl.mem_flags.READ_WRITE, 256)],
        pointed.CONSTANT: [cl.Buffer(context, cl.mem_flags.READ_ONLY, 256)],
        pointed.LOCAL: [cl.LocalMemory(256)],
        pointed.PRIVATE: [bytes(size) for size in SCALAR_SIZES],
    }
    for at in range(kernel.num_args):
        space = kernel.get_arg_info(at, cl.kernel_arg_info.ADDRESS_QUALIFIER)
        for argument in by_space.get(space, []):
            try:
                kernel.set_arg(at, argument)
                _kept.append(argument)  # a kernel does not keep its arguments alive
                break
            except cl.Error:
                continue
        else:
            raise _CompileRefused(
                f"error: parameter {at + 1} of {kernel.function_name} has a type that cannot be passed"
            )


def compile_block(cl: Any, context: Any, kernel: Any, block: list[int]) -> list[Any]:
    """Native code for one block size, without a run. What is returned must be kept: to let go of it is to wait."""
    kept: list[Any] = []
    for grid in (SMALL_GRID, LARGE_GRID):
        queue = cl.CommandQueue(context)
        never = cl.UserEvent(context)
        size = (grid * block[0], block[1], block[2])
        try:
            kept += [queue, never, cl.enqueue_nd_range_kernel(queue, kernel, size, tuple(block), wait_for=[never])]
        except cl.Error as error:
            raise _CompileRefused(f"error: a block of {tuple(block)} cannot be compiled: {error}") from None
        queue.flush()
    return kept


def compiled(header: dict[str, Any], cl: Any, devices: list[Any]) -> tuple[dict[str, Any], list[bytes]]:
    by_kind = {device.name.split("-")[0]: device for device in devices}
    _, program, folder, log = built(cl, by_kind["pthread"], header)
    kernels = program.get_info(cl.program_info.KERNEL_NAMES).split(";")
    if header["entry"] not in kernels:
        raise _CompileRefused(f"error: no kernel named {header['entry']}; kernels in this source: {', '.join(kernels)}")
    if header["blocks"]:
        context, twin, twin_folder, _ = built(cl, by_kind["basic"], header)
        kernel = cl.Kernel(twin, header["entry"])
        set_arguments(cl, context, kernel)
        _kept.extend(compile_block(cl, context, kernel, block) for block in header["blocks"])
        shutil.copytree(twin_folder / header["entry"], folder / header["entry"], dirs_exist_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".bc", ".so"))
    names = [str(path.relative_to(CACHE)) for path in files]
    return {"ok": True, "log": log, "names": names}, [path.read_bytes() for path in files]


def main() -> None:
    cl, devices = open_pocl("pthread basic", sys.argv[1])
    worker_io.lock_down("tools")
    message = worker_io.read_frame()
    if message is None:
        return
    header, _ = wire.unpack(message)
    try:
        answer, blobs = compiled(header, cl, devices)
    except _CompileRefused as refused:
        answer, blobs = {"ok": False, "log": str(refused), "names": list[str]()}, list[bytes]()
    worker_io.write_frame(wire.pack(answer, blobs))
    os._exit(0)  # an orderly end would wait for the launches


if __name__ == "__main__":
    main()
