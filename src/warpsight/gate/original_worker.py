"""The process that runs one original kernel on the virtual GPU, in the jail: its PTX first, then launch after launch.

Started as a file of its own, with the places of the package `warpsight.vgpu` as arguments. A frame holds a 4-byte
length, a JSON header, then raw array bytes. No second PTX is ever taken.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT.parent), str(ROOT / "jail")]
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

import numpy as np  # noqa: E402

import warpsight.vgpu  # noqa: E402

warpsight.vgpu.__path__.extend(place for place in sys.argv[1:] if place not in warpsight.vgpu.__path__)
from warpsight.vgpu import _core, machine  # noqa: E402
from warpsight.vgpu.bytecode import Program  # noqa: E402
from warpsight.vgpu.ptx import load_ptx  # noqa: E402

assert _core is not None
MOST_INSTRUCTIONS = 1 << 40


def launch(program: Program, header: dict[str, Any], request: bytes, at: int) -> list[bytes]:
    """One launch: the header of an answer, and the bytes of what was written."""
    memory, params = machine.GlobalMemory(), bytearray(program.param_bytes)
    given = header["arguments"]
    if len(given) != len(program.params):
        return _answer(f"it takes {len(program.params)} parameters, the task gives {len(given)}", [])
    written: list[np.ndarray] = []
    for one, param in zip(given, program.params, strict=True):
        count = int(np.prod(one["shape"], dtype=np.int64)) * one["itemsize"]
        array = np.frombuffer(request, np.uint8, count, at).copy()
        at += count
        raw = array.tobytes()
        if one["role"] != "scalar":
            raw = memory.add(one["name"], array, writable=one["role"] != "in", initialised=True).to_bytes(8, "little")
            written += [array] if one["role"] in ("out", "inout") else []
        if len(raw) != param.size:
            return _answer(f"parameter {param.name} has {param.size} bytes, {one['name']} has {len(raw)}", [])
        params[param.offset : param.offset + param.size] = raw
    grid, block, shared = header["size"]
    done = machine.launch(
        program, memory, grid=tuple(grid), block=tuple(block), params=bytes(params), dynamic_shared_bytes=shared,
        check=False, count=False, max_instructions=MOST_INSTRUCTIONS, deadline_seconds=header["deadline_s"],
    )  # fmt: skip
    if done.faults:
        return _answer(f"{done.faults[0].kind}: {done.faults[0].message}", [])
    return _answer("", written)


def _answer(problem: str, arrays: list[np.ndarray]) -> list[bytes]:
    head = json.dumps({"problem": problem}).encode()
    return [len(head).to_bytes(4, "big") + head, *(array.tobytes() for array in arrays)]


def serve() -> None:
    """Take one kernel, then answer launches until the parent closes its end."""
    first = worker_io.read_frame()
    if first is None:
        return
    asked = json.loads(first)
    program = load_ptx(asked["ptx"], asked["entry"])
    worker_io.write_frame(b"")
    while (request := worker_io.read_frame()) is not None:
        start = 4 + int.from_bytes(request[:4], "big")
        worker_io.write_parts(launch(program, json.loads(request[4:start]), request, start))


if __name__ == "__main__":
    worker_io.lock_down("work")
    serve()
