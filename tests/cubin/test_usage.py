"""What is read from a cubin equals what NVIDIA's own tools say of it, on every architecture."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.pairs import load_pairs

from warpsight.cubin.usage import read_entries
from warpsight.errors import UsageError
from warpsight.nouns import Build, EntryUsage
from warpsight.tasks import read_candidate, read_task
from warpsight.toolchain import packages
from warpsight.toolchain.compile import compile_cuda

ROOT = Path(__file__).parents[2]
ARCHES = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
EVERYTHING = """
__constant__ float table[100];
__device__ __noinline__ float pick(float a, int j) {
    float t[20];
    for (int i = 0; i < 20; i++) t[i] = a * i;
    for (int i = 0; i < j; i++) t[(i * j) % 20] += t[i % 20];
    return t[j % 20];
}
__device__ float recursive(float* x, int n) { return n ? recursive(x + 1, n - 1) * x[2] + recursive(x, n / 2) : *x; }
extern "C" __global__ void __launch_bounds__(256, 2) everything(float* x, int j) {
    __shared__ float fixed[77];
    extern __shared__ float dynamic[];
    float a[32];
    for (int i = 0; i < 32; i++) a[i] = x[i];
    for (int i = 0; i < j; i++) a[(i * j) % 32] += a[i % 32];
    fixed[threadIdx.x] = pick(a[0], j);
    dynamic[threadIdx.x] = x[5] / x[6];
    asm volatile("bar.sync 3;");
    __syncthreads();
    x[0] = a[j % 32] + fixed[1] + dynamic[2] + table[j] * 1.2345678e10;
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void any_barrier(int n) { asm volatile("bar.sync %0;" :: "r"(n)); }
extern "C" __global__ void prints(float* x, int n) { printf("%f\\n", recursive(x, n)); }
extern "C" __global__ void pressed(float* x) {
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[i * 32 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; i++) x[i * 32 + threadIdx.x] = a[i] * a[(i * 7 + 3) % 64] + a[63 - i];
}
"""
PRESSED_CALL = """
__device__ __noinline__ float pressed(float* x) {
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[i * 32 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; i++) x[i * 32 + threadIdx.x] = a[i] * a[(i * 7 + 3) % 64] + a[63 - i];
    return a[3];
}
extern "C" __global__ void k(float* x) { x[0] = pressed(x) + x[1]; x[1] = pressed(x + 100); }
"""


def by_cuobjdump(cubin: bytes, folder: Path) -> dict[str, dict[str, int]]:
    """`cuobjdump -res-usage`: kernel to its numbers, CONSTANT as the sum of the kernel's banks. UNKNOWN is left out."""
    file = folder / "k.cubin"
    file.write_bytes(cubin)
    program = packages.program("cuobjdump", "nvidia-cuda-cuobjdump")
    said = subprocess.run([program, "-res-usage", file], capture_output=True, text=True, check=True).stdout
    found: dict[str, dict[str, int]] = {}
    for name, numbers in re.findall(r"Function (\S+):\s*\n\s*(REG:.*)", said):
        found[name] = {"CONSTANT": 0}
        for key, number in re.findall(r"(\w+)(?:\[\d+\])?:(\d+)", numbers):
            found[name][key] = found[name].get(key, 0) + int(number)
    return found


def by_ptxas(log: str) -> dict[str, dict[str, int]]:
    """What `ptxas -v` prints; a test may read it, its sources are not out to deceive."""
    found: dict[str, dict[str, int]] = {}
    name = ""
    for line in log.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)'", line):
            name = entry[1]
            found[name] = {"stores": 0, "loads": 0, "stack": 0, "registers": 0, "shared": 0, "barriers": 0}
        elif stack := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            found[name]["stores"] += int(stack[2])
            found[name]["loads"] += int(stack[3])
        elif used := re.search(r"Used (\d+) registers, used (\d+) barriers", line):
            shared, stack = re.search(r"(\d+) bytes smem", line), re.search(r"(\d+) bytes cumulative stack", line)
            found[name] |= {
                "registers": int(used[1]), "barriers": int(used[2]),
                "shared": int(shared[1]) if shared else 0, "stack": int(stack[1]) if stack else 0,
            }  # fmt: skip
    return found


def check(build: Build, folder: Path, saved: frozenset[str] = frozenset()) -> tuple[EntryUsage, ...]:
    """All numbers against both tools; `saved` kernels call functions that save registers, which ptxas calls spills."""
    assert build.ok, build.log
    entries = read_entries(build.cubin)
    told, printed = by_cuobjdump(build.cubin, folder), by_ptxas(build.log)
    assert {entry.name for entry in entries} == set(told) == set(printed)
    for entry in entries:
        says, prints = told[entry.name], printed[entry.name]
        reserved = says["SHARED"] - entry.shared_bytes
        stack = says.get("STACK", prints["stack"])  # a kernel that recurses has none that is known, since CUDA 13.5
        assert (entry.registers, entry.local_bytes) == (says["REG"], stack), (entry, says)
        assert entry.const_bytes == says["CONSTANT"] and says["LOCAL"] == 0, (entry, says)
        assert reserved == 0 or (reserved == 1024 and int(build.gpu_arch[3:]) >= 90), (entry, says)
        assert (entry.registers, entry.barriers) == (prints["registers"], prints["barriers"]), (entry, prints)
        assert (entry.shared_bytes, entry.local_bytes) == (prints["shared"], prints["stack"]), (entry, prints)
        if entry.name not in saved:
            assert (entry.spill_store_bytes, entry.spill_load_bytes) == (prints["stores"], prints["loads"]), entry
    return entries


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("options", [(), ("--maxrregcount=32",)])
def test_all_numbers_are_those_of_the_tools(arch: str, options: tuple[str, ...], tmp_path: Path) -> None:
    build = compile_cuda(EVERYTHING, gpu_arch=arch, options=options)
    entries = {one.name: one for one in check(build, tmp_path, saved=frozenset({"prints"}))}
    assert entries["everything"].shared_bytes >= 308 and entries["everything"].local_bytes >= 128
    assert entries["everything"].barriers == 4 and entries["any_barrier"].barriers == 16
    assert (entries["everything"].max_threads, entries["nothing"].max_threads) == (256, 0)
    assert (entries["pressed"].spill_store_bytes > 0) == bool(options)
    assert build.entries == tuple(entries.values())


def test_spills_of_a_function_that_is_not_inlined_are_the_kernels(tmp_path: Path) -> None:
    build = compile_cuda(PRESSED_CALL, options=["--maxrregcount=32"])
    (entry,) = check(build, tmp_path)
    assert entry.spill_store_bytes > 200 and entry.spill_load_bytes > 200


def texts() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every CUDA text of the example tasks and the pairs, with its options."""
    for file in sorted((ROOT / "tasks").glob("*/**/*.cu")):
        task = read_task(ROOT / "tasks" / file.relative_to(ROOT / "tasks").parts[0])
        candidate = read_candidate(file.read_text(), task, str(file))
        yield str(file.relative_to(ROOT)), candidate.source, candidate.options
    for pair in load_pairs():
        for candidate in (pair.slow, pair.fast):
            yield f"{pair.name} {candidate.options}", candidate.source, candidate.options


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_all_numbers_of_all_kernels_are_those_of_the_tools(arch: str, tmp_path: Path) -> None:
    seen = 0
    for name, text, options in texts():
        build = compile_cuda(text, gpu_arch=arch, options=options)
        assert build.ok, (name, build.log)
        seen += len(check(build, tmp_path))
    assert seen > 100


def test_a_damaged_file_is_refused() -> None:
    cubin = compile_cuda(EVERYTHING).cubin
    for cut in (b"", b"\x7fELF", cubin[:100], cubin[: len(cubin) // 2]):
        with pytest.raises(UsageError, match="cubin"):
            read_entries(cut)
    renamed = cubin.replace(b".nv.info.nothing\0", b".nv.info.pressed\0", 1)
    with pytest.raises(UsageError, match="two of a name"):
        read_entries(renamed)
