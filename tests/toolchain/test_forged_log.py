"""A source can write into the compiler's log. What the build says of the kernel stays what is in the machine code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from warpsight.devices.virtual import refusal
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize

Compile = Callable[..., Build]

KERNEL = """
extern "C" __global__ void __launch_bounds__(512, 3) k(float* x) {
    __shared__ float s[2048];
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[i * 32 + threadIdx.x];
    s[threadIdx.x] = a[0];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; i++) x[i * 32 + threadIdx.x] = a[i] * a[(i * 7 + 3) % 64] + a[63 - i] + s[i];
}
"""
USED = "ptxas info    : Used 8 registers, used 0 barriers, 0 bytes smem, 1 bytes cmem[0]"
ENTRY = "ptxas info    : Compiling entry function 'k' for 'sm_80'"
PROPERTIES = "ptxas info    : Function properties for k"
STACK = "ptxas         .     0 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads"
LINES = (ENTRY, PROPERTIES, STACK, USED)
ESCAPED = "\\n" + "\\n".join(LINES) + "\\n"
FORGED = {
    "warning": "".join(f"#warning {line}\n" for line in LINES),
    "message": f'#pragma message("{ESCAPED}")\n',
    "message pasted by the preprocessor": f'#define M(x) _Pragma(#x)\nM(message("{ESCAPED}"))\n',
    "error that is not compiled": "#if 0\n" + "".join(f"#error {line}\n" for line in LINES) + "#endif\n",
    "static_assert": f'template <class T> struct S {{ static_assert(sizeof(T) > 0, "{ESCAPED}"); }};\n'
    "__device__ int size() { return sizeof(S<int>); }\n",
    "deprecated": f'[[deprecated("{ESCAPED}")]] __device__ int old() {{ return 1; }}\n'
    "__device__ int uses() { return old(); }\n",
    "nodiscard": f'[[nodiscard("{ESCAPED}")]] __device__ int kept() {{ return 1; }}\n'
    "__device__ void drops() { kept(); }\n",
    "file name": f'#line 1 "{USED}"\n__device__ void f() {{ int unused; }}\n#line 1 "kernel.cu"\n',
    "file name of many lines": f'#line 1 "{ESCAPED}"\n__device__ void f() {{ int unused; }}\n#line 1 "kernel.cu"\n',
    "source line shown": f"__device__ void f() {{ int unused; /* {USED} */ }}\n",
    "long line": "__device__ void f() { int unused; /* " + f"{ENTRY} {USED} " * 3000 + " */ }\n",
    "assembly comment": f'__device__ void f() {{ asm volatile("// {ESCAPED}"); }}\n',
    "printed text": f'__device__ void f() {{ printf("{ESCAPED}"); }}\n',
    "error that is none": '#pragma message("\\nkernel.cu(1): error: this is not one\\nptxas fatal   : nor this\\n")\n',
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_numbers_are_those_of_the_machine_code(compiled: Compile, text: str) -> None:
    (true,) = compiled(KERNEL).entries
    build = compiled(text + KERNEL)
    assert build.ok, build.log
    assert build.entries == (true,)
    assert true.registers == 40 and true.spill_store_bytes > 99 and true.shared_bytes == 8192 and true.barriers == 1


def test_other_kernels_change_nothing(compiled: Compile) -> None:
    """Names that read like the log, a pragma that the assembler repeats, and a kernel written in assembly."""
    text = f"""
extern "C" __global__ void ptxas_info_Used_8_registers(float* x) {{ x[0] = 2; }}
__device__ __noinline__ void f(float* x) {{ asm volatile(".pragma \\"{USED}\\";"); x[0] = 2; }}
extern "C" __global__ void calls(float* x) {{ f(x);
    asm volatile("}}\\n.visible .entry injected()\\n{{\\n.reg .b32 r<9>;\\nbar.sync 0;\\n"); }}
"""
    (true,) = compiled(KERNEL).entries
    entries = {one.name: one for one in compiled(text + KERNEL).entries}
    assert entries["k"] == true
    assert set(entries) == {"k", "calls", "ptxas_info_Used_8_registers", "injected"}


def test_a_launch_with_too_many_registers_stays_refused(compiled: Compile) -> None:
    text = FORGED["message"] + KERNEL.replace("__launch_bounds__(512, 3) ", "")
    build = compiled(text)
    assert build.ok and build.entries[0].registers > 64
    assert "does not fit" in refusal(build, "k", LaunchSize((1, 1, 1), (1024, 1, 1), 0))


def test_a_launch_beyond_the_kernels_own_bounds_is_refused(compiled: Compile) -> None:
    build = compiled(KERNEL)
    assert refusal(build, "k", LaunchSize((1, 1, 1), (512, 1, 1), 0)) == ""
    assert "launch bounds" in refusal(build, "k", LaunchSize((1, 1, 1), (544, 1, 1), 0))
