"""Kernel arguments in the memory of the virtual GPU: arrays at addresses, scalars and addresses as parameter bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsight.devices.device import Value
from warpsight.errors import ParameterMismatch
from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import Program


def lay_out(
    program: Program, values: Sequence[Value], *, read_in_place: bool = False
) -> tuple[machine.GlobalMemory, bytes, dict[str, np.ndarray]]:
    """Copies of the arrays in device memory and the bytes of the parameters, held to what the kernel declares.

    With `read_in_place` what may not be written is not copied: for a launch whose results nobody judges. A store there
    is a fault, and changes nothing.
    """
    if len(values) != len(program.params):
        raise ParameterMismatch(
            f"kernel {program.entry!r} takes {len(program.params)} parameters, the task gives {len(values)}",
            hint="the task's arguments must be the kernel's parameters, in order",
        )
    memory, params, arrays = machine.GlobalMemory(), bytearray(program.param_bytes), dict[str, np.ndarray]()
    for value, param in zip(values, program.params, strict=True):
        if value.is_scalar:
            raw = value.array.tobytes()
        else:
            shared = read_in_place and not value.writable and value.array.flags.writeable  # the core takes no others
            arrays[value.name] = np.ascontiguousarray(value.array) if shared else np.array(value.array, order="C")
            address = memory.add(value.name, arrays[value.name], writable=value.writable, initialised=value.initialised)
            raw = address.to_bytes(8, "little")
        if len(raw) != param.size:
            wanted = f"parameter {param.name} of {program.entry!r} has {param.size} bytes"
            raise ParameterMismatch(
                f"{wanted}, argument {value.name!r} has {len(raw)}",
                hint="make the argument's dtype in task.toml that of the kernel's parameter",
            )
        params[param.offset : param.offset + param.size] = raw
    return memory, bytes(params), arrays
