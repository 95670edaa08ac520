"""cuBLAS, cuFFT and cuRAND as far as they are here: right numbers, errors for what no GPU reaches, times labelled."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.programs.conftest import Ran

from warpsight.programs.library_account import LibraryAccount
from warpsight.programs.messages import BadRequest, Fields, pack_data, pack_numbers
from warpsight.vgpu.gpus import find_gpu

RunSource = Callable[..., Ran]


def test_blas_is_right(run_source: RunSource) -> None:
    ran = run_source("blas.cu", make=("-lcublas", "-lcublasLt"))
    assert ran.output.splitlines() == [
        "past its end: CUBLAS_STATUS_EXECUTION_FAILED", "of the host: CUBLAS_STATUS_EXECUTION_FAILED", "differ: 0",
    ]  # fmt: skip
    calls = {row.function: row for row in ran.run.libraries}
    assert calls["cublasSgemm"].count == 4 and calls["cublasSgemm"].flops == 4 * 2 * 37 * 21 * 45
    assert all(row.time_us > 0 for row in ran.run.libraries) and "by roofline, a lower bound" not in ran.output


def test_without_times_a_library_takes_none(run_source: RunSource) -> None:
    ran = run_source("blas.cu", make=("-lcublas", "-lcublasLt"), times=False)
    assert not any(row.time_us for row in ran.run.libraries) and ran.run.libraries


def test_transforms_and_random_numbers(run_source: RunSource) -> None:
    ran = run_source("transforms.cu", make=("-lcufft", "-lcurand"), times=False)
    assert ran.output.splitlines() == [
        "transforms: good", "there and back: good", "past its end: 6", "uniform: good, same", "normal: good",
        "quasi: 103",
    ]  # fmt: skip


def test_what_a_library_wrote_is_seen(run_source: RunSource) -> None:
    """Written bytes are known to checks, and a launch that reads them is no repeat."""
    options = {"make": ("-lcublas",), "times": False}
    assert run_source("blas_and_kernel.cu", check="strict", **options).output == "2 4 8 16 32 cudaSuccess\n"
    assert run_source("blas_and_kernel.cu", **options).output == "2 4 8 16 32 cudaSuccess\n"


def test_the_roofline_is_the_larger_of_two() -> None:
    gpu = find_gpu("a100")
    account = LibraryAccount(gpu, timed=True)
    assert account.roofline_us(10**12, 8, 0) == pytest.approx(10**9 / gpu.peak_gflops("f32"))
    assert account.roofline_us(1, 10**9, 0) == pytest.approx(10**6 / (gpu.dram_gb_per_s * gpu.dram_efficiency))


@pytest.mark.parametrize(
    "body",
    [
        pack_data(b"f") + pack_numbers([1, 1]), pack_data(b"f") + pack_numbers([1, 1, 7]),
        pack_data(b"f") + pack_numbers([1 << 63, 1, 0]), pack_data(b"f") + pack_numbers([1, 1 << 62, 0]),
        pack_data(b"\x1b[2J") + pack_numbers([1, 1, 0]), pack_data(b"f") + pack_numbers([1, 1, 0, 0]),
    ],
)  # fmt: skip
def test_a_lie_about_a_library_is_refused(body: bytes) -> None:
    account = LibraryAccount(find_gpu("a100"), timed=True)
    with pytest.raises(BadRequest):
        account.call(Fields(body))
    assert account.rows() == ()


def test_a_flood_of_functions_is_refused() -> None:
    account = LibraryAccount(find_gpu("a100"), timed=True)
    with pytest.raises(BadRequest, match="at most 1000 functions"):
        for i in range(1001):
            account.call(Fields(pack_data(f"f{i}".encode()) + pack_numbers([1, 1, 0])))
