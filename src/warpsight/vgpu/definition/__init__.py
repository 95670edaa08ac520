"""The meaning of the lane bytecode in NumPy and exact integers: slow, plain, and what the fast core is held to.

`run` launches a kernel, `run_lanes` a fragment on given registers. Importing this package registers every operation.
"""

from warpsight.vgpu.definition import (
    access,
    bits,
    compare,
    convert,
    floats,
    integer,
    machine_code,
    printf,
    special,
    tensor,
    warp,
)
from warpsight.vgpu.definition.launch import Result, run, run_lanes
from warpsight.vgpu.definition.memory import DefinitionFault, Memory

_FAMILIES = (access, bits, compare, convert, floats, integer, machine_code, printf, special, tensor, warp)
"""Imported for the operations they register."""

__all__ = ["DefinitionFault", "Memory", "Result", "run", "run_lanes"]
