"""One launch on both executors: the core and the definition get the same bytes and must leave the same bytes, counts,
text and fault.

Global variables are compared too; the device heap is not (its addresses are each executor's own business).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.vgpu.run import Array, Dims, build, three

from warpsight.nouns import Fault
from warpsight.vgpu import counters, definition, machine
from warpsight.vgpu.bytecode import Flag, Program

COUNTED = ("warps", "threads", "threads_on")


@dataclass(frozen=True)
class Made:
    """What one executor made of a launch. `fault` is (kind, instruction, line, thread, block); hidden instructions are
    not counted.
    """

    arrays: Mapping[str, NDArray[np.uint8]]
    counts: NDArray[np.int64]
    output: str
    fault: tuple[str, str, int, int, int] | None


def run_both(
    program: Program,
    arguments: Mapping[str, Any],
    *,
    grid: Dims = 1,
    block: Dims = 32,
    shared: int = 0,
    blocks: Sequence[int] = (),
    max_instructions: int = 200_000,
) -> tuple[Made, Made]:
    """(core, definition) of one launch; arguments are arrays, `Array`s or scalars in the order of the parameters."""
    core_memory, memory = machine.GlobalMemory(), definition.Memory()
    params = bytearray(program.param_bytes)
    for param, (name, given) in zip(program.params, arguments.items(), strict=True):
        raw = _place(name, given, core_memory, memory)
        assert len(raw) == param.size, f"{name}: {len(raw)} bytes for a parameter of {param.size}"
        params[param.offset : param.offset + param.size] = raw
    how = {"grid": three(grid), "block": three(block), "params": bytes(params), "max_instructions": max_instructions}
    core = _run_core(program, core_memory, dict(how, dynamic_shared_bytes=shared, blocks=blocks))
    addresses = {r.name: (r.address, r.data.size) for r in core_memory.regions if not r.name.startswith("(")}
    return core, _run_definition(program, memory, addresses, dict(how, shared_bytes=shared, blocks=blocks or None))


def _place(name: str, given: Any, core_memory: machine.GlobalMemory, memory: definition.Memory) -> bytes:
    if isinstance(given, np.ndarray) and given.ndim:
        given = Array(given)
    if not isinstance(given, Array):
        return given if isinstance(given, bytes) else np.asarray(given).tobytes()
    address = core_memory.add(name, given.data.copy(), writable=given.writable)
    assert address == memory.alloc(name, given.data, writable=given.writable), "both lay out memory alike"
    return address.to_bytes(8, "little")


def _run_core(program: Program, memory: machine.GlobalMemory, how: dict[str, Any]) -> Made:
    done = machine.launch(program, memory, cores=1, **how)
    fault = _named(done.faults[0], how["grid"], how["block"]) if done.faults else None
    counts = done.counts[:, [counters.INDEX[name] for name in COUNTED]].T.astype(np.int64)
    arrays = {r.name: r.data for r in memory.regions if not r.name.startswith("(")}
    return Made(arrays, _visible(program, counts), done.output, fault)


def _named(f: Fault, grid: tuple[int, ...], block: tuple[int, ...]) -> tuple[str, str, int, int, int]:
    assert f.thread is not None and f.block is not None
    thread, number = (x + size[0] * (y + size[1] * z) for (x, y, z), size in ((f.thread, block), (f.block, grid)))
    return f.kind, f.instruction or "", f.line or 0, thread, number


def _run_definition(
    program: Program, memory: definition.Memory, addresses: Mapping[str, tuple[int, int]], how: dict[str, Any]
) -> Made:
    counts, output, fault = np.zeros((len(COUNTED), len(program.code)), np.int64), "", None
    try:
        done = definition.run(program, memory=memory, **how)
        counts, output = np.stack([done.warps, done.threads, done.threads_on]), done.output
    except definition.DefinitionFault as f:
        fault = (f.kind, program.texts[f.instruction], int(program.lines[f.instruction]), f.thread, f.block)
    arrays = {n: np.frombuffer(memory.read(at, size), np.uint8) for n, (at, size) in addresses.items()}
    return Made(arrays, _visible(program, counts), output, fault)


def _visible(program: Program, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return counts[:, (program.code["flags"] & Flag.HIDDEN) == 0]


def assert_agree(program: Program, arguments: Mapping[str, Any], **how: Any) -> Mapping[str, NDArray[np.uint8]]:
    """A launch without a fault, equal in both; the bytes of its arrays."""
    core, meaning = run_both(program, arguments, **how)
    assert core.fault is None and meaning.fault is None, (core.fault, meaning.fault)
    for name, ours in core.arrays.items():
        theirs = meaning.arrays[name]
        apart = np.flatnonzero(ours != theirs)
        assert not apart.size, (
            f"{apart.size} bytes of {name!r} differ, first byte {apart[0]}: {ours[apart]} {theirs[apart]}"
        )
    assert core.output == meaning.output
    texts = np.array(program.texts)[(program.code["flags"] & Flag.HIDDEN) == 0]
    apart = np.flatnonzero((core.counts != meaning.counts).any(axis=0))
    assert not apart.size, f"{texts[apart[0]]!r}: {core.counts[:, apart[0]]} is not {meaning.counts[:, apart[0]]}"
    return core.arrays


def cuda(
    source: str, arguments: Mapping[str, Any], *, gpu_arch: str = "sm_80", **how: Any
) -> Mapping[str, NDArray[np.uint8]]:
    """`assert_agree` for kernel `k` of a CUDA text."""
    return assert_agree(build(source, gpu_arch), arguments, **how)
