"""The finding that says stop: the kernel is near a roof of its GPU, and little is left to gain.

The roofs are DRAM and the units that do the arithmetic. A busy load/store unit or busy issue slots are none: the same
work can be done with fewer accesses and instructions.
"""

from __future__ import annotations

from warpsight.lens.findings.gains import ON_SM, POOLS, Change, busy
from warpsight.lens.findings.reading import whole
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, Profile

AT_ROOF = 0.8
_ROOFS = {
    "dram": "DRAM bandwidth",
    "fma": "the FP32 pipe",
    "tensor": "the tensor pipe",
    "fp64": "the FP64 pipe",
}


def at_roofline(profile: Profile, build: Build | None) -> Finding | None:
    """Near a roof: what is left is the part of the time in which it was not taken."""
    roof = max(_ROOFS, key=lambda name: busy(profile, name))
    if busy(profile, roof) < AT_ROOF:
        return None
    others = {name: 0.0 for name in (*POOLS, *ON_SM) if name != roof}
    return finding(
        profile,
        "at_roofline",
        f"stop: {_ROOFS[roof]} is taken {{busy_{roof}}} % of the time, little is left",
        whole(profile, f"busy_{roof}", 100.0),
        change=Change(others, waits=0.0),
        suggestion="stop here, or change what is computed: fewer bytes (a narrower type, a fused neighbour kernel)"
        if roof == "dram"
        else "stop here, or change what is computed: fewer operations, or a lower precision",
        should_move={},
    )
