"""Modules and kernels of a program, lowered when they are first used, and their variables in device memory."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpsight.cubin.usage import read_entries
from warpsight.devices.machine_code import machine_code
from warpsight.errors import WarpsightError
from warpsight.nouns import EntryUsage
from warpsight.programs.contents import ImageContents
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.images import ptx_of
from warpsight.programs.messages import BadRequest
from warpsight.programs.texture_calls import with_calls
from warpsight.toolchain.packages import program as tool
from warpsight.toolchain.triton_assemble import assemble
from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import GRID_WORKSPACE, OPS, Program, Space
from warpsight.vgpu.machine import Dim3
from warpsight.vgpu.ptx.calls import functions_with_address
from warpsight.vgpu.ptx.layout import Layout
from warpsight.vgpu.ptx.lines import own_file
from warpsight.vgpu.ptx.link import load_module
from warpsight.vgpu.ptx.parse import Module, parse_module
from warpsight.vgpu.sass.bank import fill_bank_zero
from warpsight.vgpu.sass.image import variables_of

if TYPE_CHECKING:
    from warpsight.vgpu._core import Program as CoreProgram

ASSEMBLE_S = 120.0
_MAXNTID = re.compile(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
WORKSPACE_BYTES = 64
MOST_CONSTANT_BYTES, MOST_SHARED_BYTES, MOST_LOCAL_BYTES, MOST_PARAM_BYTES = 64 << 10, 256 << 10, 512 << 10, 32764


@dataclass(frozen=True)
class HostVariable:
    """A variable that the program registered, and where it put it."""

    address: int
    size: int
    constant: bool


@dataclass
class LoadedModule:
    """One image of the program. `no_value` says why a variable has none; whoever uses it is refused. `given` is machine
    code that came without PTX: then that is what runs."""

    ptx: str
    parsed: Module | None
    problem: str
    variables: dict[str, HostVariable]
    addresses: dict[str, int] = field(default_factory=dict[str, int])
    kernels: dict[str, LoadedKernel] = field(default_factory=dict[str, "LoadedKernel"])
    no_value: dict[str, str] = field(default_factory=dict[str, str])
    given: bytes = b""

    @functools.cached_property
    def _machine_code(self) -> dict[str, bytes]:
        return {}

    def cubin(self, arch: str) -> bytes:
        """Machine code for an architecture, assembled once. Raises what the assembler says."""
        if self.given:
            return self.given
        if arch not in self._machine_code:
            ptxas = tool("ptxas", "nvidia-cuda-nvcc")
            self._machine_code[arch] = assemble(self.ptx, arch, ASSEMBLE_S, ptxas)[0]
        return self._machine_code[arch]

    def usage(self, arch: str, entry: str) -> EntryUsage:
        return next(use for use in read_entries(self.cubin(arch)) if use.name == entry)


@dataclass(frozen=True)
class LoadedKernel:
    """One kernel, in the core's form too; `constants` are the registered variables in constant memory. Of machine code
    `core` is made for each launch, since sizes and arguments stand in it: see `core_of`."""

    name: str
    program: Program
    core: CoreProgram
    core_meeting: CoreProgram | None
    constants: tuple[tuple[int, int, HostVariable], ...]
    uses_heap: bool
    source: Path | None
    max_threads: int
    consts: NDArray[np.uint32] | None = None  # of machine code, with addresses in place

    def core_of(self, grid: Dim3, block: Dim3, params: bytes, *, check: bool) -> CoreProgram:
        if self.consts is None or not self.program.bank0:
            return self.core
        return machine.load(self.program, fill_bank_zero(self.program, self.consts, grid, block, params), check=check)


def read_module(image: bytes, variables: dict[str, HostVariable], memory: DeviceMemory) -> LoadedModule:
    """A module with its variables' first values in place; what is wrong with it is told when a kernel is asked for."""
    addresses = {name: v.address for name, v in variables.items()}
    try:
        ptx = with_calls(ptx_of(image))
        parsed = parse_module(ptx)
        _check_variables(parsed)
    except WarpsightError as problem:
        return LoadedModule("", None, str(problem), variables, addresses)
    return _with_values(LoadedModule(ptx, parsed, "", variables, addresses), parsed, memory)


def _with_values(module: LoadedModule, parsed: Module, memory: DeviceMemory) -> LoadedModule:
    """The module with the first values of its variables in place."""
    for name, variable in module.variables.items():
        memory.name(variable.address, name)
        try:
            _place_first_value(module, parsed, name, variable, memory)
        except WarpsightError as problem:
            module.no_value[name] = str(problem)
    return module


def load_contents(found: ImageContents, variables: dict[str, HostVariable], memory: DeviceMemory) -> LoadedModule:
    """A module that the program loaded itself."""
    addresses = {name: v.address for name, v in variables.items()}
    if found.parsed is None:
        module = LoadedModule("", None, "", variables, addresses, given=found.cubin)
        _place_of_cubin(module, memory)
        return module
    try:
        _check_variables(found.parsed)
    except WarpsightError as problem:
        return LoadedModule("", None, str(problem), variables, addresses)
    return _with_values(LoadedModule(found.ptx, found.parsed, "", variables, addresses), found.parsed, memory)


def _place_of_cubin(module: LoadedModule, memory: DeviceMemory) -> None:
    """First values of the variables of machine code."""
    symbols, moves = variables_of(module.given)
    for symbol in symbols:
        variable = module.variables.get(symbol.name)
        if variable is not None and variable.size >= len(symbol.data):
            memory.name(variable.address, symbol.name)
            memory.view(variable.address, len(symbol.data))[:] = np.frombuffer(symbol.data, np.uint8)
    for move in moves:
        holder = module.variables.get(move.in_symbol)
        if holder is not None and move.symbol in module.addresses and 0 <= move.at <= holder.size - 8:
            value = (module.addresses[move.symbol] + move.addend) & ((1 << 64) - 1)
            memory.view(holder.address + move.at, 8)[:] = np.frombuffer(value.to_bytes(8, "little"), np.uint8)


def _check_variables(parsed: Module) -> None:
    """Sizes that no GPU has are refused before anything of that size is made."""
    for name, (space, *_) in parsed.raw_variables.items():
        most = {"const": MOST_CONSTANT_BYTES, "shared": MOST_SHARED_BYTES}.get(space, machine.MOST_VARIABLE_BYTES)
        found = parsed.variable(name)
        if found is not None and found.size > most:
            raise WarpsightError(f"variable {name} has {found.size} bytes, .{space} memory takes {most}")


def _check_sizes(program: Program) -> None:
    for what, size, most in (
        ("shared memory", program.shared_bytes, MOST_SHARED_BYTES),
        ("local memory a thread", program.local_bytes, MOST_LOCAL_BYTES),
        ("constants", len(program.const_data), MOST_CONSTANT_BYTES),
        ("parameters", program.param_bytes, MOST_PARAM_BYTES),
    ):
        if size > most:
            raise WarpsightError(f"kernel {program.entry} has {size} bytes of {what}, a GPU takes {most}")


def _place_first_value(
    module: LoadedModule, parsed: Module, name: str, variable: HostVariable, memory: DeviceMemory
) -> None:
    found = parsed.variable(name)
    if found is None or not found.init or variable.size < found.size:
        return
    layout = Layout(parsed)
    layout.function_index = {function: i for i, function in enumerate(functions_with_address(parsed))}
    layout.find(name)
    data = next(s.data for s in layout.symbols if s.name == name) or b""
    if not data and found.space == "const":
        data = bytes(layout.const_data[layout.places[name].offset :][: found.size])
    memory.view(variable.address, len(data))[:] = np.frombuffer(data, np.uint8)
    for move in layout.relocations:
        if move.in_symbol == name and move.symbol in module.addresses:
            value = (module.addresses[move.symbol] + move.addend).to_bytes(8, "little")
            memory.view(variable.address + move.at, 8)[:] = np.frombuffer(value, np.uint8)


def load_kernel(module: LoadedModule, name: str, memory: DeviceMemory, *, check: bool) -> LoadedKernel:
    """A kernel of a module, loaded once. Raises WarpsightError for what the virtual GPU does not run."""
    if name in module.kernels:
        return module.kernels[name]
    if module.given:
        module.kernels[name] = _of_machine_code(module, name, memory, check=check)
        return module.kernels[name]
    if module.parsed is None or module.problem:
        raise WarpsightError(module.problem)
    if name not in module.parsed.functions:
        raise BadRequest(f"the module has no kernel {name}")
    program = load_module(module.parsed, name)
    for symbol in program.symbols:
        if symbol.name in module.no_value:
            raise WarpsightError(f"variable {symbol.name} has no first value: {module.no_value[symbol.name]}")
    _check_sizes(program)
    _place_variables(module, program, memory)
    alone = {symbol: at for symbol, at in module.addresses.items() if symbol != GRID_WORKSPACE}
    core = machine.load(program, machine.patched_consts(program, alone), check=check)
    meeting = None
    if any(move.symbol == GRID_WORKSPACE for move in program.relocations):
        if GRID_WORKSPACE not in module.addresses:
            module.addresses[GRID_WORKSPACE] = memory.take(WORKSPACE_BYTES, GRID_WORKSPACE)
        meeting = machine.load(program, machine.patched_consts(program, module.addresses), check=check)
    kernel = LoadedKernel(
        name, program, core, meeting, _constants(module, program),
        OPS["MALLOC"].number in program.code["op"], _source(module.parsed, name), _most_threads(module.parsed, name),
    )  # fmt: skip
    module.kernels[name] = kernel
    return kernel


def _of_machine_code(module: LoadedModule, name: str, memory: DeviceMemory, *, check: bool) -> LoadedKernel:
    code = machine_code(module.given, name)
    if code.program is None:
        raise WarpsightError(
            f"its machine code has what is not read here: {code.reason}", "load PTX instead of a cubin"
        )
    program = code.program
    _check_sizes(program)
    _place_variables(module, program, memory)
    consts = machine.patched_consts(program, module.addresses)
    most = module.usage("", name).max_threads
    return LoadedKernel(
        name, program, machine.load(program, consts, check=check), None, _constants(module, program),
        OPS["MALLOC"].number in program.code["op"], None, most or 1024, consts,
    )  # fmt: skip


def _place_variables(module: LoadedModule, program: Program, memory: DeviceMemory) -> None:
    """Room for the variables that host code does not know, such as those of functions, once a module."""
    new = [s for s in program.symbols if s.space is Space.GLOBAL and s.name not in module.addresses]
    for symbol in new:
        module.addresses[symbol.name] = memory.take(max(symbol.size, 1), symbol.name)
        memory.view(module.addresses[symbol.name], len(symbol.data))[:] = np.frombuffer(symbol.data, np.uint8)
    names = {symbol.name for symbol in new}
    for move in program.relocations:
        if move.in_symbol in names and move.symbol in module.addresses:
            value = (module.addresses[move.symbol] + move.addend).to_bytes(8, "little")
            memory.view(module.addresses[move.in_symbol] + move.at, 8)[:] = np.frombuffer(value, np.uint8)


def _constants(module: LoadedModule, program: Program) -> tuple[tuple[int, int, HostVariable], ...]:
    found = [(s, module.variables.get(s.name)) for s in program.symbols if s.space is Space.CONST]
    return tuple((s.offset, min(s.size, v.size), v) for s, v in found if v is not None)


def _source(parsed: Module, name: str) -> Path | None:
    file = parsed.files.get(own_file(parsed.functions[name].body or ""))
    return None if file is None else Path(file)


def _most_threads(parsed: Module, name: str) -> int:
    found = _MAXNTID.search(parsed.functions[name].directives)
    return 1024 if found is None else int(found[1]) * int(found[2] or 1) * int(found[3] or 1)
