"""The parent's end of `build_worker`: compile a stranger's text with the machine's own compiler, or run it, in a jail.

A text that does not compile, or that ends the compiler, is a `Built` with ok=False and what the compiler said; only a
compiler that is not there raises. What comes back is bytes that are run in a jail again, or only read.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from warpsight.errors import ToolMissing
from warpsight.jail import Limits, run_jailed, scrubbed, wire

WORKER = Path(__file__).with_name("build_worker.py")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
# What g++ starts, and the shell that nvcc starts its parts with; cc1plus and collect2 lie beside the libraries.
COMPILER_PARTS = ("g++", "gcc", "cpp", "as", "ld", "rm")
SHELL = Path("/bin/sh")  # by this name, which is behind a link on most systems
HEADERS = (Path("/usr/include"), Path("/usr/local/include"))
SAID_CHARS = 20_000


@dataclass(frozen=True)
class Built:
    """What came of a build: the files that were asked for where it went well, and what the programs said."""

    ok: bool
    said: str
    made: Mapping[str, bytes]
    statuses: tuple[int, ...] = ()
    walls_s: tuple[float, ...] = ()


def compiler(name: str = "g++") -> Path:
    """The C++ compiler of this machine."""
    found = shutil.which(name, path=SYSTEM_PATH)
    if found is None:
        raise ToolMissing(f"expected the C++ compiler {name}, none is installed", hint="apt install g++")
    return Path(found)


def build(
    steps: Sequence[Sequence[str]],
    files: Mapping[str, bytes],
    wanted: Sequence[str],
    *,
    readable: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    deadline_s: float = 300.0,
    memory_bytes: int = 6 << 30,
    folder: str = ".",
    without: Collection[str] = (),
) -> Built:
    """Run the programs on the files, standing in `folder`; `wanted` names what to bring back.

    `without` leaves out walls of the jail that a GPU's driver cannot live behind.
    """
    request = {
        "files": list(files),
        "steps": [list(step) for step in steps],
        "wanted": list(wanted),
        "folder": folder,
        "environment": {"PATH": "/usr/bin:/bin", **(environment or {})},
    }
    limits = Limits(
        wall_s=deadline_s, cpu_s=int(deadline_s) + 5, memory_bytes=memory_bytes,
        file_bytes=512 << 20, scratch_bytes=1 << 30, answer_bytes=256 << 20,
    )  # fmt: skip
    answer = run_jailed(
        [sys.executable, "-I", str(WORKER)],
        wire.pack(request, list(files.values())),
        limits=limits,
        readable=(Path(wire.__file__), *_parts(), *HEADERS, *readable),
        level="tools",
        unsafe=bool(without),
        without=without,
    )
    if answer.event is not None or answer.body is None:
        told = f"{answer.event.kind}: {answer.event.detail}" if answer.event else "no answer"
        return Built(False, scrubbed(f"the compiler was stopped: {told}"), {})
    return _read(answer.body, len(steps), wanted)


def _parts() -> tuple[Path, ...]:
    found = [shutil.which(name, path="/usr/bin") for name in COMPILER_PARTS]
    return (SHELL, *(Path(path) for path in found if path))


def _read(body: bytes, steps: int, wanted: Sequence[str]) -> Built:
    try:
        header, blobs = wire.unpack(body)
        done = [cast(dict[str, Any], step) for step in header["steps"]]
        said = "\n".join(str(step["said"]) or f"ended with status {step['status']}" for step in done)
        ok = len(done) == steps and all(step["status"] == 0 for step in done)
        statuses = tuple(int(step["status"]) for step in done)
        walls_s = tuple(float(step["wall_s"]) for step in done)
        made = dict(zip([str(name) for name in header["made"]], map(bytes, blobs), strict=True))
    except (wire.BadMessage, KeyError, TypeError, ValueError) as problem:
        return Built(False, f"the compiler gave no valid answer: {problem}", {})
    ok = ok and set(wanted) <= set(made)
    kept = {name: made[name] for name in wanted if name in made}
    return Built(ok, scrubbed(said)[:SAID_CHARS], kept, statuses, walls_s)
