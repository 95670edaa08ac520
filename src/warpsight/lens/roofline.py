"""Where a timed profile stands under the roof of its GPU: arithmetic per DRAM byte, what that allows, what was reached.

Pure functions of a profile and a data sheet. The roof is the peak of the arithmetic that does most of the work, and
DRAM bandwidth times intensity; both at the boost clock, against the simulated time with its launch overhead.
"""

from __future__ import annotations

import re

from warpsight.nouns import Noun, Profile
from warpsight.vgpu.gpu import Arithmetic, Gpu
from warpsight.vgpu.schedule import mnemonic

_PLAIN = re.compile(r"^([FHD])(?:FMA|MUL|ADD)(?:2|32I|2_32I)?$")
_PLAIN_KINDS: dict[str, Arithmetic] = {"F": "f32", "H": "f16", "D": "f64"}
# Operations of a warp instruction, roughly for tensor shapes: enough to tell which arithmetic does most.
_WEIGHT = {"f32": 64, "f64": 64, "f16": 128}
_WEIGHT_TENSOR = 2048


class Roofline(Noun):
    """`intensity` is None when nothing comes from DRAM; `share` is achieved over attainable, in percent."""

    arithmetic: Arithmetic
    flops_per_dram_byte: float | None
    ridge_flops_per_byte: float
    peak_gflops: float
    attainable_gflops: float
    achieved_gflops: float
    share: float

    @property
    def under_the_slope(self) -> bool:
        """Whether DRAM bandwidth is the roof, not arithmetic."""
        return self.flops_per_dram_byte is not None and self.flops_per_dram_byte < self.ridge_flops_per_byte


def roofline(profile: Profile, gpu: Gpu) -> Roofline | None:
    """None without a time, or without floating-point operations."""
    flops, time_us = profile.counters.get("flops", 0), profile.counters.get("duration_us", 0)
    if not flops or not time_us:
        return None
    kind = dominant_arithmetic(profile, gpu)
    moved = profile.counters.get("dram_bytes", 0)
    intensity = flops / moved if moved else None
    peak = gpu.peak_gflops(kind)
    attainable = peak if intensity is None else min(peak, intensity * gpu.dram_gb_per_s)
    achieved = flops / time_us / 1000
    return Roofline(
        arithmetic=kind,
        flops_per_dram_byte=None if intensity is None else round(intensity, 4),
        ridge_flops_per_byte=round(gpu.ridge_flops_per_byte(kind), 4),
        peak_gflops=round(peak, 3),
        attainable_gflops=round(attainable, 3),
        achieved_gflops=round(achieved, 3),
        share=round(100 * achieved / attainable, 2),
    )


def dominant_arithmetic(profile: Profile, gpu: Gpu) -> Arithmetic:
    """The arithmetic that does most of a machine-code profile's operations; f32 when nothing says otherwise."""
    done: dict[Arithmetic, float] = {}
    for instruction in profile.instructions:
        kind = _arithmetic(instruction.text)
        if kind is not None and gpu.fma_per_clock(kind):
            weight = _WEIGHT.get(kind, _WEIGHT_TENSOR)
            done[kind] = done.get(kind, 0.0) + weight * instruction.counters.get("warps", 0)
    return max(done, key=lambda kind: done[kind]) if done else "f32"


def _arithmetic(text: str) -> Arithmetic | None:
    base, modifiers = mnemonic(text)
    if base.startswith("HFMA2") and "-RZ, RZ" in text:
        return None  # how the compiler writes a constant to a register
    if plain := _PLAIN.match(base):
        return _PLAIN_KINDS[plain[1]]
    if base == "DMMA":
        return "tensor_f64"
    if base == "IMMA":
        return "tensor_s8"
    if base != "HMMA":
        return None
    if "TF32" in modifiers:
        return "tensor_tf32"
    if "BF16" in modifiers:
        return "tensor_bf16"
    return "tensor_f16" if "F32" in modifiers else "tensor_f16_acc16"
