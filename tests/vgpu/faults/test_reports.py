"""What a report says beyond kind and line: coordinates, counts, limits, refusals by name, what was printed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.run import constant, output, run

from warpsight.errors import UnsupportedInstruction

I32, F32 = np.int32, np.float32


def test_thread_and_block_have_three_coordinates() -> None:
    source = """
    extern "C" __global__ void k(int *y) {
        int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        y[block == 5 && thread == 17 ? 1 << 20 : block * 24 + thread] = 1;
    }"""
    (fault,) = run(source, {"y": output(12 * 24, I32)}, grid=(3, 2, 2), block=(4, 3, 2)).launched.faults
    assert (fault.kind, fault.line) == ("out_of_bounds", 5)
    assert (fault.block, fault.thread) == ((2, 1, 0), (1, 1, 1))


def test_the_same_fault_is_reported_once_and_counted() -> None:
    source = """
    extern "C" __global__ void k(float *y) { y[threadIdx.x] += 1.0f; }"""
    (fault,) = run(source, {"y": output(64, F32)}, block=64).launched.faults
    assert (fault.kind, fault.count) == ("uninitialised_read", 64)


def test_every_place_that_reads_what_nothing_wrote_is_named() -> None:
    source = """
    extern "C" __global__ void k(const float *a, const float *b, float *y) {
        float v = a[threadIdx.x];
        v *= b[threadIdx.x];
        y[threadIdx.x] = v;
    }"""
    found = run(source, {"a": output(32, F32), "b": output(32, F32), "y": output(32, F32)}).launched.faults
    assert [(f.kind, f.line, f.array) for f in found] == [
        ("uninitialised_read", 3, "a"),
        ("uninitialised_read", 4, "b"),
    ]


def test_without_checks_addresses_are_still_checked() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x + 1]; }"""
    arguments = {"x": constant(np.zeros(32, F32)), "y": output(32, F32)}
    (fault,) = run(source, arguments, check=False).launched.faults
    assert (fault.kind, fault.thread, fault.array) == ("out_of_bounds", (31, 0, 0), "x")


def test_without_checks_races_are_not_looked_for() -> None:
    source = """
    extern "C" __global__ void k(int *y) { if (threadIdx.x == 0) y[0] = blockIdx.x; }"""
    assert run(source, {"y": output(1, I32)}, grid=4, check=False).launched.faults == ()


def test_a_deadline_ends_a_kernel_that_does_not() -> None:
    source = """
    extern "C" __global__ void k(volatile int *go) {
        while (*go == 0) {}
    }"""
    how = {"max_instructions": 10**12, "deadline_seconds": 0.2}
    (fault,) = run(source, {"go": np.zeros(1, I32)}, **how).launched.faults
    assert (fault.kind, fault.line) == ("deadline", 3)


@pytest.mark.parametrize("cores", [1, 2])
def test_one_faulty_block_of_many_ends_the_launch(cores: int) -> None:
    source = """
    extern "C" __global__ void k(int *y, int bad) {
        y[blockIdx.x == bad ? -1000000 : blockIdx.x] = 1;
    }"""
    ran = run(source, {"y": output(500, I32), "bad": I32(123)}, grid=500, cores=cores, check=False)
    (fault,) = ran.launched.faults
    assert (fault.kind, fault.block) == ("out_of_bounds", (123, 0, 0))
    assert ran.launched.blocks_run < 500


def test_an_assertion_says_what_was_asserted() -> None:
    source = """
    extern "C" __global__ void k(const int *x) {
        assert(x[threadIdx.x] % 5 != 4 && "five");
    }"""
    (fault,) = run(source, {"x": constant(np.arange(32, dtype=I32))}).launched.faults
    assert (fault.kind, fault.line, fault.thread) == ("assert_failed", 3, (4, 0, 0))
    assert '% 5 != 4 && "five"' in fault.message


def test_what_was_printed_before_a_fault_is_kept() -> None:
    source = r"""
    extern "C" __global__ void k(int *y) {
        if (threadIdx.x == 0) printf("before %d\n", 42);
        __syncwarp();
        y[1 << 20] = 1;
    }"""
    ran = run(source, {"y": output(1, I32)})
    assert ran.kinds == ["out_of_bounds"]
    assert ran.launched.output == "before 42\n"


@pytest.mark.parametrize(
    ("body", "gpu_arch", "name"),
    [
        ('asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(0) : "memory");', "sm_80", "mbarrier.init"),
        ('asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', "sm_90a", "wgmma.fence"),
        ('asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");', "sm_90a", "setmaxnreg"),
        ("y[0] = tex1Dfetch<int>((cudaTextureObject_t)y[1], 0);", "sm_80", "tex"),
        ('asm volatile("{ .reg .b32 t; tcgen05.fence::before_thread_sync; }" ::: "memory");', "sm_100a", "tcgen05"),
    ],
)
def test_an_instruction_it_does_not_run_is_refused_by_name_and_line(body: str, gpu_arch: str, name: str) -> None:
    source = f'extern "C" __global__ void k(int *y) {{\n    y[threadIdx.x] = 1;\n    {body}\n}}\n'
    with pytest.raises(UnsupportedInstruction) as caught:
        run(source, {"y": output(32, I32)}, gpu_arch=gpu_arch)
    assert name in caught.value.instruction
    assert caught.value.line == 3
    assert name in str(caught.value)


def test_a_wild_jump_through_a_function_pointer() -> None:
    source = """
    typedef int (*Function)(int);
    extern "C" __global__ void k(int *y, Function f) { y[threadIdx.x] = f(threadIdx.x); }"""
    (fault,) = run(source, {"y": output(32, I32), "f": np.uint64(0x1234)}).launched.faults
    assert (fault.kind, fault.line, fault.thread) == ("bad_jump", 3, (0, 0, 0))


def test_memory_from_the_device_heap_is_not_initialised() -> None:
    source = """
    extern "C" __global__ void k(int *y) {
        int *p = (int *)malloc(64);
        y[threadIdx.x] = p[threadIdx.x % 16];
    }"""
    (fault,) = run(source, {"y": output(32, I32)}).launched.faults
    assert (fault.kind, fault.line) == ("uninitialised_read", 4)


def test_an_address_far_from_every_array_is_named_by_number() -> None:
    source = """
    extern "C" __global__ void k(int *y) { y[threadIdx.x] = *(int *)0x123456789000ull; }"""
    (fault,) = run(source, {"y": output(32, I32)}).launched.faults
    assert (fault.kind, fault.array, fault.address) == ("out_of_bounds", None, 0x123456789000)
    assert "0x123456789000" in fault.message


def test_sixty_four_bit_offsets_do_not_wrap_back_into_the_array() -> None:
    source = """
    extern "C" __global__ void k(int *y, long long by) { y[threadIdx.x + by] = 1; }"""
    for by in (1 << 30, 1 << 40, 1 << 61, -(1 << 33)):
        (fault,) = run(source, {"y": output(32, I32), "by": np.int64(by)}).launched.faults
        assert fault.kind == "out_of_bounds"


def test_an_access_that_straddles_the_end_is_outside() -> None:
    source = """
    extern "C" __global__ void k(const double *x, double *y) { y[threadIdx.x] = x[threadIdx.x]; }"""
    (fault,) = run(source, {"x": constant(np.zeros(63, F32)), "y": output(32, float)}).launched.faults
    assert (fault.kind, fault.thread, fault.array) == ("out_of_bounds", (31, 0, 0), "x")
