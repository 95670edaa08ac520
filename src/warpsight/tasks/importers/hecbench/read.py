"""HeCBench program folders as records: how they are built and run, and every kernel with what it uses.

A program is a folder with a Makefile and CUDA sources (`name-cuda`); a folder of many is looked through. Folders of
other languages (`-hip`, `-sycl`, `-omp`) are refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from warpsight.nouns.base import Noun
from warpsight.tasks.importers.hecbench.flags import Flags, read_flags
from warpsight.tasks.importers.hecbench.kernels import ImportedKernel, Toolchain, UnitKernels, list_kernels
from warpsight.tasks.importers.hecbench.makefile import Makefile, read_makefile
from warpsight.tasks.importers.hecbench.nvcc import nvcc_kernels
from warpsight.tasks.importers.hecbench.unit import read_unit
from warpsight.tasks.importers.records import (
    CannotImport,
    Import,
    NotImported,
    existing,
    import_all,
    read_source,
    shown_path,
)

DEVICE_OPTIONS = ("--device-as-default-execution-space",)
OTHER_LANGUAGES = {"hip": "HIP", "sycl": "SYCL", "omp": "OpenMP", "dpct": "SYCL"}
_CHECKS = re.compile(r"\b(PASS(ED)?|FAIL(ED)?|verif\w+|correct)\b", re.IGNORECASE)
Compiler = Literal["nvrtc", "nvcc"]


class HecProgram(Noun):
    """One program. `checks_itself` says whether its text speaks of passing or failing a check."""

    name: str
    folder: str
    program: str
    sources: tuple[str, ...]
    defines: tuple[str, ...]
    include_folders: tuple[str, ...]
    libraries: tuple[str, ...]
    run: tuple[tuple[str, ...], ...]
    checks_itself: bool
    kernels: tuple[ImportedKernel, ...]
    refused: tuple[NotImported, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Compilers:
    """What programs are compiled with: the project's own toolchain, and nvcc where it is wanted, or nvcc alone."""

    toolchain: Toolchain
    nvcc: Path | None = None
    gpu_arch: str = "sm_80"
    nvcc_alone: bool = False


def read_hecbench(path: Path, compilers: Compilers) -> Import[HecProgram]:
    """The program in a folder, or all programs in the folders below it."""
    root = existing(path, "a HeCBench program folder or a folder of them")
    if root.is_file():
        root = root.parent
    below = sorted({file.parent for file in root.rglob("Makefile")})
    folders = [one for one in below if _language(one) is not None or _sources_in(one)]
    if _makefile(root) or not folders:
        folders = [root]
    return import_all("hecbench", root, folders, lambda folder: read_program(folder, root, compilers))


def read_program(folder: Path, root: Path, compilers: Compilers) -> HecProgram:
    """One program, or CannotImport with the reason."""
    if other := _language(folder):
        raise CannotImport(f"expected CUDA, found {other} by the name of the folder")
    makefile, flags, sources = read_build(folder)
    notes: list[str] = []
    units = [_kernels(folder, source, flags, compilers, notes) for source in sources]
    kernels = tuple(kernel for unit in units for kernel in unit.kernels)
    refused = tuple(one for unit in units for one in unit.refused)
    if not kernels:
        why = "; ".join(f"{one.file}: {one.reason}" for one in refused[:3]) or "no __global__ function in its sources"
        raise CannotImport(f"expected at least one kernel that compiles: {why}")
    by_nvcc = not refused and all(kernel.compiler.startswith("nvcc") for kernel in kernels)
    return HecProgram(
        name=folder.resolve().name.removesuffix("-cuda"),
        folder=shown_path(folder, root),
        program=makefile.program,
        sources=tuple(sources),
        defines=flags.defines,
        include_folders=flags.folders,
        libraries=makefile.libraries,
        run=makefile.run,
        checks_itself=any(_CHECKS.search(read_source(folder / source)) for source in sources),
        kernels=kernels,
        refused=refused,
        notes=(*notes, *_notes(makefile, flags, folder, by_nvcc=by_nvcc)),
    )


def read_build(folder: Path) -> tuple[Makefile, Flags, list[str]]:
    """How a program is built: its Makefile, its flags, its sources that are there."""
    file = _makefile(folder)
    if file is None:
        raise CannotImport("expected a Makefile, found none")
    makefile = read_makefile(read_source(file))
    flags = read_flags(makefile.flags)
    named = [source for source in makefile.sources if (folder / source).is_file()]
    sources = named or sorted(one.name for one in folder.glob("*.cu"))
    if not any(source.endswith((".cu", ".cpp", ".cc", ".c")) for source in sources):
        raise CannotImport("expected CUDA sources named in the Makefile or ending in .cu, found none")
    return makefile, flags, sources


def device_texts(folder: Path, compilers: Compilers) -> dict[str, str]:
    """The device code of each unit as it was compiled, for a person to work on."""
    _, flags, sources = read_build(folder)
    texts = {source: _cut_out(folder, source, flags, compilers.toolchain).text for source in sources}
    return {source: text for source, text in texts.items() if text}


def _kernels(folder: Path, source: str, flags: Flags, compilers: Compilers, notes: list[str]) -> UnitKernels:
    if compilers.nvcc is not None and source.endswith(".cu"):
        try:
            return nvcc_kernels(compilers.nvcc, source, folder, flags, compilers.toolchain, compilers.gpu_arch)
        except CannotImport as refused:
            if compilers.nvcc_alone:
                raise
            notes.append(f"{refused}; its device code was cut out instead")
    return _cut_out(folder, source, flags, compilers.toolchain)


def _cut_out(folder: Path, source: str, flags: Flags, toolchain: Toolchain) -> UnitKernels:
    unit = read_unit(folder / source, folder, flags.folders)
    return list_kernels(unit, (*DEVICE_OPTIONS, *flags.options, *flags.defines), toolchain)


def _notes(makefile: Makefile, flags: Flags, folder: Path, *, by_nvcc: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if flags.separate:
        notes.append("device code of several units is linked together: calls between units are not followed")
    if left_out := (*flags.left_out, *(() if by_nvcc else flags.nvcc_alone)):
        notes.append(f"compile options left out: {' '.join(left_out)}")
    if makefile.skipped:
        notes.append(f"parts of the Makefile not read: {'; '.join(makefile.skipped)[:300]}")
    missing = sorted({word for command in makefile.run for word in command[1:] if _names_missing_file(word, folder)})
    if missing:
        notes.append(f"data files of its run are not there: {', '.join(missing)}")
    return tuple(notes)


def _names_missing_file(word: str, folder: Path) -> bool:
    return bool(re.search(r"/|\.\w{2,4}$", word)) and not word.startswith("-") and not (folder / word).exists()


def _makefile(folder: Path) -> Path | None:
    return next((folder / name for name in ("Makefile", "makefile", "GNUmakefile") if (folder / name).is_file()), None)


def _language(folder: Path) -> str | None:
    return OTHER_LANGUAGES.get(folder.resolve().name.rpartition("-")[2])


def _sources_in(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("*.cu"))
