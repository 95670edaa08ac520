"""Compile a CUDA text, lay out arguments, launch it on the core: shared by tests of faults, counters, honest kernels.

The kernel is always called `k`. Arguments come as a dict in the order of the kernel's parameters; arrays are
copied first, so a test may use its inputs again. Nothing here decides what is right.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import counters, machine
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.ptx import load_ptx

Dims = int | tuple[int, ...]


@dataclass(frozen=True)
class Array:
    """An array argument that is read-only, or that nothing has written yet."""

    data: NDArray[Any]
    writable: bool = True
    initialised: bool = True


def constant(data: NDArray[Any]) -> Array:
    return Array(data, writable=False)


def output(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Not yet written; the bytes are those of a poison, so that an untouched element is not mistaken for a zero."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return Array(np.full(size, 0xA5, np.uint8).view(dtype).reshape(shape), initialised=False)


@dataclass(frozen=True)
class Ran:
    program: Program
    launched: machine.Launched
    arrays: Mapping[str, NDArray[Any]]
    addresses: Mapping[str, int]

    @property
    def kinds(self) -> list[str]:
        return [f.kind for f in self.launched.faults]

    @property
    def counters(self) -> dict[str, int | float]:
        return counters.derive(counters.Selector.of(self.program), self.launched.counts)


@functools.cache
def build(source: str, gpu_arch: str = "sm_80", options: tuple[str, ...] = ()) -> Program:
    made = compile_cuda(source, gpu_arch=gpu_arch, options=options)
    assert made.ok, made.diagnostics
    return load_ptx(made.ptx, "k")


def three(dims: Dims) -> tuple[int, int, int]:
    x, y, z = ((dims,) if isinstance(dims, int) else dims) + (1,) * (2 if isinstance(dims, int) else 3 - len(dims))
    return x, y, z


def run(
    source: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    grid: Dims = 1,
    block: Dims = 32,
    shared: int = 0,
    check: bool = True,
    blocks: Sequence[int] = (),
    cores: int = 1,
    gpu_arch: str = "sm_80",
    options: tuple[str, ...] = (),
    max_instructions: int = 200_000_000,
    deadline_seconds: float = 60.0,
) -> Ran:
    """Launch kernel `k` of `source` once."""
    program = build(source, gpu_arch, options)
    memory, params = machine.GlobalMemory(), bytearray(program.param_bytes)
    arrays, addresses = dict[str, NDArray[Any]](), dict[str, int]()
    for param, (name, given) in zip(program.params, (arguments or {}).items(), strict=True):
        if isinstance(given, np.ndarray) and given.ndim:
            given = Array(given)
        if isinstance(given, Array):
            arrays[name] = given.data.copy()
            addresses[name] = memory.add(name, arrays[name], writable=given.writable, initialised=given.initialised)
            raw = addresses[name].to_bytes(8, "little")
        else:
            raw = given if isinstance(given, bytes) else np.asarray(given).tobytes()
        assert len(raw) == param.size, f"{name}: {len(raw)} bytes for a parameter of {param.size}"
        params[param.offset : param.offset + param.size] = raw
    launched = machine.launch(
        program,
        memory,
        grid=three(grid),
        block=three(block),
        params=bytes(params),
        dynamic_shared_bytes=shared,
        check=check,
        blocks=blocks,
        cores=cores,
        max_instructions=max_instructions,
        deadline_seconds=deadline_seconds,
        source=source,
    )
    return Ran(program, launched, arrays, addresses)


def honest(source: str, arguments: Mapping[str, Any] | None = None, **how: Any) -> Mapping[str, NDArray[Any]]:
    """Run a kernel without a fault: it is not accused, and gives the same bytes without checks and on two cores."""
    checked = run(source, arguments, **how)
    assert checked.launched.faults == (), [f.message + f" (line {f.line})" for f in checked.launched.faults]
    for check in (False, True):
        other = run(source, arguments, check=check, cores=2, **how)
        assert other.launched.faults == ()
        assert other.launched.output == checked.launched.output
        for name, array in checked.arrays.items():
            np.testing.assert_array_equal(other.arrays[name].view(np.uint8), array.view(np.uint8), err_msg=name)
    return checked.arrays
