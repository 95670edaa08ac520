"""What is known of one GPU: the limits of its compute capability, the rates of its SM, and the product around it.

Records only, with what follows from them by arithmetic; where the numbers stand and come from is `gpus.toml`, and
`gpus.py` reads it. What must stay true: nothing here is measured or fitted, a rate is what the hardware can do at best,
and every number of a GPU that comes with the package has a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns import GpuArch, Noun

WARP_THREADS = 32

# Kinds of arithmetic with a peak: the plain pipes, then the tensor cores by their input type (dense; f16 accumulates in
# f32 unless the name says 16). i32 and s8 are operations rather than floating-point operations.
Arithmetic = Literal[
    "f32", "f64", "f16", "i32",
    "tensor_f16", "tensor_f16_acc16", "tensor_bf16", "tensor_tf32", "tensor_s8", "tensor_f64",
]  # fmt: skip
ARITHMETIC: tuple[Arithmetic, ...] = (
    "f32", "f64", "f16", "i32",
    "tensor_f16", "tensor_f16_acc16", "tensor_bf16", "tensor_tf32", "tensor_s8", "tensor_f64",
)  # fmt: skip


def _positive(meaning: str) -> int:
    return Field(gt=0, strict=True, description=meaning)


def _count(meaning: str) -> int:
    return Field(ge=0, strict=True, description=meaning)


class GpuLimits(Noun):
    """What a block and an SM of one compute capability may hold."""

    capability: str = Field(pattern=r"^[0-9]+\.[0-9]$", description="compute capability")
    threads_per_block: int = _positive("threads of a block at most")
    warps_per_sm: int = _positive("warps resident on an SM at most")
    blocks_per_sm: int = _positive("blocks resident on an SM at most")
    registers_per_sm: int = _positive("32-bit registers of an SM")
    registers_per_block: int = _positive("registers of a block at most")
    registers_per_thread: int = _positive("registers of a thread at most")
    register_unit: int = _positive("registers are given to a warp in multiples of this")
    warp_unit: int = _positive("sub-partitions of an SM, over which the warps of a block are spread")
    shared_per_sm_bytes: int = _positive("shared memory of an SM at the largest carve-out")
    shared_per_block_bytes: int = _positive("shared memory of a block without asking for more")
    shared_per_block_optin_bytes: int = _positive("shared memory of a block that asks for more, at most")
    shared_reserved_bytes: int = _count("shared memory that the driver takes for each block")
    shared_unit_bytes: int = _positive("shared memory is given to a block in multiples of this")
    unified_bytes: int = _positive("L1 cache and shared memory of an SM together")
    carve_outs_bytes: tuple[int, ...] = Field(min_length=1, description="how much of it can be shared memory")

    @property
    def threads_per_sm(self) -> int:
        return self.warps_per_sm * WARP_THREADS

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rising = tuple(sorted(set(self.carve_outs_bytes)))
        if self.carve_outs_bytes != rising or rising[-1] != self.shared_per_sm_bytes:
            raise ValueError(f"carve_outs_bytes that rise and end at shared_per_sm_bytes ({self.shared_per_sm_bytes})")
        if self.shared_per_sm_bytes > self.unified_bytes:
            raise ValueError(f"shared_per_sm_bytes ({self.shared_per_sm_bytes}) up to unified_bytes")
        if self.shared_per_block_optin_bytes + self.shared_reserved_bytes > self.shared_per_sm_bytes:
            raise ValueError("shared_per_block_optin_bytes and shared_reserved_bytes within shared_per_sm_bytes")
        return self


class Gpu(GpuLimits):
    """One GPU. Rates are per clock and SM unless the name says otherwise, tensor rates in FMAs, latencies in clocks."""

    key: str = Field(min_length=1, description="the short name that task files use")
    name: str = Field(min_length=1, description="the name of the product")
    aliases: tuple[str, ...] = Field(default=(), description="other names it is found by")
    note: str = Field(default="", description="what to know before using it")
    sm: str = Field(min_length=1, description="the design of its SM")
    arch: GpuArch = Field(description="the architecture to compile for")
    sms: int = _positive("streaming multiprocessors")
    base_mhz: int = _positive("core clock that is kept under any load")
    boost_mhz: int = _positive("core clock when power and temperature allow")
    tensor_boost_mhz: int | None = Field(
        default=None, gt=0, strict=True, description="boost clock of tensor operations other than f64, where it differs"
    )
    load_mhz: int | None = Field(
        default=None, gt=0, strict=True, description="core clock that somebody read under load; not used for times"
    )
    schedulers: int = _positive("warp schedulers")
    issue_per_scheduler: int = _positive("instructions a scheduler issues per clock")
    fp32_lanes: int = _positive("FP32 operations started")
    fp32_lanes_shared_with_int: int = _count("of the FP32 lanes, those that INT32 uses as well")
    int32_lanes: int = _positive("INT32 operations started")
    fp64_lanes: int = _positive("FP64 operations started")
    fp16_lanes: int = _positive("FP16 operations started outside the tensor cores")
    bf16_lanes: int = Field(
        default=0, ge=0, strict=True, description="BF16 operations started outside the tensor cores; 0: as FP16"
    )
    sfu_lanes: int = _positive("special functions (reciprocal, root, exponential, sine) started")
    load_store_units: int = _positive("load and store units")
    load_store_unit_bytes: int = _positive("bytes a load and store unit moves per clock")
    shared_bytes_per_clock: int = _positive("bytes that shared memory moves")
    l1_bytes_per_clock: int = _positive("bytes that the L1 cache delivers")
    split_clocks: int = Field(
        default=0, ge=0, strict=True, description="clocks of a load whose row of bytes lies in a line more than it must"
    )
    split_sector_clocks: int = Field(
        default=0, ge=0, strict=True, description="of such a load by the read-only path, clocks of each sector"
    )
    code_l0_bytes: int = Field(
        default=0, ge=0, strict=True, description="bytes of a scheduler's instruction cache; 0 for all that is needed"
    )
    code_l1_bytes: int = Field(
        default=0, ge=0, strict=True, description="bytes of the SM's instruction cache; 0 for all that is needed"
    )
    tensor_f16: int = _count("tensor FMAs on f16, accumulating in f32")
    tensor_f16_acc16: int = _count("tensor FMAs on f16, accumulating in f16")
    tensor_bf16: int = _count("tensor FMAs on bf16")
    tensor_tf32: int = _count("tensor FMAs on tf32")
    tensor_s8: int = _count("tensor FMAs on 8-bit integers")
    tensor_f64: int = _count("tensor FMAs on f64")
    latency_shared: int = _positive("clocks from a shared load to its value")
    latency_l1: int = _positive("clocks of a global load that hits L1")
    latency_l2: int = _positive("clocks of a global load that hits L2")
    latency_dram: int = _positive("clocks of a global load from DRAM")
    constant_l15_bytes: int = Field(
        default=65536, ge=256, strict=True, description="size of the larger constant cache of an SM"
    )
    l2_port_bytes: int = Field(default=32, gt=0, strict=True, description="bytes between L2 and one SM, each way")
    l2_bytes: int = _positive("size of the L2 cache")
    l2_bytes_per_clock: int = _positive("bytes that L2 delivers to all SMs together")
    dram_gb: float = Field(gt=0, strict=True, description="memory, in GB as the vendor counts")
    dram_gb_per_s: float = Field(gt=0, strict=True, description="peak memory bandwidth in 10^9 bytes per second")
    dram_efficiency: float = Field(
        default=0.92, gt=0, le=1, strict=True, description="of the peak memory bandwidth, what a copy reaches"
    )
    power_w: float = Field(gt=0, strict=True, description="board power limit in watts")
    sources: Mapping[str, str] = Field(default_factory=dict[str, str], description="key -> where its number is from")

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.base_mhz > self.boost_mhz:
            raise ValueError(f"base_mhz ({self.base_mhz}) up to boost_mhz ({self.boost_mhz})")
        if self.fp32_lanes_shared_with_int > self.fp32_lanes:
            raise ValueError(f"fp32_lanes_shared_with_int up to fp32_lanes ({self.fp32_lanes})")
        if not self.latency_shared <= self.latency_l1 <= self.latency_l2 <= self.latency_dram:
            raise ValueError("latencies that do not fall from shared to L1 to L2 to DRAM")
        return self

    def at_clock(self, mhz: int) -> Self:
        """The same GPU with its core clock held at `mhz`, as a measurement with a locked clock has it.

        DRAM keeps its own clock; latencies stay what they are in core clocks.
        """
        clocks = ("base_mhz", "boost_mhz", "tensor_boost_mhz")
        sources = {**self.sources, **dict.fromkeys(clocks, "asked for")}
        if mhz < 1:
            raise ValueError(f"a clock of 1 MHz or more, found {mhz}")
        return self.model_copy(update={"base_mhz": mhz, "boost_mhz": mhz, "tensor_boost_mhz": None, "sources": sources})

    def fma_per_clock(self, kind: Arithmetic) -> int:
        """FMAs (or integer operations) that one SM starts per clock."""
        plain = {"f32": self.fp32_lanes, "f64": self.fp64_lanes, "f16": self.fp16_lanes, "i32": self.int32_lanes}
        return plain[kind] if kind in plain else int(getattr(self, kind))

    def boost_mhz_of(self, kind: Arithmetic) -> int:
        """The boost clock while this arithmetic runs."""
        reduced = kind.startswith("tensor_") and kind != "tensor_f64"
        return self.tensor_boost_mhz if reduced and self.tensor_boost_mhz is not None else self.boost_mhz

    def peak_gflops(self, kind: Arithmetic, mhz: float | None = None) -> float:
        """10^9 operations per second of the whole GPU, two per FMA; at boost unless a clock is given."""
        clock = self.boost_mhz_of(kind) if mhz is None else mhz
        operations = 1 if kind == "i32" else 2
        return operations * self.fma_per_clock(kind) * self.sms * clock / 1000

    def dram_bytes_per_clock(self, mhz: float | None = None) -> float:
        """Bytes of DRAM traffic per core clock, for all SMs together; at boost unless a clock is given."""
        return self.dram_gb_per_s * 1000 / (self.boost_mhz if mhz is None else mhz)

    def l2_gb_per_s(self, mhz: float | None = None) -> float:
        """What L2 delivers to all SMs together, in 10^9 bytes per second."""
        return self.l2_bytes_per_clock * (self.boost_mhz if mhz is None else mhz) / 1000

    def ridge_flops_per_byte(self, kind: Arithmetic = "f32", mhz: float | None = None) -> float:
        """Operations per byte of DRAM traffic above which arithmetic, not DRAM, is the limit."""
        return self.peak_gflops(kind, mhz) / self.dram_gb_per_s
