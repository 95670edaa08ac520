"""Python scripts as programs, and programs that use NVIDIA's driver without its runtime: what to start in the jail.

A script runs in the Python that we run in, with its packages, and finds the stand-in driver: cuda-core and Triton see a
GPU. One process has that GPU; what it forks or starts has none. Nothing is installed and nothing can be fetched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.programs.build import SYSTEM, runtime_folder
from warpsight.programs.door import driver_folder
from warpsight.programs.jailed import Command


def require_script(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"expected a Python script, found nothing at {path}")
    return path.resolve()


def script_command(script: Path, arguments: Sequence[str], data: Path | None, show: Sequence[Path]) -> Command:
    """How to start a script: in a copy of its folder, with this Python and a compiler, which makes launchers."""
    command = Command(
        argv=(sys.executable, str(script), *arguments),
        environment={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(runtime_folder())},
        copy=() if data is None else (data,),
        readable=(script, *(() if data is None else (data,)), *show, *_python(), *(p for p in SYSTEM if p.exists())),
    )
    return with_driver(command)


def with_driver(command: Command) -> Command:
    """The same program, which finds our driver where it looks for NVIDIA's."""
    folder = driver_folder()
    libraries = ":".join([str(folder), *filter(None, [command.environment.get("LD_LIBRARY_PATH", "")])])
    environment = {**command.environment, "LD_LIBRARY_PATH": libraries, "TRITON_LIBCUDA_PATH": str(folder)}
    return replace(command, environment=environment, readable=(*command.readable, runtime_folder()))


def _python() -> tuple[Path, ...]:
    return tuple(dict.fromkeys(Path(place) for place in (sys.prefix, sys.base_prefix)))
