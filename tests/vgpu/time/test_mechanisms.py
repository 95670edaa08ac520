"""Single mechanisms of the time model, each on a kernel made for it; each can be left out by its name in TERMS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from benchmarks.pairs.first_line import read_kernel
from benchmarks.timed import timed

from warpsight.devices.device import Value
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.schedule import OPERAND, REUSE, Pipe, StepKind, operands_read, step_row
from warpsight.vgpu.timemodel import STEP_BUDGET, TERMS, PredictedTime

N = 1 << 20


def run(
    body: str,
    gpu: str = "a100",
    *,
    grid: tuple[int, int, int] = (N // 256, 1, 1),
    block: tuple[int, int, int] = (256, 1, 1),
    before: str = "",
    n: int = N,
    without: Sequence[str] = (),
    step_budget: int = STEP_BUDGET,
) -> PredictedTime:
    """The draft of `k(const float *x, float *y, int n)` with this body, `i` being the thread in the grid's x."""
    assert set(without) <= set(TERMS)
    text = (
        f"// launch: grid=(1) block=(1) shared=0\n{before}\n"
        'extern "C" __global__ void k(const float *__restrict__ x, float *__restrict__ y, int n) {\n'
        f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    {body}\n}}\n"
    )
    values = [
        Value("x", np.zeros(n, np.float32), writable=False),
        Value("y", np.zeros(n, np.float32), writable=True),
        Value("n", np.array(n, np.int32), writable=False),
    ]
    size = LaunchSize(grid, block, 0)
    return timed(read_kernel(text), "k", find_gpu(gpu), values, size, without=without, step_budget=step_budget)


@pytest.mark.parametrize("gpu", ["t4", "a100"])
def test_a_constant_operand_is_no_access_of_the_step_before(gpu: str) -> None:
    """`FFMA R, R, c[3][..]` needs no more time than with the number itself, and stores stay stores."""
    body = "float s = x[i];\n#pragma unroll\nfor (int j = 0; j < 64; ++j) s = s * {} + s; y[i] = s;"
    held = run(body.format("c[j]"), gpu, before="__constant__ float c[64];")
    plain = run(body.format("(1.5f + j)"), gpu)
    assert held.l2_bytes == plain.l2_bytes == 8 * N
    assert held.dram_bytes == plain.dram_bytes == 8 * N
    assert held.time_us == pytest.approx(plain.time_us, rel=0.02)


def test_a_trace_that_runs_again_does_not_find_its_own_data() -> None:
    """With so few steps only one filling is traced, and the others are replayed."""
    body, n = "float s = 0; for (int j = 0; j < 4; ++j) s += x[4 * i + j * 0]; y[i] = s;", 1 << 22
    moved, stayed = (
        run(body, n=n, step_budget=2000, grid=(n // 1024, 1, 1), without=w) for w in ((), ("ends of traces",))
    )
    assert any("runs them again" in note for note in moved.notes)
    assert moved.l1_hit_rate == 0.0 < stayed.l1_hit_rate


UNEVEN = """
__shared__ float s[4096]; float v = x[i & (n - 1)];
for (int j = 0; j < 40 + 60 * (blockIdx.x % 3); ++j) { s[threadIdx.x] = v; __syncthreads(); v += s[threadIdx.x ^ 1]; }
y[i & (n - 1)] = v;
"""


def test_the_pace_is_followed_until_it_settles_and_its_spread_is_told() -> None:
    """Blocks of three lengths: the second filling alone is not the pace of the launch."""
    few, settled = (run(UNEVEN, grid=(108 * 240, 1, 1), block=(1024, 1, 1), without=w) for w in (("settled pace",), ()))
    assert settled.simulated_cycles > few.simulated_cycles
    assert 0.0 < settled.spread < 0.2


TILES = "int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y; float s = 0;"
HALO = TILES + "for (int j = 0; j < 24; ++j) s += x[(r + j) * 4096 + c]; y[r * 4096 + c] = s;"
PRODUCT = (
    TILES
    + "for (int j = 0; j < 512; j += 8) s += x[r * 512 + j] * x[(j + threadIdx.y) * 4096 + c]; y[r * 4096 + c] = s;"
)


@pytest.mark.parametrize(("body", "loaded"), [(HALO, 4096 * 535), (PRODUCT, 4096 * 512)])
def test_what_tiles_share_in_y_comes_from_dram_once(body: str, loaded: int) -> None:
    """512 rows of tiles: with their halo, or all of one array in each of them."""
    n = 4096 * 600
    both, flat = (
        run(body, grid=(128, 64, 1), block=(32, 8, 1), n=n, without=w) for w in ((), ("footprints in two directions",))
    )
    assert both.dram_bytes == pytest.approx(4 * (loaded + 4096 * 512), rel=0.05)
    assert flat.dram_bytes > both.dram_bytes


def test_stores_after_the_part_that_was_kept_are_counted() -> None:
    body = "float s = 0; for (int j = 0; j < 4096; ++j) s = s * 0.5f + x[(i + j) & (n - 1)]; y[i] = s;"
    cut = run(body, step_budget=30_000)
    assert any("only the first" in note for note in cut.notes)
    assert cut.dram_bytes >= 4 * N


def test_reductions_cost_what_atomics_cost_on_an_h100() -> None:
    """REDG there, RED on an A100: 2^20 additions to 64 words, and one operation of a slice for each."""
    free = run("y[i] = x[i];", "h100")
    for gpu in ("h100", "a100"):
        met = run("atomicAdd(y + (i & 63), x[i]);", gpu)
        assert met.bound == "atomics on one address"
        assert met.time_us > 4 * free.time_us


@pytest.mark.parametrize(
    ("text", "gpu", "kind", "pipe"),
    [
        ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5", "h100", StepKind.GLOBAL_ATOMIC, Pipe.MEMORY),
        ("REDUX.SUM UR4, R3", "a100", StepKind.PLAIN, Pipe.SFU),
        ("F2F.F64.F32 R2, R3", "rtx-a6000", StepKind.PLAIN, Pipe.FP64),
        ("F2F.F64.F32 R2, R3", "a100", StepKind.PLAIN, Pipe.SFU),
        ("VIADDMNMX R2, R3, R4, R5, PT", "h100", StepKind.PLAIN, Pipe.ALU),
    ],
)
def test_which_unit_an_instruction_takes(text: str, gpu: str, kind: StepKind, pipe: Pipe) -> None:
    row = step_row(text, find_gpu(gpu))
    assert (row.kind, row.pipe) == (kind, pipe)


def test_a_full_dram_is_waited_for_inside_the_sm() -> None:
    """A copy goes at what copies reach of the peak, and its warps wait for memory all the while."""
    n, copy = 1 << 23, "float4 v = ((const float4 *)x)[i]; ((float4 *)y)[i] = v;"
    full, apart = (
        run(copy, "rtx-a6000", n=n, grid=(n // 1024, 1, 1), without=w) for w in ((), ("bandwidth in the SM",))
    )
    gpu = find_gpu("rtx-a6000")
    at_best = 8 * n / (gpu.dram_gb_per_s * gpu.dram_efficiency * 1e3)
    assert at_best <= full.time_us - 3.0 <= 1.1 * at_best
    assert full.stall_share["long_scoreboard"] >= apart.stall_share["long_scoreboard"]
    assert full.sm_cycles > 1.2 * apart.sm_cycles


SPILLS = "float a[256]; for (int j = 0; j < 256; ++j) a[j] = x[(i + j) & (n - 1)]; float s = 0;"


def test_local_memory_beyond_l2_goes_to_dram() -> None:
    """Every place for a warp has its own 1 KB a thread: far more than the L2 of a T4 for all of them."""
    body = SPILLS + "for (int j = 0; j < 256; ++j) s += a[(j * n + i) & 255]; y[i & (n - 1)] = s;"
    spilled, kept = (run(body, "t4", n=1 << 16, grid=(1024, 1, 1), without=w) for w in ((), ("local memory",)))
    stored = 1024 * 256 * 256 * 4
    assert spilled.dram_bytes > stored > kept.dram_bytes


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("FFMA R12, R4.reuse, R8, R12 ;", [4 | OPERAND | REUSE, 8 | OPERAND, 12 | OPERAND]),
        ("@!P0 IADD3 R1, R2, 0x4, RZ ;", [2 | OPERAND, 0, 0]),
        ("ISETP.GE.AND P0, PT, R3, R4, PT ;", [3 | OPERAND, 4 | OPERAND, 0]),
        ("FFMA R0, -R3.reuse, c[0x3][0x4], |R5| ;", [3 | OPERAND | REUSE, 0, 5 | OPERAND]),
    ],
)
def test_the_registers_that_arithmetic_reads(text: str, read: list[int]) -> None:
    assert list(operands_read(text)) == read


def test_three_registers_of_two_banks_need_more_than_a_clock() -> None:
    """FFMA of three different registers, from 16 warps: six reads in four clocks of two banks, if none is kept."""
    body = "float a[8]; for (int j = 0; j < 8; ++j) a[j] = x[i + j];\n#pragma unroll 1\nfor (int t = 0; t < 64; ++t)\n"
    body += "#pragma unroll\nfor (int j = 0; j < 8; ++j) a[j] = a[j] * a[(j + 1) & 7] + a[(j + 3) & 7];\n"
    body += "float s = 0; for (int j = 0; j < 8; ++j) s += a[j]; y[i] = s;"
    banks, free = (run(body, "rtx-a6000", n=1 << 22, without=w) for w in ((), ("register banks",)))
    assert banks.sm_cycles > 1.1 * free.sm_cycles


ROW = "float s = 0; for (int j = 0; j < 64; ++j) s += {}[(threadIdx.x & 31) + {} + 32 * (j & 31)]; y[i] = s;"


@pytest.mark.parametrize(
    ("gpu", "first", "slower"),
    [("rtx-a6000", 0, 1.0), ("rtx-a6000", 1, 1.5), ("rtx-a6000", 8, 1.0), ("a100", 0, 1.0), ("a100", 1, 2.5)],
)
def test_the_read_only_path_moves_whole_sectors(gpu: str, first: int, slower: float) -> None:
    """A row of 128 bytes that begins inside a sector lies in five; `x` is read through that path, `y` is not."""
    read_only, plain = (run(ROW.format(array, first), gpu) for array in "xy")
    assert plain.shares["load/store unit"] > 0.8
    assert read_only.sm_cycles / plain.sm_cycles == pytest.approx(slower, rel=0.1)


def test_rows_of_bytes_over_two_lines_take_two_clocks_on_an_a100() -> None:
    aligned, split, without = (
        run(ROW.format("y", first), without=w).sm_cycles for first, w in ((0, ()), (1, ()), (1, ("split loads",)))
    )
    assert split / aligned == pytest.approx(2.0, rel=0.1)
    assert without == pytest.approx(aligned, rel=0.1)


@pytest.mark.parametrize(("kind", "clocks"), [("int", 1.3), ("float", 3.1)])
def test_atomics_at_many_addresses_take_the_slices_of_l2(kind: str, clocks: float) -> None:
    """No two meet, and yet each sector takes its slice for longer than a store would."""
    body = f"atomicAdd(({kind} *)y + i, ({kind})1);"
    by_slice, as_stores = (run(body, without=w).shares["L2 bandwidth"] for w in ((), ("atomics by slice",)))
    told = run(body).cycles / run(body, without=("atomics by slice",)).cycles
    assert by_slice * told / as_stores == pytest.approx(clocks, rel=0.01)


PAIRS = """
__shared__ float s[64]; float v = x[i & 1023]; int half = threadIdx.x / 64;
for (int j = 0; j < 16; ++j) {
    if (half) { asm volatile("bar.sync 1, 128;" ::: "memory"); v += s[threadIdx.x & 63]; }
    else {
        for (int k = 0; k < 200; ++k) v = v * 1.01f + 0.5f;
        s[threadIdx.x & 63] = v;
        EARLY
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
    if (half) for (int k = 0; k < 200; ++k) v = v * 1.01f + 0.5f;
    asm volatile("bar.sync 2, 128;" ::: "memory");
}
y[i & 1023] = v;
"""


def test_a_barrier_lets_go_only_those_who_wait_at_it() -> None:
    """One half of the block needs what the other made; a barrier among the makers changes nothing of that."""
    early = 'asm volatile("bar.sync 3, 64;" ::: "memory");'
    plain, other = (
        run(PAIRS.replace("EARLY", text), grid=(108, 1, 1), block=(128, 1, 1)).sm_cycles for text in ("", early)
    )
    alone = run("float v = x[i & 1023]; for (int k = 0; k < 3200; ++k) v = v * 1.01f + 0.5f; y[i & 1023] = v;",
                grid=(108, 1, 1), block=(128, 1, 1)).sm_cycles  # fmt: skip
    assert plain > 1.8 * alone
    assert other >= plain


def test_a_barrier_that_no_lane_reaches_is_not_waited_for() -> None:
    body = "float v = x[i];\n#pragma unroll 1\nfor (int j = 0; j < 200; ++j) {{ v = v * 1.01f + 0.5f; {} }} y[i] = v;"
    never = 'asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p bar.sync 0; }" :: "r"(n + j) : "memory");'
    with_it, without = (run(body.format(text), grid=(108, 1, 1)).sm_cycles for text in (never, ""))
    assert with_it < 1.5 * without


def test_code_that_does_not_fit_comes_from_l2_again_and_again() -> None:
    """Straight code of about 100 KiB, twice what a T4 keeps, and a little that it does keep."""
    body = "float s = x[i];\n#pragma unroll\nfor (int j = 0; j < {}; ++j) s = s * (1.5f + j) + s; y[i] = s;"
    whole, apart = (run(body.format(6400), "t4", without=w) for w in ((), ("instruction cache",)))
    assert whole.l2_bytes > 2 * apart.l2_bytes == 2 * 8 * N
    assert whole.stall_share["no_instruction"] > 0.1 > apart.stall_share["no_instruction"] == 0
    assert whole.time_us > 1.05 * apart.time_us
    small, plain = (run(body.format(640), "t4", without=w) for w in ((), ("instruction cache",)))
    assert small.l2_bytes == plain.l2_bytes
    assert small.time_us == pytest.approx(plain.time_us, rel=0.02)


def test_bfloat16_has_half_the_rate_of_half_precision_on_ga100_alone() -> None:
    half, brain = "HFMA2.MMA R1, R2, R3, R4", "HFMA2.BF16_V2 R1, R2, R3, R4"
    a100, a6000 = find_gpu("a100"), find_gpu("rtx-a6000")
    assert step_row(brain, a100).interval == 2 * step_row(half, a100).interval
    assert step_row(brain, a6000).interval == step_row(half, a6000).interval
    assert step_row("MATCH.ANY R1, R2", a100).interval > step_row("VOTE.ANY R1, PT, P0", a100).interval
