"""Disassembly of real machine code, and the reading of line chains."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from warpsight.errors import ToolchainError
from warpsight.nouns import Build
from warpsight.toolchain import sass, words
from warpsight.toolchain.cache import Cache

Compile = Callable[..., Build]

LOOP = """extern "C" __global__ void sum(const float* x, float* y, int n) {
    float total = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        total += x[i];
    atomicAdd(y, total);
}
"""
HALF = """#include <cuda_fp16.h>
extern "C" __global__ void twice(half2* x) {
    int i = threadIdx.x;
    x[i] = __hadd2(x[i], x[i]);
}
"""


def test_instructions_have_addresses_words_and_lines(compiled: Compile, cache: Cache) -> None:
    listing = sass.disassemble(compiled(LOOP).cubin, cache=cache)
    assert {instruction.function for instruction in listing} == {"sum"}
    assert [instruction.address for instruction in listing] == [16 * n for n in range(len(listing))]
    load = next(i for i in listing if i.text.split()[0].startswith("LDG"))
    add = next(i for i in listing if "FADD" in i.text)
    atomic = next(i for i in listing if re.search(r"\b(RED|ATOMG?)\b", i.text))
    assert load.line == 4 and add.line == 4 and atomic.line == 5
    assert all(i.word_lo and i.word_hi for i in listing if not i.text.startswith("NOP"))


def test_the_words_are_those_of_the_cubin(compiled: Compile, cache: Cache) -> None:
    cubin = compiled(LOOP).cubin
    listing = sass.disassemble(cubin, cache=cache)
    code = b"".join(i.word_lo.to_bytes(8, "little") + i.word_hi.to_bytes(8, "little") for i in listing)
    assert code in cubin


def test_branches_go_to_addresses(compiled: Compile, cache: Cache) -> None:
    listing = sass.disassemble(compiled(LOOP).cubin, cache=cache)
    addresses = {instruction.address for instruction in listing}
    branches = [i for i in listing if re.search(r"\bBRA\b", i.text)]
    assert branches and not any("`" in i.text for i in listing)
    for branch in branches:
        assert int(branch.text.split()[-1], 16) in addresses


def test_header_code_counts_for_the_kernel_line_it_was_inlined_at(compiled: Compile, cache: Cache) -> None:
    listing = sass.disassemble(compiled(HALF).cubin, cache=cache)
    add = next(i for i in listing if re.search(r"\bH(ADD2|FMA2)\b", i.text))
    assert add.line == 4


def test_two_functions(compiled: Compile, cache: Cache) -> None:
    listing = sass.disassemble(compiled(LOOP + HALF).cubin, cache=cache)
    assert {instruction.function for instruction in listing} == {"sum", "twice"}


def test_second_time_comes_from_the_cache(compiled: Compile, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cubin = compiled(LOOP).cubin
    first = sass.disassemble(cubin, cache=cache)

    def must_not_run(*_: object, **__: object) -> bytes:
        raise AssertionError("nvdisasm was started for a cached cubin")

    monkeypatch.setattr(sass, "run_to_end", must_not_run)
    monkeypatch.setattr(words, "run_to_end", must_not_run)
    monkeypatch.setattr(words, "_known", {})
    assert sass.disassemble(cubin, cache=cache) == first


@pytest.mark.parametrize("cubin", [b"", b"not an object file", b"\x7fELF" + b"\0" * 200])
def test_nonsense_is_an_error(cache: Cache, cubin: bytes) -> None:
    with pytest.raises(ToolchainError, match="nvdisasm"):
        sass.disassemble(cubin, cache=cache)


def test_chain_without_a_kernel_line_has_no_line() -> None:
    listing = """
\t.section\t.text.k,"ax",@progbits
k:
.text.k:
\t//## File "/opt/include/a.h", line 10 inlined at "/opt/include/b.h", line 20
\t//## File "/opt/include/b.h", line 20
        /*0000*/                   NOP ;    /* 0x0000000000007918 */
                                            /* 0x000fc00000000000 */
\t//## File "/opt/include/a.h", line 11 inlined at "/warpsight/kernel.cu", line 7
\t//## File "/warpsight/kernel.cu", line 7 inlined at "/warpsight/kernel.cu", line 9
\t//## File "/warpsight/kernel.cu", line 9
        /*0010*/                   BRA `(.text.k) ;    /* 0x0000000000007918 */
                                            /* 0x000fc00000000000 */
"""
    rows = list(sass.parse_listing(listing, "kernel.cu"))
    assert [(row[1], row[2], row[5]) for row in rows] == [(0, "NOP", None), (16, "BRA 0x0", 7)]


INLINED = """#include <cub/block/block_reduce.cuh>
__device__ __forceinline__ float wave(float x) {
    return x * x + sinf(x);
}
__device__ float twice(float x) {
    float a = wave(x);
    return wave(a) + a;
}
extern "C" __global__ void reduce(float* x, int n) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage room;
    float v = twice(x[threadIdx.x]) / (x[n] + 1.0f);
    v += Reduce(room).Sum(v);
    if (threadIdx.x == 0) x[blockIdx.x] = v;
}
extern "C" __global__ void single(float* x, int n) { x[n] = twice(x[n]); }
"""
CHOICE = """__device__ __noinline__ int deep(int n) { return n < 2 ? n : deep(n - 1) + deep(n - 2); }
extern "C" __global__ void choose(int* x, int n) {
    switch (x[threadIdx.x]) {
        case 0: x[0] = n; break;
        case 1: x[1] = n * 3; break;
        case 2: x[n] = deep(n); break;
        case 3: x[n + 3] = n / 7; break;
        case 4: atomicAdd(x, 5); break;
        case 5: x[n] = __popc(n); break;
        default: printf("%d", n);
    }
}
"""


SPILLS = """extern "C" __global__ void __launch_bounds__(1024) spill(float* x, int n) {
    float v[96];
#pragma unroll
    for (int i = 0; i < 96; ++i) v[i] = x[threadIdx.x + 1024 * i];
    for (int r = 0; r < n; ++r)
#pragma unroll
        for (int i = 0; i < 96; ++i) v[i] = v[i] * v[(i + 7) % 96] + 1.0f;
#pragma unroll
    for (int i = 0; i < 96; ++i) x[threadIdx.x + 1024 * i] = v[i];
}
"""


@pytest.mark.parametrize("gpu_arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_words_of_many_files_at_once_give_what_a_listing_of_each_gives(compiled: Compile, gpu_arch: str) -> None:
    cubins = {source: compiled(source, gpu_arch=gpu_arch).cubin for source in (LOOP, HALF, INLINED, CHOICE, SPILLS)}
    assert compiled(SPILLS, gpu_arch=gpu_arch).entries[0].spill_store_bytes
    found = sass._listed(cubins, "kernel.cu")
    for source, cubin in cubins.items():
        assert found[source] == list(sass.parse_listing(sass._listing(cubin), "kernel.cu"))


def test_many_files_take_one_process(compiled: Compile, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cubins = [compiled(source).cubin for source in (LOOP, HALF, LOOP + HALF)]
    started = list[object]()
    run = words.run_to_end

    def counted(*args: object, **more: object) -> bytes:
        started.append(args)
        return run(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(words, "_known", {})
    monkeypatch.setattr(words, "run_to_end", counted)
    monkeypatch.setattr(sass, "run_to_end", counted)
    sass.disassemble_ahead(cubins, cache=cache)
    listings = [sass.disassemble(cubin, cache=cache) for cubin in cubins]
    assert len(started) == 1
    assert [len({one.function for one in listing}) for listing in listings] == [1, 1, 2]


def test_a_file_that_is_refused_does_not_stop_the_others(compiled: Compile, cache: Cache) -> None:
    good, bad = compiled(LOOP).cubin, b"not an object file"
    sass.disassemble_ahead([bad, good], cache=cache)
    assert sass.disassemble(good, cache=cache)
    with pytest.raises(ToolchainError, match="nvdisasm"):
        sass.disassemble(bad, cache=cache)


def test_a_jump_is_kept_by_its_distance() -> None:
    text = words._text("@P0 BRA 0x1000100", "@P0 BRA 0x1000900", 0x1000080, 0x800)
    assert text is not None and text.at(0x40) == "@P0 BRA 0xc0"
    assert words._text("MOV R1, 0x40", "MOV R1, 0x40", 0x1000000, 0x800) == words.WordText("MOV R1, 0x40")
    assert words._text("X 0x40", "Y 0x840", 0x1000000, 0x800) is None
    assert words._text("BRX R2 -0x40", "BRX R2 -0x40", 0x1000000, 0x800) is None
