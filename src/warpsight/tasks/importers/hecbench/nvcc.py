"""The machine's own nvcc, where there is one: whole translation units, host code and template launches included.

Runs in the jail on copies of the program's files. Nothing in the project needs it; without it the device code is cut
out (see `kernels`). What nvcc says of a unit that it refuses is passed on.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from warpsight.tasks.importers.hecbench.flags import Flags
from warpsight.tasks.importers.hecbench.kernels import Toolchain, UnitKernels, kernels_of
from warpsight.tasks.importers.jailed_build import SYSTEM_PATH, build
from warpsight.tasks.importers.records import CannotImport

ENDINGS = (".cu", ".cuh", ".h", ".hpp", ".hh", ".inl", ".inc", ".cpp", ".cc", ".c", ".cxx")
MAX_FILES, MAX_BYTES = 2000, 64 << 20
PLACES = ("usr/local/cuda/bin", "usr/local/cuda-*/bin", "opt/cuda/bin")


def find_nvcc() -> Path | None:
    """The toolkit's own program, also behind a script that only starts it."""
    installed = [str(path) for place in PLACES for path in sorted(Path("/").glob(place), reverse=True)]
    for path in (":".join(installed), SYSTEM_PATH):
        found = shutil.which("nvcc", path=path) if path else None
        if found and (real := Path(found).resolve()).parent.with_name("nvvm").is_dir():
            return real
    return None


def argv(nvcc: Path, source: str, flags: Flags, gpu_arch: str) -> list[str]:
    """The command that makes machine code of one unit."""
    words = [str(nvcc), "-cubin", f"-arch={gpu_arch}", "-lineinfo"]
    words += [*flags.options, *flags.nvcc_alone, *flags.defines]
    if not any(option.startswith("--std=") for option in flags.options):
        words.append("--std=c++17")
    return [*words, *(f"-I{folder}" for folder in flags.folders), source, "-o", "unit.cubin"]


def nvcc_kernels(
    nvcc: Path, source: str, folder: Path, flags: Flags, toolchain: Toolchain, gpu_arch: str = "sm_80"
) -> UnitKernels:
    """The kernels of one unit by nvcc; CannotImport with its first error for a unit that it refuses."""
    files = program_files(folder)
    moved = replace(flags, folders=moved_folders(flags, folder))
    step = argv(nvcc, f"suite/{folder.resolve().name}/{source}", moved, gpu_arch)
    root = nvcc.parent.parent
    built = build([step], files, ["unit.cubin"], readable=(root,), environment={"PATH": f"{nvcc.parent}:/usr/bin:/bin"})
    if not built.ok:
        first = next((line for line in built.said.splitlines() if "error" in line), built.said.strip()[:300])
        raise CannotImport(f"nvcc refused {source}: {first[:500]}")
    cubin = built.made["unit.cubin"]
    entries = toolchain.usage(cubin)
    return UnitKernels(kernels_of(cubin, entries, source, f"nvcc of {root.name}", toolchain), (), "")


def program_files(folder: Path) -> Mapping[str, bytes]:
    """The texts of a program and of the header folder of its suite, by their names in the jail."""
    folder = folder.resolve()
    found: dict[str, bytes] = {}
    total = 0
    for place in (folder, folder.parent / "include"):
        for file in sorted(place.rglob("*")) if place.is_dir() else ():
            if file.suffix not in ENDINGS or not file.is_file() or file.is_symlink():
                continue
            content = file.read_bytes()
            total += len(content)
            if len(found) >= MAX_FILES or total > MAX_BYTES:
                raise CannotImport(f"expected at most {MAX_FILES} files and {MAX_BYTES} bytes, found more")
            found[f"suite/{file.relative_to(folder.parent)}"] = content
    return found


def moved_folders(flags: Flags, folder: Path) -> tuple[str, ...]:
    """Header folders as seen from the place where the program is laid out; those outside of the suite are not there."""
    name = folder.resolve().name
    inside = ("", *(one for one in flags.folders if not one.startswith("/")))
    return tuple(f"suite/{name}/{one}" for one in inside)
