"""What is in an image that a program loads itself: PTX, machine code (a cubin) or nvcc's container of both; its kernels
and variables, and CUDA's error where it cannot be loaded.

PTX is taken where there is some. Of machine code every instruction must be of a form that we read, which is seen when a
kernel of it is asked for. Bytes come from the program: what trips a reader up is its own fault, and told.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import error as StructError  # noqa: N812 (a class)

from warpsight.cubin.elf import Elf
from warpsight.cubin.usage import read_entries
from warpsight.errors import WarpsightError
from warpsight.programs.images import MAGIC, NoPtx, machine_codes, ptx_of
from warpsight.vgpu import machine
from warpsight.vgpu.ptx.parse import Module, parse_module
from warpsight.vgpu.sass.image import variables_of

INVALID_IMAGE, WRONG_ARCHITECTURE, INVALID_PTX = 200, 209, 218
SPACES = ("global", "const")
_ELF = b"\x7fELF"


class CannotLoad(WarpsightError):
    """An image that a driver would refuse; `code` is CUDA's number for it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class ImageContents:
    """PTX with its parse, or else machine code; names of kernels; name, size and kind (True: constant) of variables."""

    ptx: str
    parsed: Module | None
    cubin: bytes
    kernels: tuple[str, ...]
    variables: tuple[tuple[str, int, bool], ...]


def look_into(image: bytes, capability: str) -> ImageContents:
    """The contents of an image for a GPU of this compute capability. Raises CannotLoad."""
    if image.startswith(_ELF):
        return _of_cubin(image, capability)
    if image[:4] == MAGIC.to_bytes(4, "little"):
        try:
            return _of_ptx(ptx_of(image))
        except NoPtx:
            codes = [code for code in machine_codes(image) if _fits(Elf(code).architecture, capability)]
            if not codes:
                raise CannotLoad(WRONG_ARCHITECTURE, f"the container holds nothing for {capability}") from None
            return _of_cubin(codes[-1], capability)
    return _of_ptx(image.rstrip(b"\0").decode("utf-8", errors="replace"))


def _of_ptx(text: str) -> ImageContents:
    if ".version" not in text:
        raise CannotLoad(INVALID_IMAGE, "expected PTX, a cubin or a container of them, the program gave something else")
    try:
        parsed = parse_module(text)
        found = [(name, parsed.variable(name)) for name, (space, *_) in parsed.raw_variables.items() if space in SPACES]
    except (WarpsightError, ValueError, LookupError, ArithmeticError, RecursionError, AssertionError) as problem:
        raise CannotLoad(INVALID_PTX, f"the PTX cannot be read: {problem}") from None
    kernels = tuple(name for name, one in parsed.functions.items() if one.is_entry and one.body is not None)
    variables = tuple((name, v.size, v.space == "const") for name, v in found if v is not None and not v.unsized)
    return ImageContents(text, parsed, b"", kernels, variables)


def _of_cubin(cubin: bytes, capability: str) -> ImageContents:
    try:
        elf = Elf(cubin)
        kernels = tuple(entry.name for entry in read_entries(cubin))
        symbols, _ = variables_of(cubin)
    except (
        WarpsightError,
        ValueError,
        LookupError,
        ArithmeticError,
        MemoryError,
        AssertionError,
        StructError,
    ) as problem:
        raise CannotLoad(INVALID_IMAGE, f"the cubin cannot be read: {problem}") from None
    if not _fits(elf.architecture, capability):
        raise CannotLoad(
            WRONG_ARCHITECTURE, f"machine code for sm_{elf.architecture} does not run on a GPU of {capability}"
        )
    variables = tuple((s.name, s.size, s.space.name == "CONST") for s in symbols)
    if any(not 0 < size <= machine.MOST_VARIABLE_BYTES for _, size, _ in variables):
        raise CannotLoad(INVALID_IMAGE, "the cubin has a variable of no size, or of more than a GPU takes")
    return ImageContents("", None, cubin, kernels, variables)


def _fits(architecture: int, capability: str) -> bool:
    """The same generation, and not a later member of it."""
    major, minor = (int(part) for part in capability.split("."))
    return architecture // 10 == major and architecture % 10 <= minor
