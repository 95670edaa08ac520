"""Are the counters right: micro-kernels whose counts follow from their text, counted and compared with computed.

Copy, strided copy, a chain of multiply-adds, a ladder of bank conflicts. What must stay true: the computed numbers come
from the kernels' sizes by arithmetic alone, never from a run; a counter that is wrong on any kernel is not believed
anywhere. Times are not judged: nobody can compute them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from warpsight.devices.device import CannotProfile, Device, Value
from warpsight.errors import ToolchainError
from warpsight.lens.profilers.failures import NoSource, ProfilerError
from warpsight.nouns import Build, Profile
from warpsight.tasks import LaunchSize
from warpsight.toolchain.cache import cache_folder
from warpsight.toolchain.compile import compile_cuda

Verdict = Literal["agrees", "wrong", "not measured"]
TOLERANCE = 0.01
"""Counts of a real GPU's units may miss a few events; a wrong counter is wrong by a factor."""
WARP, SECTOR_BYTES, FLOAT_BYTES = 32, 32, 4
ELEMENTS, THREADS = 1 << 14, 256
STRIDE, CHAIN = 8, 256
CONFLICTS = (1, 2, 4, 8, 16, 32)
CONFLICT_BLOCKS, ROWS = 64, 32

COPY = """extern "C" __global__ void copy(float* y, const float* x, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(size_t)i * stride];
}
"""
FMA_CHAIN = f"""extern "C" __global__ void fma_chain(float* y, const float* x, float a, float b) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    #pragma unroll
    for (int k = 0; k < {CHAIN}; ++k) v = fmaf(v, a, b);
    y[i] = v;
}}
"""
BANKS = f"""extern "C" __global__ void banks(float* y, const float* x, int stride) {{
    __shared__ float s[{ROWS} * {WARP}];
    int t = threadIdx.x;
    float v = x[t];
    for (int row = 0; row < {ROWS}; ++row) s[row * {WARP} + t] = v + row;
    __syncthreads();
    y[blockIdx.x * {WARP} + t] = s[t * stride];
}}
"""


@dataclass(frozen=True)
class MicroKernel:
    """One kernel, its launch, and the counts that follow from them."""

    name: str
    source: str
    entry: str
    values: tuple[Value, ...]
    size: LaunchSize
    computed: Mapping[str, float]


@dataclass(frozen=True)
class CounterComparison:
    """One counter on one kernel. `counted` is None where it was not measured."""

    kernel: str
    counter: str
    computed: float
    counted: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Calibration:
    """All comparisons on one device; `failed` are kernels that could not be profiled, with the reason."""

    device: str
    comparisons: tuple[CounterComparison, ...]
    failed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def wrong(self) -> tuple[str, ...]:
        """Counters that disagree with what was computed on any kernel, in the order they came up."""
        return tuple(dict.fromkeys(c.counter for c in self.comparisons if c.verdict == "wrong"))

    @property
    def good(self) -> bool:
        """Every kernel ran and nothing that was measured is wrong."""
        return not self.wrong and not self.failed and any(c.verdict == "agrees" for c in self.comparisons)


Measure = Callable[[MicroKernel, Build], Profile]


def micro_kernels() -> tuple[MicroKernel, ...]:
    """All of them, with what they must count."""
    return (_copy("copy", 1), _copy(f"copy, stride {STRIDE}", STRIDE), _fma_chain(), *map(_banks, CONFLICTS))


def on_device(device: Device) -> Measure:
    """How a Device counts them."""
    return lambda kernel, build: device.profile(
        build, kernel.entry, kernel.values, kernel.size, source_text=kernel.source
    )


def calibrate(
    measure: Measure, device: str, *, gpu_arch: str = "sm_80", kernels: Sequence[MicroKernel] = ()
) -> Calibration:
    """Count every micro-kernel and compare. A kernel that cannot be counted is told; what is broken raises."""
    found: list[CounterComparison] = []
    failed: dict[str, str] = {}
    for kernel in kernels or micro_kernels():
        build = compile_cuda(kernel.source, gpu_arch=gpu_arch, entry=kernel.entry)
        if not build.ok:
            raise ToolchainError(f"expected the micro-kernel {kernel.name} to compile: {build.log.strip()[:500]}")
        try:
            profile = measure(kernel, build)
        except (CannotProfile, ProfilerError, NoSource) as problem:
            failed[kernel.name] = problem.message
            continue
        if profile.kernel != kernel.entry:
            failed[kernel.name] = f"the profile is of {profile.kernel}"
            continue
        found += compare(kernel, profile.counters)
    return Calibration(device, tuple(found), failed)


def compare(kernel: MicroKernel, counters: Mapping[str, int | float]) -> list[CounterComparison]:
    """What one profile counted against what was computed for its kernel."""
    return [
        CounterComparison(kernel.name, name, computed, counted, _verdict(computed, counted))
        for name, computed in kernel.computed.items()
        for counted in (counters.get(name),)
    ]


def believed(profile: Profile, wrong: Iterable[str]) -> Profile:
    """The profile without the counters that a calibration found wrong: they count as not measured, and it says why."""
    out = [name for name in wrong if name in profile.counters]
    if not out:
        return profile
    note = f"not believed, since they are wrong on micro-kernels: {', '.join(out)}"
    return profile.model_copy(
        update={
            "counters": {name: value for name, value in profile.counters.items() if name not in out},
            "not_measured": (*profile.not_measured, *out),
            "notes": (*profile.notes, note),
        }
    )


def remember_wrong(gpu: str, wrong: Sequence[str]) -> None:
    """Keep what a calibration of this GPU found, until the next one; `gpu` is its UUID."""
    if (file := _kept(gpu)) is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(list(wrong)) + "\n")


def known_wrong(gpu: str) -> tuple[str, ...]:
    """The counters that the last calibration of this GPU found wrong; none where there was no calibration."""
    file = _kept(gpu)
    try:
        found: Any = json.loads(file.read_text()) if file is not None else []
    except (OSError, ValueError):
        return ()
    names = cast(list[object], found) if isinstance(found, list) else []
    return tuple(name for name in names if isinstance(name, str))


def _kept(gpu: str) -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / "calibration" / f"{gpu}.json"


def _verdict(computed: float, counted: float | None) -> Verdict:
    if counted is None:
        return "not measured"
    return "agrees" if abs(counted - computed) <= TOLERANCE * abs(computed) else "wrong"


def _copy(name: str, stride: int) -> MicroKernel:
    requests = ELEMENTS // WARP
    stored = requests * WARP * FLOAT_BYTES // SECTOR_BYTES
    loaded = min(ELEMENTS, stored * stride)  # a lane touches one sector at most
    return MicroKernel(
        name,
        COPY,
        "copy",
        (*_arrays(ELEMENTS, ELEMENTS * stride), Value("stride", np.array(stride, np.int32), writable=False)),
        LaunchSize(grid=(ELEMENTS // THREADS, 1, 1), block=(THREADS, 1, 1), shared_bytes=0),
        {
            "global_load_requests": requests,
            "global_load_sectors": loaded,
            "global_load_sectors_per_request": loaded / requests,
            "global_load_bytes": ELEMENTS * FLOAT_BYTES,
            "global_load_efficiency": 100 * ELEMENTS * FLOAT_BYTES / (loaded * SECTOR_BYTES),
            "global_store_requests": requests,
            "global_store_sectors": stored,
            "global_store_bytes": ELEMENTS * FLOAT_BYTES,
            "global_store_efficiency": 100,
            "lanes_per_instruction": WARP,
        },
    )


def _fma_chain() -> MicroKernel:
    scalars = (Value("a", np.array(0.5, np.float32), False), Value("b", np.array(1.0, np.float32), False))
    return MicroKernel(
        f"chain of {CHAIN} multiply-adds",
        FMA_CHAIN,
        "fma_chain",
        (*_arrays(ELEMENTS, ELEMENTS), *scalars),
        LaunchSize(grid=(ELEMENTS // THREADS, 1, 1), block=(THREADS, 1, 1), shared_bytes=0),
        {
            "flops": 2 * CHAIN * ELEMENTS,
            "global_load_requests": ELEMENTS // WARP,
            "global_store_sectors": ELEMENTS * FLOAT_BYTES // SECTOR_BYTES,
        },
    )


def _banks(ways: int) -> MicroKernel:
    """One warp a block: it fills shared memory row by row, then reads it so that `ways` lanes fall on each bank."""
    elements = CONFLICT_BLOCKS * WARP
    return MicroKernel(
        f"shared read, {ways} {'lane' if ways == 1 else 'lanes'} a bank",
        BANKS,
        "banks",
        (*_arrays(elements, WARP), Value("stride", np.array(ways, np.int32), writable=False)),
        LaunchSize(grid=(CONFLICT_BLOCKS, 1, 1), block=(WARP, 1, 1), shared_bytes=0),
        {
            "shared_load_requests": CONFLICT_BLOCKS,
            "shared_store_requests": CONFLICT_BLOCKS * ROWS,
            "shared_wavefronts": CONFLICT_BLOCKS * (ROWS + ways),
            "shared_bank_conflicts": CONFLICT_BLOCKS * (ways - 1),
        },
    )


def _arrays(outputs: int, inputs: int) -> tuple[Value, Value]:
    x = np.arange(inputs, dtype=np.float32) / inputs
    return Value("y", np.zeros(outputs, np.float32), writable=True), Value("x", x, writable=False)
