"""The published SGEMM ladder on the virtual RTX A6000: predicted and published speed, and what each term does.

Nothing in the model was fitted to these kernels. Speeds within 5 % of one another count as ties in the order.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import statistics
import time

from benchmarks.ladder import ENTRY, PUBLISHED_SIZE, Rung, ladder_values, load_ladder
from benchmarks.pairs.first_line import launch_size
from benchmarks.timed import timed
from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.constants import PUBLISHED, Constants, listed
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.schedule import mnemonic
from warpsight.vgpu.timemodel import TERMS, PredictedTime

GPU = "rtx-a6000"
STEP_BUDGET = 4_000_000
FEW_STEPS = 500_000
TIE = 1.05
# Constants that only matter to kernels with such an instruction.
ONLY_FOR: dict[str, tuple[str, ...]] = {
    "constant_clocks": ("LDC",),
    "shuffle_clocks": ("SHFL",),
    "async_copy_clocks": ("LDGSTS",),
    "special_clocks": ("MUFU", "I2F", "F2I", "F2F", "FRND", "I2I"),
    "bit_count_clocks": ("POPC", "FLO", "BREV"),
    "fp64_clocks": ("DADD", "DMUL", "DFMA", "DSETP"),
    "fp64_shared_clocks": ("DADD", "DMUL", "DFMA", "DSETP"),
    "tensor_clocks": ("HMMA", "IMMA", "DMMA"),
    "tensor_small_clocks": ("HMMA", "IMMA", "DMMA"),
    "atomic_clocks": ("ATOM", "ATOMG", "RED"),
    "atomic_float_clocks": ("ATOM", "ATOMG", "RED"),
}


def predicted(
    rung: Rung,
    gpu: Gpu,
    without: tuple[str, ...] = (),
    step_budget: int = STEP_BUDGET,
    constants: Constants = PUBLISHED,
) -> PredictedTime:
    n = PUBLISHED_SIZE
    size = launch_size(rung.kernel, {"M": n, "N": n, "K": n})
    return timed(
        rung.kernel, ENTRY, gpu, _values(), size, step_budget=step_budget, without=without, constants=constants
    )


@functools.cache
def _values() -> tuple[Value, ...]:
    """The one set of matrices that all rungs share."""
    return ladder_values(PUBLISHED_SIZE, PUBLISHED_SIZE, PUBLISHED_SIZE)


def gflops(time_us: float) -> float:
    return 2 * PUBLISHED_SIZE**3 / time_us / 1e3


def kendall_tau(ours: list[float], theirs: list[float]) -> float:
    """Agreement in order of all pairs that are not ties in the published speeds; 1 is full agreement."""
    agree = total = 0
    for (a, x), (b, y) in itertools.combinations(zip(ours, theirs, strict=True), 2):
        if max(x, y) / min(x, y) < TIE:
            continue
        total += 1
        agree += 1 if (a - b) * (x - y) > 0 else -1
    return agree / total


def summary(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """Kendall's tau, median and worst |log2 ratio|."""
    errors = [abs(math.log2(a / b)) for a, b in zip(ours, theirs, strict=True)]
    return kendall_tau(ours, theirs), statistics.median(errors), max(errors)


def main() -> None:
    gpu, rungs = find_gpu(GPU), load_ladder()
    theirs = [r.published_gflops for r in rungs]
    ours: list[float] = []
    cycles = seconds = 0.0
    print("simulated GFLOP/s against published measurements")
    print(f"{'kernel':>6} {'predicted':>10} {'published':>10} {'log2':>6}  bound by")
    for rung in rungs:
        start = time.perf_counter()
        p = predicted(rung, gpu)
        seconds += time.perf_counter() - start
        cycles += p.simulated_cycles
        ours.append(gflops(p.time_us))
        ratio = math.log2(ours[-1] / rung.published_gflops)
        print(f"{rung.number:6} {ours[-1]:10.0f} {rung.published_gflops:10.0f} {ratio:+6.2f}  {p.bound}", flush=True)
    tau, median, worst = summary(ours, theirs)
    print(f"Kendall's tau {tau:.3f}, median |log2 ratio| {median:.3f}, worst {worst:.3f}")
    print(f"simulated {cycles / 1e6:.1f} M SM cycles in {seconds:.1f} s, tracing included")
    print("without a term (fewer steps simulated):")
    for term in ("nothing left out", *TERMS):
        without = () if term == "nothing left out" else (term,)
        _line(term, [gflops(predicted(r, gpu, without, FEW_STEPS).time_us) for r in rungs], theirs)
    sensitivity(gpu, rungs)


def _line(name: str, ours: list[float], theirs: list[float]) -> None:
    tau, median, worst = summary(ours, theirs)
    print(f"  {name:44} tau {tau:6.3f}  median {median:.3f}  worst {worst:.3f}", flush=True)


def _operations(rungs: list[Rung], gpu: Gpu) -> set[str]:
    """The operations in the machine code of the ladder."""
    found: set[str] = set()
    for rung in rungs:
        build = compile_cuda(rung.kernel.source, gpu_arch=gpu.arch, options=rung.kernel.options, entry=ENTRY)
        program = machine_code(build.cubin, ENTRY).program
        assert program is not None, f"the machine code of kernel {rung.number} is not read"
        found |= {mnemonic(text)[0] for text in program.texts if text}
    return found


def sensitivity(gpu: Gpu, rungs: list[Rung]) -> None:
    """What half and twice of each constant would do; those that move no kernel are named in one line."""
    theirs = [r.published_gflops for r in rungs]

    def speeds(constants: Constants) -> list[float]:
        return [gflops(predicted(r, gpu, (), FEW_STEPS, constants).time_us) for r in rungs]

    plain, unmoved, used = speeds(PUBLISHED), list[str](), _operations(rungs, gpu)
    print("with half and with twice of a constant that all GPUs share (fewer steps simulated):")
    for constant in listed():
        moved = False
        needed = ONLY_FOR.get(constant.name)
        for factor in (0.5, 2.0) if needed is None or used & set(needed) else ():
            value = type(constant.value)(constant.value * factor)
            ours = speeds(dataclasses.replace(PUBLISHED, **{constant.name: value}))
            if ours != plain:
                moved = True
                _line(f"{constant.name} {constant.value:g} -> {value:g}", ours, theirs)
        if not moved:
            unmoved.append(constant.name)
    print(f"  no kernel of the ladder moves with: {', '.join(unmoved)}")
