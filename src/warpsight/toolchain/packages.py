"""Which CUDA line is installed as pip packages: its compiler, the headers that fit it, the disassembler.

CUDA 12 and 13 name and place their packages differently; any minor version of either will do, also the one that a GPU
build of torch brought. Found by the metadata of installed packages, so any virtualenv works; nothing is taken from a
system toolkit. With both lines here the newer is used, unless WARPSIGHT_CUDA says 12 or 13. Imports nothing heavy.
What must stay true: compiler and headers are of one line, and what is missing is an error that says what to install.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from warpsight.errors import ToolMissing, UsageError

CHOICE = "WARPSIGHT_CUDA"
DISASSEMBLER = "nvidia-cuda-nvdisasm"


@dataclass(frozen=True)
class LineNames:
    """The packages of one CUDA line, the compiler first, each with the folders that it brings."""

    install: str  # what to install to get all of it
    library: str
    packages: Mapping[str, tuple[str, ...]]  # header folders, in search order


LINES: Mapping[int, LineNames] = {
    13: LineNames(
        "warpsight",
        "nvidia/cu13/lib",
        {
            "nvidia-cuda-nvrtc": (),
            "nvidia-cuda-runtime": ("nvidia/cu13/include",),
            "nvidia-cuda-crt": ("nvidia/cu13/include",),
            "nvidia-cuda-cccl": ("nvidia/cu13/include/cccl",),
        },
    ),
    12: LineNames(
        "'warpsight[cu12]'",
        "nvidia/cuda_nvrtc/lib",
        {
            "nvidia-cuda-nvrtc-cu12": (),
            "nvidia-cuda-runtime-cu12": ("nvidia/cuda_runtime/include",),
            "nvidia-cuda-nvcc-cu12": ("nvidia/cuda_nvcc/include",),
            "nvidia-cuda-cccl-cu12": ("nvidia/cuda_cccl/include",),
        },
    ),
}


@dataclass(frozen=True)
class CudaLine:
    """An installed compiler with the headers that belong to it."""

    major: int
    library: Path
    headers: tuple[Path, ...]
    versions: Mapping[str, str]  # of each package, the compiler first

    @property
    def compiler(self) -> str:
        """The version of the compiler, such as 13.2.86."""
        return next(iter(self.versions.values()))

    @property
    def release(self) -> tuple[int, int]:
        """The CUDA version of the compiler, such as (13, 2)."""
        return self.major, int(self.compiler.split(".")[1])

    @property
    def misfit(self) -> str:
        """Said of headers that are newer than their compiler, which may not know what they use; else empty."""
        _, (runtime, headers), *_ = self.versions.items()
        if tuple(map(int, headers.split(".")[:2])) <= self.release:
            return ""
        wanted = ".".join(map(str, self.release))
        return f"{runtime} {headers} is newer than the compiler: pip install '{runtime}=={wanted}.*'"


def version(package: str) -> str:
    """The installed version of a package, or ToolMissing with the command that installs it."""
    return _distribution(package).version


def cuda_line() -> CudaLine:
    """The line to compile with: the one that WARPSIGHT_CUDA names, else the newest that is whole."""
    return _line_for(os.environ.get(CHOICE, ""))


def own_headers() -> Path:
    """Our headers: the standard ones that NVRTC lacks, written for device code."""
    return Path(__file__).with_name("headers")


def include_dirs() -> tuple[Path, ...]:
    """The header folders in search order: ours, the CUDA headers, then cub, thrust and cuda/std."""
    return (own_headers(), *cuda_line().headers)


def nvrtc_library() -> Path:
    """The library of the compiler."""
    return cuda_line().library


def program(name: str, package: str) -> Path:
    """The path of a program that a package brings, such as nvdisasm."""
    distribution = _distribution(package)
    place = _folder(distribution, "nvidia")
    found = sorted(place.glob(f"cu[0-9]*/bin/{name}"), reverse=True)
    if not found:
        raise ToolMissing(
            f"expected the program {name} of {package} {distribution.version}, found none below {place}",
            hint=f"pip install --force-reinstall {package}",
        )
    return found[0]


def compiler_identity() -> str:
    """Everything whose change can change the output of a compile: the compiler and the headers."""
    versions = " ".join(f"{package}={version}" for package, version in cuda_line().versions.items())
    return f"{versions} ours={_own_digest()}"


@functools.cache
def _own_digest() -> str:
    ours = hashlib.sha256()
    for file in sorted(path for path in own_headers().rglob("*") if path.is_file()):
        ours.update(file.read_bytes())
    return ours.hexdigest()


@functools.cache
def _line_for(wanted: str) -> CudaLine:
    if wanted and wanted not in map(str, LINES):
        raise UsageError(f"{CHOICE}: expected 12 or 13, {wanted!r} came", hint=f"unset {CHOICE} for the newest")
    missing: ToolMissing | None = None
    for major, names in LINES.items():
        if wanted in ("", str(major)):
            try:
                return _read_line(major, names)
            except ToolMissing as problem:
                missing = missing or problem
    assert missing is not None
    raise missing


def _read_line(major: int, names: LineNames) -> CudaLine:
    versions: dict[str, str] = {}
    headers: dict[Path, None] = {}
    libraries: list[Path] = []
    for package, folders in names.packages.items():
        try:
            found = metadata.distribution(package)
        except metadata.PackageNotFoundError:
            raise _not_whole(major, names, f"{package} is not installed") from None
        if found.version.partition(".")[0] != str(major):
            raise _not_whole(major, names, f"{package} is {found.version}")
        versions[package] = found.version
        headers.update(dict.fromkeys(place for folder in folders if (place := _folder(found, folder)).is_dir()))
        if not folders:
            libraries = sorted(_folder(found, names.library).glob(f"libnvrtc.so.{major}*"))
    if not libraries or not headers:
        raise _not_whole(major, names, "its packages are installed, and their files are not there")
    return CudaLine(major, libraries[-1], tuple(headers), versions)


def _not_whole(major: int, names: LineNames, why: str) -> ToolMissing:
    return ToolMissing(
        f"expected the CUDA compiler NVRTC with its headers, of CUDA {major}: {why}",
        hint=f"pip install {names.install}",
    )


def _folder(distribution: metadata.Distribution, inside: str) -> Path:
    return Path(str(distribution.locate_file(inside)))


@functools.cache
def _distribution(package: str) -> metadata.Distribution:
    try:
        return metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise ToolMissing(
            f"expected the package {package}, it is not installed", hint=f"pip install {package}"
        ) from None
