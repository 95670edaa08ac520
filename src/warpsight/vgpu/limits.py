"""What one block may ask of a GPU, by architecture: the numbers of the CUDA programming guide's table of compute capabilities.

Only what decides whether a launch is possible at all; data sheets with rates and sizes are another matter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BlockLimits:
    shared_bytes: int
    registers: int = 65536
    registers_granule: int = 256
    threads: int = 1024


_LIMITS = {
    75: BlockLimits(shared_bytes=64 * 1024),
    80: BlockLimits(shared_bytes=163 * 1024),
    86: BlockLimits(shared_bytes=99 * 1024),
    87: BlockLimits(shared_bytes=163 * 1024),
    89: BlockLimits(shared_bytes=99 * 1024),
    90: BlockLimits(shared_bytes=227 * 1024),
    100: BlockLimits(shared_bytes=227 * 1024),
    120: BlockLimits(shared_bytes=99 * 1024),
}


def block_limits(gpu_arch: str) -> BlockLimits:
    """The limits of sm_XX (or compute_XX); of the nearest older architecture that is known when it is not."""
    number = int("".join(c for c in gpu_arch.split("_")[1] if c.isdigit()))
    known = [n for n in sorted(_LIMITS) if n <= number]
    return _LIMITS[known[-1] if known else 75]
