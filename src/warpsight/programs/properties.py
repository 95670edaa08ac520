"""What a program is told of its GPU: the numbers of its data sheet, and of the link to the host."""

from __future__ import annotations

from dataclasses import dataclass

from warpsight.vgpu.gpu import Gpu

BUS_BITS = 5120  # no data sheet here has it; programs print it, or multiply it with the memory clock to a bandwidth


@dataclass(frozen=True)
class HostLink:
    """How copies between host and device go, by its data sheet; what a copy reaches of it, and what one costs."""

    name: str
    gb_per_s: float
    latency_us: float = 5.0


PCIE = {
    "7.5": HostLink("PCIe 3.0 x16", 15.8), "8.0": HostLink("PCIe 4.0 x16", 31.5), "8.6": HostLink("PCIe 4.0 x16", 31.5),
    "8.9": HostLink("PCIe 4.0 x16", 31.5), "9.0": HostLink("PCIe 5.0 x16", 63.0),
}  # fmt: skip
NEWER = HostLink("PCIe 5.0 x16", 63.0)
COPY_US = 2.0  # of a copy or a fill within the device, beside its bytes


def host_link(gpu: Gpu) -> HostLink:
    return PCIE.get(gpu.capability, NEWER)


def device_numbers(gpu: Gpu, arena_bytes: int) -> list[int]:
    """In the order in which `runtime/channel.cpp` reads them."""
    major, minor = (int(part) for part in gpu.capability.split("."))
    link = host_link(gpu)
    memory_khz = round(gpu.dram_gb_per_s * 1e9 / (BUS_BITS / 8) / 2 / 1e3)
    return [
        arena_bytes, min(arena_bytes, int(gpu.dram_gb * 1e9)), major, minor, gpu.sms, gpu.boost_mhz * 1000, memory_khz,
        BUS_BITS, gpu.l2_bytes, gpu.threads_per_sm, gpu.blocks_per_sm, gpu.registers_per_sm, gpu.registers_per_block,
        gpu.shared_per_block_bytes, gpu.shared_per_block_optin_bytes, gpu.shared_per_sm_bytes,
        gpu.shared_reserved_bytes, gpu.threads_per_block, round(link.gb_per_s * 1e3), round(link.latency_us * 1e3),
        round(gpu.dram_gb_per_s * 1e3 * gpu.dram_efficiency), round(COPY_US * 1e3),
    ]  # fmt: skip
