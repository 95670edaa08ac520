"""The virtual GPU against the same kernels as native code (PoCL), in CPU seconds on one core, in one run.

Seven example tasks have an OpenCL kernel of the same shape. PoCL compiles it for this processor and runs it on one
thread; the virtual GPU runs the CUDA kernel plain, counted and checked. CPU seconds, the least of several: others may
use the machine meanwhile. `native:FILE` measures another build of the core (a `_core*.so`) beside the installed one.
`native:FILE` and `native` also print how much memory a checked launch takes beside the arrays.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels import TASKS, Example, examples, geometric_mean
from warpsight.devices.device import Value
from warpsight.devices.memory import lay_out
from warpsight.devices.opencl_cpu import name_the_processor, relative_of_this_machine
from warpsight.gate.check import kernel_values
from warpsight.tasks import evaluate_launch, read_candidate, read_task
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import machine
from warpsight.vgpu.ptx import load_ptx

KERNELS = ("matmul_naive", "matmul_tiled", "saxpy", "softmax", "stencil2d", "transpose_tiled", "vector_add")
MODES = {"plain": (False, False), "counted": (True, False), "checked": (False, True)}
"""Whether a launch is counted, and whether it is checked."""
ROUNDS = 1
REPEATS = 2
BYTES = """
extern "C" __global__ void copy(const unsigned char* x, unsigned char* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
"""


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least_ms(run: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        start = cpu_seconds()
        run()
        best = min(best, cpu_seconds() - start)
    return 1e3 * best


def use_core(path: str) -> None:
    """Take the core from a file instead of the installed one; before anything has been launched."""
    import warpsight.vgpu

    spec = importlib.util.spec_from_file_location("warpsight.vgpu._core", path)
    assert spec is not None and spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    sys.modules["warpsight.vgpu._core"] = core
    spec.loader.exec_module(core)
    warpsight.vgpu._core = core  # pyright: ignore[reportAttributeAccessIssue]


def ours(path: str) -> None:
    """Prints the milliseconds of every kernel and mode."""
    if path:
        use_core(path)
    found = {e.name: {mode: _ours_ms(e, *how) for mode, how in MODES.items()} for e in examples() if e.name in KERNELS}
    print(json.dumps(found))


def _ours_ms(example: Example, count: bool, check: bool) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        memory, params, _ = lay_out(example.program, example.values)
        start = cpu_seconds()
        done = machine.launch(
            example.program,
            memory,
            grid=example.size.grid,
            block=example.size.block,
            params=params,
            dynamic_shared_bytes=example.size.shared_bytes,
            cores=1,
            count=count,
            check=check,
        )
        best = min(best, cpu_seconds() - start)
        assert not done.faults
    return 1e3 * best


def pocl() -> None:
    """Prints the milliseconds of every kernel as native code, on one thread."""
    import pyopencl as cl

    name_the_processor(relative_of_this_machine())  # PoCL's compiler may be older than this processor
    platform = next(p for p in cl.get_platforms() if p.name == "Portable Computing Language")
    context = cl.Context(platform.get_devices()[:1])
    queue = cl.CommandQueue(context)
    print(json.dumps({name: _pocl_ms(cl, context, queue, name) for name in KERNELS}))


def _pocl_ms(cl: Any, context: Any, queue: Any, name: str) -> float:
    task = read_task(TASKS / name)
    text = (TASKS / name / "kernel.cl").read_text()
    workload = next(w for w in task.workloads if w.profile)
    size = evaluate_launch(read_candidate(text, task, "kernel.cl"), workload.axes)
    _, values = kernel_values(task, workload, seed=0)
    kernel = cl.Kernel(cl.Program(context, text).build(), task.entry)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given = [v.array[()] if v.is_scalar else cl.Buffer(context, flags, hostbuf=v.array) for v in values]  # kept alive
    for at, value in enumerate(given):
        kernel.set_arg(at, value)
    threads = tuple(g * b for g, b in zip(size.grid, size.block, strict=True))

    def run() -> None:
        cl.enqueue_nd_range_kernel(queue, kernel, threads, size.block).wait()

    run()  # compiles
    return least_ms(run)


def memory_of_check(path: str, what: str) -> None:
    """Prints how many bytes a checked launch takes for each byte that a kernel may write; in a process of its own."""
    if path:
        use_core(path)
    n = 1 << 24
    if what == "floats":
        program, names = next(e.program for e in examples() if e.name == "vector_add"), "abc"
        array = np.zeros(n, np.float32)
    else:
        program, names = load_ptx(compile_cuda(BYTES, gpu_arch="sm_80").ptx, "copy"), "xy"
        array = np.zeros(n, np.uint8)
    values = [Value(name, array, name == names[-1], initialised=name != names[-1]) for name in names]
    values.append(Value("n", np.array(n, dtype=np.int32), False))
    memory, params, _ = lay_out(program, values)
    before = _resident_bytes()
    machine.launch(program, memory, grid=(n // 256, 1, 1), block=(256, 1, 1), params=params, check=True, cores=1)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps((peak - before) / array.nbytes))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _child(call: str) -> Any:
    environment = {**os.environ, "POCL_MAX_PTHREAD_COUNT": "1", "PYOPENCL_COMPILER_OUTPUT": "0"}
    argv = [sys.executable, "-c", f"import benchmarks.native as n; n.{call}"]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=1200, check=False)
    if done.returncode:
        print("  not measured:", (done.stderr.strip().splitlines() or ["no output"])[-1])
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main(other: str = "") -> dict[str, float]:
    """Prints the table; returns the geometric means of this core and its bytes, none where PoCL is missing."""
    cores = {"before": other, "now": ""} if other else {"now": ""}
    native: list[Any] = []
    rounds: dict[str, list[Any]] = {name: [] for name in cores}
    for _ in range(ROUNDS):
        native.append(_child("pocl()"))
        for name, path in cores.items():
            rounds[name].append(_child(f"ours({path!r})"))
    if None in native or any(None in found for found in rounds.values()):
        return {}
    numbers: dict[str, float] = {}
    ratios: dict[str, list[float]] = {}
    print(f"CPU ms, the least of {ROUNDS} x {REPEATS}; in brackets: times the native kernel")
    for kernel in KERNELS:
        base = min(found[kernel] for found in native)
        line = f"{kernel:18} native {base:8.1f}"
        for name in cores:
            for mode in MODES:
                ms = min(found[kernel][mode] for found in rounds[name])
                ratios.setdefault(f"{name} {mode}", []).append(ms / base)
                line += f" | {name} {mode} {ms:8.1f} ({ms / base:.1f})"
        print(line)
    for name, found in ratios.items():
        numbers["native_" + name.removeprefix("now ")] = geometric_mean(found)
        print(f"{name:16} geometric mean {geometric_mean(found):5.2f} times native over {len(found)} kernels")
    for name, path in cores.items():
        floats, octets = (_child(f"memory_of_check({path!r}, {what!r})") for what in ("floats", "u8"))
        print(
            f"{name:16} a checked launch takes {floats:.2f} bytes for each writable byte of floats, {octets:.2f} of u8"
        )
        numbers |= {"shadow_floats": floats, "shadow_u8": octets} if name == "now" else {}
    return numbers
