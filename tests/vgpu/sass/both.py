"""Run one build twice on the core, as PTX and as machine code, on the same inputs; and compare what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.nouns import Build
from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.sass import disassemble
from warpsight.vgpu import counters, machine
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.ptx import load_ptx
from warpsight.vgpu.sass import load_sass

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89")
Arrays = Mapping[str, NDArray[Any]]


def build(source: str, gpu_arch: str, options: tuple[str, ...] = ()) -> Build:
    made = compile_cuda(source, gpu_arch=gpu_arch, options=options)
    assert made.ok, made.diagnostics
    return made


def programs(made: Build, entry: str = "k") -> tuple[Program, Program]:
    return load_ptx(made.ptx, entry), load_sass(disassemble(made.cubin), made.cubin, entry)


@dataclass(frozen=True)
class Ran:
    program: Program
    launched: machine.Launched
    arrays: dict[str, NDArray[Any]]

    @property
    def counters(self) -> dict[str, int | float]:
        return counters.derive(counters.Selector.of(self.program), self.launched.counts)


def launch(program: Program, arguments: Arrays, grid: int, block: int, shared: int = 0) -> Ran:
    """Arrays with a dimension are device arrays (copied first); those without are scalars."""
    memory, params, arrays = machine.GlobalMemory(), bytearray(program.param_bytes), dict[str, NDArray[Any]]()
    for param, (name, value) in zip(program.params, arguments.items(), strict=True):
        raw = value.tobytes()
        if value.ndim:
            arrays[name] = value.copy()
            raw = memory.add(name, arrays[name]).to_bytes(8, "little")
        params[param.offset : param.offset + param.size] = raw
    done = machine.launch(
        program,
        memory,
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        params=bytes(params),
        dynamic_shared_bytes=shared,
        cores=1,
        max_instructions=100_000_000,
        deadline_seconds=60.0,
    )
    return Ran(program, done, arrays)


def same_bits(expected: Arrays, got: Arrays) -> None:
    """Equal bit for bit; any NaN equals any other (a negated NaN keeps its bits in PTX, not always in SASS)."""
    for name, array in expected.items():
        first, second = array.reshape(-1), got[name].reshape(-1)
        words = f"u{array.itemsize}"
        differ = first.view(words) != second.view(words)
        if array.dtype.kind == "f":
            differ &= ~(np.isnan(first) & np.isnan(second))
        at = int(np.argmax(differ))
        assert not differ.any(), (
            f"{name}[{at}]: PTX {first[at]!r}, machine code {second[at]!r}; {int(differ.sum())} differ"
        )


def both(
    source: str, arguments: Arrays, gpu_arch: str, *, grid: int = 1, block: int = 32, options: tuple[str, ...] = ()
) -> tuple[Ran, Ran]:
    """Both runs, without faults and with equal results."""
    ptx, sass = (launch(p, arguments, grid, block) for p in programs(build(source, gpu_arch, options)))
    assert ptx.launched.faults == () and sass.launched.faults == (), (ptx.launched.faults, sass.launched.faults)
    same_bits(ptx.arrays, sass.arrays)
    assert ptx.launched.output == sass.launched.output
    return ptx, sass
