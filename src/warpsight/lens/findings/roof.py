"""The finding that says stop: the kernel is near a roof of its GPU, and little is left to gain.

The roofs are DRAM and the units that do the arithmetic. A busy load/store unit or busy issue slots are none: the same
work can be done with fewer accesses and instructions.
"""

from __future__ import annotations

from warpsight.lens.findings.gains import busy
from warpsight.lens.findings.reading import whole
from warpsight.nouns import Build, Finding, Profile

AT_ROOF = 0.8
_ROOFS = {
    "dram": "DRAM bandwidth",
    "fma": "the FP32 units",
    "tensor": "the tensor units",
    "fp64": "the FP64 units",
}


def at_roofline(profile: Profile, build: Build | None) -> Finding | None:
    """Near a roof: what is left is the part of the time in which it was not taken."""
    roof = max(_ROOFS, key=lambda name: busy(profile, name))
    share = busy(profile, roof)
    if share < AT_ROOF:
        return None
    return Finding(
        name="at_roofline",
        message=f"stop: {_ROOFS[roof]} is taken {100 * share:.0f} % of the time, little is left",
        evidence=(*whole(profile, f"busy_{roof}", 100.0),),
        estimated_gain=round(max(1.0, 1 / share), 3),
        suggestion="stop here, or change what is computed: fewer bytes (a narrower type, a fused neighbour kernel)"
        if roof == "dram"
        else "stop here, or change what is computed: fewer operations, or a lower precision",
    )
