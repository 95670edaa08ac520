"""Texts of well-known steps of a warp or block, for rewrites to put in: sums, running sums, the number of a lane."""

from __future__ import annotations

from warpsight.rewrite.launch import LaunchLine

ALL = "0xffffffffu"


def thread_number(launch: LaunchLine | None) -> str:
    """The number of a thread in its block, as its launch has it."""
    dims = launch.dims if launch is not None else None
    if dims is None or sum(one > 1 for one in dims) <= 1:
        return "threadIdx.x"
    if len(dims) < 3 or dims[2] == 1:
        return "(threadIdx.y * blockDim.x + threadIdx.x)"
    return "((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)"


def lane_number(launch: LaunchLine | None) -> str:
    dims = launch.dims if launch is not None else None
    if dims is not None and dims[0] % 32 == 0:
        return "threadIdx.x % 32"
    return f"{thread_number(launch)} % 32"


def warp_sum(name: str, step: str) -> str:
    """The sum of a variable over the warp, in its first lane."""
    return f"for (int {step} = 16; {step} > 0; {step} /= 2) {{ {name} += __shfl_down_sync({ALL}, {name}, {step}); }}"


def warp_scan(name: str, step: str, lane: str, left: str) -> str:
    """The running sum of a variable over the warp."""
    up = f"auto {left} = __shfl_up_sync({ALL}, {name}, {step}); if ({lane} >= {step}) {{ {name} += {left}; }}"
    return f"for (int {step} = 1; {step} < 32; {step} *= 2) {{ {up} }}"
