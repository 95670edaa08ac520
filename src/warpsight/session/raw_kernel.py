"""A CUDA kernel without a task: compile a text, run it on NumPy arrays on the virtual GPU, profile it, time it.

    k = ws.kernel('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }')
    k(1, 32, x)                     # x is changed in place
    print(k.profile(1, 32, x))      # x is not changed

A launch is checked: bounds, alignment, races, uninitialised shared memory, barriers. A kernel that misbehaves raises
KernelFault and no array is changed. Says nothing of whether the results are the right ones: there is no reference.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu, program_of
from warpsight.errors import ParameterMismatch, UsageError, WarpsightError
from warpsight.lens.diagnosis import Diagnosis, diagnose
from warpsight.nouns import Build, Dim3, Fault
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.bytecode import Param
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu

DEFAULT_GPU = "a100"
Grid = int | Sequence[int]
# What a plain Python number becomes, by the type and size of the parameter. PTX tells floats from the rest.
_FLOATS = {"f32": np.float32, "f64": np.float64}
_INTEGERS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class DoesNotCompile(WarpsightError):
    """The text is no CUDA kernel; `build` has the compiler's messages with their lines."""

    def __init__(self, build: Build) -> None:
        errors = [one for one in build.diagnostics if one.severity == "error"]
        told = [f"line {one.line}: {one.message}" if one.line else one.message for one in errors]
        super().__init__("the kernel does not compile:\n" + "\n".join(told or [build.log]))
        self.build = build


class KernelFault(WarpsightError):
    """The launch did what no kernel may; `faults` has each with its kind and line. No array was changed."""

    def __init__(self, faults: Sequence[Fault], refused: str = "") -> None:
        told = [f"{fault.kind} at line {fault.line}: {fault.message}" for fault in faults]
        super().__init__("\n".join(told) or f"the launch is not possible: {refused}")
        self.faults = tuple(faults)


class RawKernel:
    """One kernel of a CUDA C++ text. Compiled when it is first needed, for each GPU it is asked about."""

    def __init__(
        self, text: str, entry: str | None = None, *, options: Sequence[str] = (), gpu: str = DEFAULT_GPU
    ) -> None:
        self.text = text
        self.options = tuple(options)
        self.gpu = find_gpu(gpu)
        self._asked = entry
        self._builds: dict[str, Build] = {}

    def build(self, gpu: str | None = None) -> Build:
        """PTX, machine code, registers and shared memory; DoesNotCompile where there is none."""
        arch = self._gpu(gpu).arch
        if arch not in self._builds:
            self._builds[arch] = compile_cuda(self.text, gpu_arch=arch, options=self.options)
        if not self._builds[arch].ok:
            raise DoesNotCompile(self._builds[arch])
        return self._builds[arch]

    @cached_property
    def entry(self) -> str:
        """The name of the kernel in the program: a C++ name is mangled there."""
        names = [use.name for use in self.build().entries]
        if self._asked is None and len(names) == 1:
            return names[0]
        asked = self._asked or ""
        fits = [name for name in names if name == asked or re.match(rf"_Z{len(asked)}{re.escape(asked)}(?!\d)", name)]
        if asked and len(fits) == 1:
            return fits[0]
        told = f"no kernel named {asked!r}" if asked else "the text has several kernels"
        raise UsageError(f"{told}; it has {', '.join(names) or 'none'}", hint="entry=NAME")

    def __call__(
        self, grid: Grid, block: Grid, *arguments: object, shared: int = 0, gpu: str | None = None, check: bool = True
    ) -> None:
        """Launch once; arrays that the kernel writes are changed in place. What it prints goes to standard output.

        Without `check` it runs faster, and races are not looked for.
        """
        chosen, build = self._gpu(gpu), self.build(gpu)
        values = self._values(build, arguments)
        done = VirtualGpu(gpu=chosen).execute(
            build, self.entry, values, _size(grid, block, shared), check=check, source_text=self.text
        )
        sys.stdout.write(done.printed)
        if done.faults or done.refused:
            raise KernelFault(done.faults, done.refused)
        for value, given in zip(values, arguments, strict=True):
            if value.writable and not value.is_scalar:
                np.copyto(cast(np.ndarray, given), done.arrays[value.name])

    def profile(
        self, grid: Grid, block: Grid, *arguments: object, shared: int = 0, gpu: str | None = None
    ) -> Diagnosis:
        """Counters, simulated time, findings. No array is changed; a kernel that faults raises CannotProfile."""
        chosen, build, size = self._gpu(gpu), self.build(gpu), _size(grid, block, shared)
        values = self._values(build, arguments)
        found = VirtualGpu(gpu=chosen).profile(build, self.entry, values, size, source_text=self.text)
        return diagnose(found, build, size, chosen)

    def time(self, grid: Grid, block: Grid, *arguments: object, shared: int = 0, gpu: str | None = None) -> float:
        """The simulated time of a launch in microseconds, of its complete run."""
        values = self._values(self.build(gpu), arguments)
        seen = VirtualGpu(gpu=self._gpu(gpu)).observe(
            self.build(gpu), self.entry, values, _size(grid, block, shared), source_text=self.text
        )
        return round(seen.time.time_us, 3)

    def _gpu(self, name: str | None) -> Gpu:
        return self.gpu if name is None else find_gpu(name)

    def _values(self, build: Build, arguments: Sequence[object]) -> tuple[Value, ...]:
        params = program_of(build.ptx, self.entry).params
        if len(arguments) != len(params):
            raise ParameterMismatch(f"{self.entry} takes {len(params)} arguments, got {len(arguments)}")
        values = tuple(_value(i, given, param) for i, (given, param) in enumerate(zip(arguments, params, strict=True)))
        arrays = [value.array for value in values if not value.is_scalar]
        for i, one in enumerate(arrays):
            if any(np.may_share_memory(one, other) for other in arrays[:i]):
                raise UsageError("two arguments share memory", hint="give each parameter an array of its own (a copy)")
        return values


def kernel(text: str, entry: str | None = None, *, options: Sequence[str] = (), gpu: str = DEFAULT_GPU) -> RawKernel:
    """A kernel of this CUDA C++ text, to be called like a function; `entry` where the text has several."""
    return RawKernel(text, entry, options=options, gpu=gpu)


def _value(index: int, given: object, param: Param) -> Value:
    name = f"argument {index}"
    if isinstance(given, np.ndarray) and given.ndim:
        array = cast("np.ndarray[Any, Any]", given)
        return Value(name, array, writable=array.flags.writeable)
    if given is None:
        return Value(name, np.array(0, np.uint64), writable=False)
    if isinstance(given, (np.generic, np.ndarray)):
        return Value(name, _fitting(name, np.asarray(cast(Any, given)), param), writable=False)
    if isinstance(given, (bool, int, float)):
        return Value(name, np.array(_number(name, given, param)), writable=False)
    raise UsageError(f"{name}: expected a NumPy array or a number, got {type(given).__name__}")


def _fitting(name: str, given: np.ndarray, param: Param) -> np.ndarray:
    """A NumPy scalar goes over bit by bit, so it must be what the kernel declares."""
    floats = param.type in _FLOATS
    plain = given.dtype.kind in "biuf"
    if given.dtype.itemsize != param.size or (plain and floats != (given.dtype.kind == "f")):
        wanted = _FLOATS[param.type].__name__ if floats else f"{param.size} bytes, no float"
        raise UsageError(f"{name}: expected {wanted}, got {given.dtype}")
    return given


def _number(name: str, given: float, param: Param) -> np.generic:
    """A Python number as the parameter wants it; one that does not fit is refused, never cut."""
    if param.type in _FLOATS:
        return _FLOATS[param.type](given)
    if isinstance(given, float):
        raise UsageError(f"{name}: expected an integer, got {given!r}", hint="int(...), or np.float32(...)")
    kind = _INTEGERS.get(param.size)
    if kind is None:
        raise UsageError(f"{name}: the parameter has {param.size} bytes", hint="give a NumPy scalar of that size")
    bits = 8 * param.size
    if not -(1 << (bits - 1)) <= given < 1 << bits:
        raise UsageError(f"{name}: {given} does not fit {bits} bits")
    return kind(given % (1 << bits))


def _size(grid: Grid, block: Grid, shared: int) -> LaunchSize:
    return LaunchSize(_dim("grid", grid), _dim("block", block), shared)


def _dim(what: str, given: Grid) -> Dim3:
    parts = (given,) if isinstance(given, int) else tuple(int(part) for part in given)
    if not 1 <= len(parts) <= 3 or any(part < 1 for part in parts):
        raise UsageError(f"{what}: expected one to three numbers of at least 1, got {given!r}")
    x, y, z = (*parts, 1, 1)[:3]
    return x, y, z
