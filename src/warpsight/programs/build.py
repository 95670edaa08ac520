"""Builds unmodified CUDA programs in the jail: one source file, or a folder with a Makefile or CMakeLists.txt.

NVIDIA's compiler comes from pip (the extra `programs`), behind a wrapper that is first in PATH; the C++ compiler is the
system's. A build sees its folder, the folders beside it that it names, the tools and nothing else; it writes into a
scratch folder, from which files come back. Builds are kept by the content of what they were made of.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpsight.errors import BrokenMachine, ToolMissing, WarpsightError
from warpsight.jail import Limits, package_files
from warpsight.programs.jailed import Command, JailedProgram, unpack
from warpsight.programs.sources import build_place, contents, folders_beside, made_folder, makefile_of, readable, store
from warpsight.toolchain.cache import content_key
from warpsight.toolchain.packages import program, version

WRAPPER = Path(__file__).with_name("nvcc_wrapper.py")
LN_WRAPPER = Path(__file__).with_name("ln_wrapper.sh")
HEADERS = Path(__file__).with_name("include")
INSTALL = "pip install 'warpsight[programs]'"
PACKAGES = ("nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-cuda-cccl")
SYSTEM = tuple(
    map(
        Path,
        ("/usr/bin", "/bin", "/usr/include", "/usr/libexec", "/usr/local/include", "/etc/alternatives", "/usr/share"),
    )
)
MOST_FOLDER_BYTES = 512 << 20
_NEWEST_ARCH = 80  # PTX of later architectures has forms that the virtual GPU does not run
CPU_S = 900


class BuildFailed(WarpsightError):
    """The program does not build; the compiler's words are the reason."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


@dataclass(frozen=True)
class HostProgram:
    """A built program: its folder, what to start in it, what to show of the machine, names beside it."""

    source: Path
    folder: Path
    executable: Path
    readable: tuple[Path, ...]
    links: tuple[tuple[str, str], ...]
    cached: bool
    said: str = ""


@functools.cache
def runtime_folder() -> Path:
    """Where the runtime lies that programs are linked with."""
    from warpsight.vgpu import _core

    beside = Path(__file__).parent / "lib"
    installed = Path(str(_core.__file__)).parents[1] / "programs" / "lib"
    for folder in (beside, installed):
        if (folder / "libcudart.so.13").is_file():
            return folder
    raise BrokenMachine(f"expected libcudart.so.13 in {installed}, it is not there", hint="install warpsight again")


def require_compiler() -> Path:
    """NVIDIA's compiler, or ToolMissing with the command that installs it."""
    for name in ("g++", "c++"):
        if shutil.which(name):
            break
    else:
        raise ToolMissing("expected a C++ compiler of the system", hint="apt install g++, or dnf install gcc-c++")
    try:
        nvcc = program("nvcc", "nvidia-cuda-nvcc")
    except ToolMissing as missing:
        raise ToolMissing(missing.message, hint=INSTALL) from None
    if not (nvcc.parents[1] / "nvvm" / "bin" / "cicc").is_file():
        raise ToolMissing("expected the part of nvcc that makes PTX, of the package nvidia-nvvm", hint=INSTALL)
    return nvcc


def arch_for(gpu_arch: str) -> str:
    """What to compile PTX for, so that both the virtual GPU and the assembler of this GPU take it."""
    return str(min(_NEWEST_ARCH, int(re.sub(r"\D", "", gpu_arch))))


def build_program(source: Path, gpu_arch: str, *, make: Sequence[str] = (), show: Sequence[Path] = ()) -> HostProgram:
    """A program from a .cu file or a folder; the kept one where nothing has changed."""
    nvcc, source = require_compiler(), build_place(readable(source.resolve()))
    folder = source if source.is_dir() else source.parent
    beside = folders_beside(folder if source.is_dir() else source)
    shown = (folder, *beside.values(), *(path.resolve() for path in show))
    links = tuple((f"/{name}", str(path)) for name, path in beside.items())
    argv = _commands(source, make)
    key = content_key(
        str(source), *argv, arch_for(gpu_arch), *(f"{p}={version(p)}" for p in PACKAGES),
        *map(Path.read_bytes, (WRAPPER, LN_WRAPPER, *sorted(HEADERS.glob("*")))), *contents(source, beside.values()),
    )  # fmt: skip
    kept = store() / key
    if not (kept / ".built").is_file():
        said = _build(argv, source, kept, nvcc, arch_for(gpu_arch), shown, links)
        return HostProgram(source, kept, _executable(kept, said), shown, links, False, said)
    return HostProgram(source, kept, _executable(kept, ""), shown, links, True)


def _commands(source: Path, make: Sequence[str]) -> tuple[str, ...]:
    """What makes the program, in a copy of its folder."""
    if source.is_file():
        return ("nvcc", "-O2", "-std=c++17", f"-I{source.parent}", str(source), "-o", "program", *make)
    if makefile_of(source) is not None:
        return ("make", *make)
    steps = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=80 && cmake --build build"
    return ("sh", "-c", steps)


def _build(
    argv: tuple[str, ...],
    source: Path,
    kept: Path,
    nvcc: Path,
    arch: str,
    shown: Sequence[Path],
    links: Sequence[tuple[str, str]],
) -> str:
    said = bytearray()

    def hear(data: bytes) -> None:
        said.extend(data)

    with tempfile.TemporaryDirectory(prefix="warpsight-nvcc-") as place:
        _place_wrapper(Path(place), nvcc, arch)
        command = Command(
            argv=_absolute(argv, place),
            environment=_environment(Path(place)),
            copy=(source,) if source.is_dir() else (),
            readable=(*shown, *_tools(Path(place))),
            links=tuple(links),
            hand_back="all",
        )
        limits = Limits(
            wall_s=CPU_S * 3, cpu_s=CPU_S, memory_bytes=16 << 30, threads=512, file_bytes=2 << 30,
            scratch_bytes=2 << 30, answer_bytes=1 << 30, open_files=1024,
        )  # fmt: skip
        with JailedProgram(command, limits, output=hear, errors=hear) as program:
            program.done.wait()
    text = said.decode(errors="replace").replace(str(place) + "/", "")
    ending = program.ending
    if ending.lost is not None:
        raise BuildFailed(f"the build was stopped: {ending.lost.event.kind}: {ending.lost.event.detail}", text)
    if ending.status != 0 or ending.problem:
        raise BuildFailed(f"{source.name} does not build: {ending.problem or f'exit code {ending.status}'}", text)
    temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=made_folder(kept.parent)))
    temporary.chmod(0o755)  # in the jail, it is read by nobody
    unpack(ending.files, temporary)
    (temporary / ".built").write_text(" ".join(argv) + "\n")
    with_new = shutil.move(str(temporary), str(kept)) if not kept.exists() else None
    if with_new is None:
        shutil.rmtree(temporary, ignore_errors=True)
    return text


def _absolute(argv: tuple[str, ...], place: str) -> tuple[str, ...]:
    if argv[0] == "nvcc":
        return (f"{place}/nvcc", *argv[1:])
    found = shutil.which(argv[0], path="/usr/bin:/bin")
    if found is None:
        raise ToolMissing(f"expected the program {argv[0]}, it is not installed", hint=f"apt install {argv[0]}")
    return (found, *argv[1:])


def _place_wrapper(place: Path, nvcc: Path, arch: str) -> None:
    place.chmod(0o755)
    wrapper = place / "nvcc"
    words = [sys.executable, "-I", "-S", str(WRAPPER), str(nvcc), arch, str(runtime_folder()), str(HEADERS)]
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in words) + ' "$@"\n')
    wrapper.chmod(0o755)
    shutil.copyfile(LN_WRAPPER, place / "ln")
    (place / "ln").chmod(0o755)


def _environment(place: Path) -> dict[str, str]:
    root = require_compiler().parents[1]
    return {
        "PATH": f"{place}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "CUDA_HOME": str(root), "CUDA_PATH": str(root),
        "CUDACXX": f"{place}/nvcc", "LD_LIBRARY_PATH": str(runtime_folder()), "CPATH": "",
        "LIBRARY_PATH": str(runtime_folder()),
    }  # fmt: skip


def _tools(place: Path) -> tuple[Path, ...]:
    wanted = (*SYSTEM, require_compiler().parents[1], runtime_folder(), WRAPPER, HEADERS, place)
    return tuple(path for path in wanted if path.exists())


def _executable(folder: Path, said: str) -> Path:
    """The program that a build has made: `main` or `program`, else the one that is linked with our runtime."""
    made = [p for p in sorted(folder.rglob("*")) if p.is_file() and os.access(p, os.X_OK) and _is_program(p)]
    named = [p for p in made if p.name in ("program", "main")]
    with_gpu = [p for p in made if b"cudart.so.13" in p.read_bytes()]
    if found := named or with_gpu or made:
        return found[0]
    raise BuildFailed("the build ended well and made no program", said)


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(20)
    return (
        head[:4] == b"\x7fELF"
        and head[16] in (2, 3)
        and not path.name.endswith((".o", ".so"))
        and ".so." not in path.name
    )


def run_command(built: HostProgram, arguments: Sequence[str], start: Path | None) -> Command:
    """How to start a built program: in a copy of the folder it was made in, with its data."""
    return Command(
        argv=(str(built.executable), *arguments),
        environment={"LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": str(runtime_folder()), "PATH": "/usr/bin:/bin"},
        copy=(*((start,) if start is not None else ()), built.folder),
        readable=(*built.readable, built.folder, runtime_folder()),
        links=built.links,
    )


__all__ = ["BuildFailed", "HostProgram", "build_program", "package_files", "run_command", "runtime_folder"]
