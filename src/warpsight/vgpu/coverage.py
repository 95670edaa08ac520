"""Which PTX forms the virtual GPU runs: every form is tried as a kernel of one instruction, nothing is looked up.

A form is executed when the front end lowers it, the core loads it and the definition has a meaning for it. A fault of
the tiny kernel (a trap, a barrier for more threads than there are) is no matter: it shows that the form was run.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from warpsight.errors import UnsupportedInstruction, WarpsightError
from warpsight.vgpu import definition, machine
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.ptx import load_ptx
from warpsight.vgpu.ptx.decode import Refused, decode
from warpsight.vgpu.ptx.forms import kernel_of

STEPS = 256  # a branch to itself must end
_BUFFER_BYTES = 4096


@dataclass(frozen=True)
class Coverage:
    """What came of one form. `reason` is that of the first step that refused it, empty when all three took it."""

    form: str
    lowers: bool
    core: bool
    definition: bool
    reason: str = ""

    @property
    def executed(self) -> bool:
        return self.lowers and self.core and self.definition


def cover(forms: Iterable[str], progress: Callable[[str], None] = lambda _: None) -> list[Coverage]:
    """Try every form once, in the given order."""
    found: list[Coverage] = []
    for form in dict.fromkeys(forms):
        if len(found) % 500 == 0:
            progress(f"{len(found)} forms tried")
        found.append(cover_form(form))
    return found


def cover_form(form: str) -> Coverage:
    """Try one form in the front end, in the core and in the definition."""
    try:
        program = load_ptx(kernel_of(form, _prologue(form)))
    except UnsupportedInstruction as refused:
        return Coverage(form, False, False, False, refused.message)
    except (KeyError, StopIteration, IndexError, ValueError):
        return Coverage(form, False, False, False, _why_not_known(form))
    core = _refusal(lambda: machine.load(program))
    meaning = _refusal(lambda: _run_definition(program))
    return Coverage(form, True, core == "", meaning == "", core or meaning)


def _why_not_known(form: str) -> str:
    """Whether it is the instruction that is unknown, or only its operands."""
    try:
        decode(form)
    except Refused as refused:
        return str(refused)
    return "no operands are known to try this form with"


def _prologue(form: str) -> str:
    """Addresses that can be accessed: the parameter's buffer, or offset 0 of a space with an array in it."""
    words = set(form.split("."))
    arrays = {"shared": ".shared .align 128 .b8 array[4096];\n", "local": ".local .align 16 .b8 array[4096];\n"}
    inside = next((space for space in ("shared", "local", "const") if {space, f"{space}::cta"} & words), "")
    names = ("%rd1", "%rd9", "%rd20")
    if inside and not form.startswith("cp."):
        return arrays.get(inside, "") + "".join(f"mov.u64 {name}, 0;\n" for name in names)
    return arrays["shared"] + "".join(f"ld.param.u64 {name}, [k_param_0];\n" for name in names)


def _run_definition(program: Program) -> None:
    memory = definition.Memory()
    address = memory.alloc("buffer", np.zeros(_BUFFER_BYTES, dtype=np.uint8).tobytes())
    params = struct.pack("<Q", address).ljust(program.param_bytes, b"\0")
    with contextlib.suppress(definition.DefinitionFault):
        definition.run(program, grid=(1, 1, 1), block=(32, 1, 1), params=params, memory=memory, max_instructions=STEPS)


def _refusal(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except UnsupportedInstruction as refused:
        return refused.message
    except WarpsightError as problem:
        return f"{type(problem).__name__}: {problem.message}"
    return ""
