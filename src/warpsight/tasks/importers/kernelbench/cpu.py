"""Which vector instructions PyTorch may use here. Its own look at /proc and /sys finds nothing inside the jail.

Without this the reference would run on the slowest code path, and every candidate would look fast.
"""

from __future__ import annotations

import functools
from pathlib import Path

AVX512 = {"avx512f", "avx512vl", "avx512bw", "avx512dq"}


@functools.cache
def capability(file: str = "/proc/cpuinfo") -> str:
    """The value of ATEN_CPU_CAPABILITY for this processor, "" where it cannot be told."""
    try:
        text = Path(file).read_text()
    except OSError:
        return ""
    line = next((line for line in text.splitlines() if line.startswith("flags")), "")
    flags = set(line.partition(":")[2].split())
    if flags >= AVX512 and "fma" in flags:
        return "avx512"
    return "avx2" if {"avx2", "fma"} <= flags else "default" if flags else ""
