"""Where the pip packages of the CUDA line put their headers and programs, and which versions they are.

Found through the import system, so any virtualenv works; nothing is taken from a system toolkit. Imports nothing heavy.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from importlib import metadata
from pathlib import Path

from warpsight.errors import ToolMissing

COMPILER_PACKAGES = (
    "cuda-bindings",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-runtime",
    "nvidia-cuda-crt",
    "nvidia-cuda-cccl",
)
DISASSEMBLER_PACKAGES = ("nvidia-cuda-nvdisasm", "nvidia-cuda-cuobjdump")


def version(package: str) -> str:
    """The installed version of a package, or ToolMissing with the command that installs it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise ToolMissing(
            f"expected the package {package}, it is not installed", hint=f"pip install {package}"
        ) from None


def cuda_root() -> Path:
    """The folder that the CUDA packages share, the one with `include` and `bin` in it."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for root in sorted(Path(place).glob("cu[0-9]*"), reverse=True):
            if (root / "include").is_dir():
                return root
    raise ToolMissing(
        "expected the CUDA headers from the nvidia-cuda-runtime package, none are installed",
        hint="pip install " + " ".join(COMPILER_PACKAGES),
    )


def own_headers() -> Path:
    """Our headers: the standard ones that NVRTC lacks, written for device code."""
    return Path(__file__).with_name("headers")


def include_dirs() -> tuple[Path, ...]:
    """The header folders in search order: ours, the CUDA headers, then cub, thrust and cuda/std."""
    include = cuda_root() / "include"
    return (own_headers(), *(path for path in (include, include / "cccl") if path.is_dir()))


def program(name: str, package: str) -> Path:
    """The path of a program that a package brings, such as nvdisasm."""
    path = cuda_root() / "bin" / name
    if not path.is_file():
        raise ToolMissing(f"expected the program {name}, found nothing at {path}", hint=f"pip install {package}")
    return path


def nvrtc_library() -> Path:
    """The library of the compiler."""
    found = sorted((cuda_root() / "lib").glob("libnvrtc.so.*"))
    if not found:
        raise ToolMissing("expected the library NVRTC, it is not installed", hint="pip install nvidia-cuda-nvrtc")
    return found[-1]


@functools.cache
def compiler_identity() -> str:
    """Everything whose change can change the output of a compile: the compiler and the headers."""
    ours = hashlib.sha256()
    for file in sorted(path for path in own_headers().rglob("*") if path.is_file()):
        ours.update(file.read_bytes())
    return " ".join(f"{package}={version(package)}" for package in COMPILER_PACKAGES) + f" ours={ours.hexdigest()}"
