"""Speed of whole programs, in one run: launches a second, instructions against the same kernel as a task, repeats.

Sources are made here. All in processor seconds of this process, where launches run; the program's own are told apart.
Overhead of repeats: the same program with digests of memory and without, where no launch ever repeats, turn by turn.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpsight.programs.repeats import Repeats
from warpsight.toolchain.compile import compile_cuda
from warpsight.verbs.run_program import ProgramQuestion, run_whole
from warpsight.vgpu import machine
from warpsight.vgpu.ptx.link import load_module
from warpsight.vgpu.ptx.parse import parse_module

ROUNDS = 5
LAUNCHES = 20_000
EMPTY = """
__global__ void one(int *x) { x[0] += 1; }
int main() { int *x; cudaMalloc(&x, 4); for (int i = 0; i < %d; i++) one<<<1, 1>>>(x); return cudaDeviceSynchronize(); }
"""
KERNEL = """
extern "C" __global__ void turn(float *x, const float *y, int n, int times) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i];
    for (int k = 0; k < times; k++) a += b;
    x[i] = a;
}
"""
HOST = """
#include <vector>
int main() {
    const int n = %d;
    std::vector<float> h(n, 0.25f);
    float *x, *y;
    cudaMalloc(&x, n * 4), cudaMalloc(&y, n * 4);
    cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice), cudaMemcpy(y, h.data(), n * 4, cudaMemcpyHostToDevice);
    for (int i = 0; i < %d; i++) turn<<<(n + 255) / 256, 256>>>(x, y, n, %d);
    return cudaDeviceSynchronize();
}
"""
CASES = {
    "4 KB, 20 turns": (1024, 3000, 20), "4 MB, 1 turn": (1 << 20, 40, 1), "4 MB, 40 turns": (1 << 20, 10, 40),
    "64 MB, 1 turn": (1 << 24, 6, 1),
}  # fmt: skip
"""Elements, launches, turns: from launches that are all overhead to those that only move memory."""


def main() -> None:
    """All three."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        _launches(folder)
        _instructions(folder)
        for name, case in CASES.items():
            _repeats(folder, name, case)


def _run(source: Path) -> tuple[float, float, int, int]:
    """Processor seconds here and in the program, warp instructions, launches that were skipped."""
    began = time.process_time()
    run = run_whole(ProgramQuestion(source, times=False, cores=1), output=lambda _: None, errors=print)
    spent = time.process_time() - began
    assert (run.end, run.exit_code) == ("exited", 0), run
    return spent, run.host_cpu_s, sum(row.warp_instructions for row in run.kernels), run.skipped


def _source(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.cu"
    path.write_text(text)
    _run(path)  # builds it
    return path


def _launches(folder: Path) -> None:
    few, many = (_source(folder, f"empty{n}", EMPTY % n) for n in (1, LAUNCHES))
    spent = [[sum(_run(path)[:2]) for path in (few, many)] for _ in range(ROUNDS)]
    each = statistics.median((b - a) / LAUNCHES for a, b in spent)
    print(f"launches of one thread: {1 / each:,.0f} a processor second, {each * 1e6:.0f} us each, program included")


def _instructions(folder: Path) -> None:
    """The same launch from a program and by itself; starting and ending the program taken off."""
    n, times = 1 << 20, 200
    none, one = (_source(folder, f"turn{k}", KERNEL + HOST % (n, k, times)) for k in (0, 1))
    build = compile_cuda(KERNEL, gpu_arch="sm_80", options=(), entry="turn")
    program = load_module(parse_module(build.ptx), "turn")
    ratios: list[float] = []
    rate = 0.0
    for _ in range(ROUNDS):
        idle, busy = _run(none)[0], _run(one)
        alone, instructions = _alone(program, n, times)
        ours = busy[2] / max(1e-6, busy[0] - idle)
        ratios.append(ours / (instructions / alone))
        rate = max(rate, ours)
    print(f"warp instructions a processor second in a program: {rate / 1e6:.0f} M; over the same kernel as a task: "
          f"{statistics.median(ratios):.2f} (median of {ROUNDS}, {min(ratios):.2f} to {max(ratios):.2f})")  # fmt: skip


def _alone(program: machine.Program, n: int, times: int) -> tuple[float, int]:
    memory = machine.GlobalMemory()
    at = [memory.add(name, np.full(n, 0.25, np.float32)) for name in ("x", "y")]
    params = np.array(at, "<u8").tobytes() + np.array([n, times], "<i4").tobytes()
    began = time.process_time()
    done = machine.launch(
        program, memory, grid=(n // 256, 1, 1), block=(256, 1, 1), params=params, count=False, cores=1
    )
    return time.process_time() - began, done.warp_instructions


def _repeats(folder: Path, name: str, case: tuple[int, int, int]) -> None:
    source = _source(folder, f"repeats{case[0]}x{case[2]}", KERNEL + HOST % case)
    shares: list[float] = []
    for number in range(2 * ROUNDS):  # each goes first as often: the second finds memory that is there already
        without = _without_digests(lambda: _run(source)) if number % 2 else None
        with_digests = _run(source)
        without = without or _without_digests(lambda: _run(source))
        shares.append(with_digests[0] / without[0] - 1)
        assert not with_digests[3], "launches were skipped: this measures nothing"
    print(f"overhead of skipping repeats where there are none, {name} x {case[1]}: {statistics.median(shares):+.1%} "
          f"(median of {len(shares)}, {min(shares):+.1%} to {max(shares):+.1%})")  # fmt: skip


def _without_digests(run: Callable[[], tuple[float, float, int, int]]) -> tuple[float, float, int, int]:
    skip, ran = Repeats.skip, Repeats.ran
    try:
        Repeats.skip = lambda self, key: False
        Repeats.ran = lambda self, key, touched, seconds, *, repeatable: None
        return run()
    finally:
        Repeats.skip, Repeats.ran = skip, ran
