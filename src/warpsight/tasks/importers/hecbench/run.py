"""Builds a whole program with nvcc and runs it, with one of its files replaced or not.

Building needs a toolkit and no GPU. Running needs a GPU for programs that use one; the walls of the jail that its
driver cannot live behind are left out then, by the caller's word, and the result names them. Programs of the CPU run in
the whole jail, which is how this is tried here: not run on a GPU by us.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.tasks.importers.hecbench.flags import Flags
from warpsight.tasks.importers.hecbench.nvcc import moved_folders, program_files
from warpsight.tasks.importers.hecbench.read import read_build
from warpsight.tasks.importers.hecbench.whole_program import ProgramRun
from warpsight.tasks.importers.jailed_build import build
from warpsight.tasks.importers.records import CannotImport

# The scratch folder of the jail starts no programs; the loader, which is a library, may read one and run it.
LOADER = "/lib64/ld-linux-x86-64.so.2"
MAX_DATA_BYTES = 256 << 20


@dataclass(frozen=True)
class BuiltProgram:
    """An executable, the data that lies beside it, and how it is run."""

    executable: bytes
    data: Mapping[str, bytes]
    arguments: tuple[str, ...]


def build_argv(
    nvcc: Path, folder: Path, sources: Sequence[str], flags: Flags, libraries: Sequence[str], gpu_arch: str
) -> list[str]:
    """One command for the whole program, seen from the folder above it."""
    words = [str(nvcc), f"-arch={gpu_arch}", "-O3", *flags.options, *flags.nvcc_alone, *flags.defines]
    words += [*(["-rdc=true"] if flags.separate else []), *(f"-I{one}" for one in moved_folders(flags, folder))]
    files = [f"suite/{folder.resolve().name}/{source}" for source in sources]
    return [*words, *libraries, *files, "-o", "program"]


def build_program(
    nvcc: Path, folder: Path, *, replaced: Mapping[str, str] | None = None, gpu_arch: str = "sm_80"
) -> BuiltProgram:
    """The program in a folder as an executable; CannotImport with what nvcc said where it does not build."""
    makefile, flags, sources = read_build(folder)
    name = folder.resolve().name
    files = dict(program_files(folder))
    for file, text in (replaced or {}).items():
        if f"suite/{name}/{file}" not in files:
            raise UsageError(f"expected a file of the program to replace, {file} is none", hint=f"see {folder}")
        files[f"suite/{name}/{file}"] = text.encode()
    step = build_argv(nvcc, folder, sources, flags, makefile.libraries, gpu_arch)
    path = f"{nvcc.parent}:/usr/bin:/bin"
    built = build([step], files, ["program"], readable=(nvcc.parent.parent,), environment={"PATH": path})
    if not built.ok:
        first = next((line for line in built.said.splitlines() if "error" in line), built.said.strip()[:500])
        raise CannotImport(f"the program does not build: {first}")
    arguments = makefile.run[0][1:] if makefile.run else ()
    return BuiltProgram(built.made["program"], _data(folder), arguments)


def runner(
    program: BuiltProgram,
    *,
    arguments: Sequence[str] | None = None,
    deadline_s: float = 600.0,
    memory_bytes: int = 6 << 30,
    readable: Sequence[Path] = (),
    without: Collection[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Callable[[], ProgramRun]:
    """A function that runs the program once, with its own arguments or others. It sees of our environment only what is
    given here."""
    words = [LOADER, "./program", *(program.arguments if arguments is None else arguments)]
    files = {"program": program.executable, **program.data}

    def run() -> ProgramRun:
        ran = build(
            [words], files, [], deadline_s=deadline_s, memory_bytes=memory_bytes, readable=readable, without=without,
            environment=environment,
        )  # fmt: skip
        if not ran.statuses:
            return ProgramRun(ran.said, -1, 0.0)
        return ProgramRun(ran.said, ran.statuses[0], ran.walls_s[0])

    return run


def _data(folder: Path) -> dict[str, bytes]:
    """Files of the program that are no sources: its run may read them."""
    found: dict[str, bytes] = {}
    sources = {name.partition("/")[2].partition("/")[2] for name in program_files(folder)}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_file() and not file.is_symlink() and name not in sources and name != "program":
            found[name] = file.read_bytes()
            if sum(map(len, found.values())) > MAX_DATA_BYTES:
                raise CannotImport(f"expected at most {MAX_DATA_BYTES} bytes of data beside the program, found more")
    return found
