"""PTX to machine code with the assembler that the `triton` package brings, in a jail of its own.

Kept apart from the process that the candidate's Python ran in: the machine code is of the PTX that is given here and of
nothing else. A PTX that the assembler refuses is an error with its words; only a missing or dying assembler raises
beyond that.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import struct
import sys
from pathlib import Path

from warpsight.errors import ToolchainError, ToolMissing, WarpsightError
from warpsight.jail import Limits, run_jailed
from warpsight.toolchain.process import cpu_limit_s, ended_badly, wall_limit_s

WORKER = Path(__file__).with_name("triton_assemble_worker.py")
MEMORY_CAP_BYTES = 8 << 30
CODE_CAP_BYTES = 64 << 20
INSTALL = "pip install 'warpsight[triton]'"
_HEAD = struct.Struct(">iI")


class AssemblerRefused(WarpsightError):
    """The assembler did not take the PTX. The candidate's fault, not the machine's."""


def triton_folder() -> Path:
    """Where the `triton` package lies, or ToolMissing with the command that installs it."""
    spec = importlib.util.find_spec("triton")
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places or not (Path(places[0]) / "compiler").is_dir():
        raise ToolMissing("expected the package triton, it is not installed", hint=INSTALL)
    return Path(places[0])


def assembler() -> Path:
    path = triton_folder() / "backends" / "nvidia" / "bin" / "ptxas"
    if not path.is_file():
        raise ToolMissing(f"expected the assembler of the triton package, found nothing at {path}", hint=INSTALL)
    return path


def ptxas_options(gpu_arch: str) -> list[str]:
    """The assembler's words: lines kept, resource use told."""
    return ["-lineinfo", "-v", f"--gpu-name={gpu_arch}", "kernel.ptx", "-o", "kernel.cubin"]


def assemble(ptx: str, gpu_arch: str, deadline_s: float, program: Path | None = None) -> tuple[bytes, str]:
    """Machine code and what the assembler said of its resources; by `program` instead of Triton's assembler."""
    status, said, code = _run([str(program or assembler()), *ptxas_options(gpu_arch)], ptx.encode(), deadline_s)
    if status != 0 or not code:
        raise AssemblerRefused(f"the assembler refused the PTX: {said.strip()[-1500:] or 'no message'}")
    return code, re.sub(r"^ptxas info\s*: Compile time = .*\n?", "", said, flags=re.MULTILINE)


@functools.cache
def assembler_version() -> str:
    """The assembler's version, as it says itself; asked once."""
    _, said, _ = _run([str(assembler()), "--version"], b"", 30.0)
    found = re.search(r"release\s+([\d.]+),\s*V([\d.]+)", said)
    return found[2] if found else "of no known version"


def _run(argv: list[str], ptx: bytes, deadline_s: float) -> tuple[int, str, bytes]:
    request = json.dumps({"argv": argv, "cap_bytes": CODE_CAP_BYTES}).encode() + b"\n" + ptx
    limits = Limits(
        wall_s=wall_limit_s(deadline_s),
        cpu_s=cpu_limit_s(deadline_s),
        memory_bytes=MEMORY_CAP_BYTES,
        answer_bytes=CODE_CAP_BYTES + (1 << 20),
    )
    worker = [sys.executable, "-I", str(WORKER)]
    answer = run_jailed(worker, request, limits=limits, readable=[Path(argv[0])], level="tools")
    if answer.event is not None or answer.body is None:
        assert answer.event is not None
        raise ended_badly("the assembler", answer.event, deadline_s, answer.log)
    if len(answer.body) < _HEAD.size:
        raise ToolchainError("the assembler came back without its exit status")
    status, said = _HEAD.unpack_from(answer.body)
    text = answer.body[_HEAD.size : _HEAD.size + said].decode(errors="replace")
    return status, text, answer.body[_HEAD.size + said :]
