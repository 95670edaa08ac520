"""nvcc's command line to what an import uses of it: definitions, header folders, the options that change device code.

Pure. Options for the host compiler, debugging, optimisation levels and the architecture are left out: the import
compiles for an architecture of its own. Options that nvcc alone knows (lambdas, relaxed constexpr) are kept for it.
What is not known is listed, never passed on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_DEFINE = re.compile(r"-D([A-Za-z_]\w*)(?:=(.*))?")
_TAKES_A_WORD = {
    "-Xcompiler",
    "-Xptxas",
    "-Xlinker",
    "-arch",
    "-gencode",
    "-o",
    "-ccbin",
    "-L",
    "-x",
    "--compiler-options",
}
_LEFT_OUT = re.compile(
    r"-O\S*|-g|-G|-lineinfo|-l\S+|-L\S+|-W\S*|-w|-m64|-f\S+|-pg|-arch=\S+|--?gpu-architecture=\S+|-gencode=?\S*|-code=\S+"
    r"|-Xcompiler=\S+|-Xptxas=\S+|--ptxas-options=\S+|-res-usage|-c|-dlto|-lto|-use-local-env"
    r"|-cudart\S*|-diag-suppress\S*|--diag_suppress\S*|-Wno\S*|-march=\S+|-mtune=\S+|-pthread|-fopenmp|-DNDEBUG"
)  # fmt: skip
_NVCC_ALONE = re.compile(r"--?extended-lambda|--?expt-[a-z-]+")
_OPTIONS = {"-use_fast_math": "--use_fast_math", "--use_fast_math": "--use_fast_math", "-restrict": "--restrict"}
_VALUED = re.compile(r"--?(fmad|ftz|prec-div|prec-sqrt|maxrregcount)=(\S+)")
_STD = re.compile(r"--?std=(?:c|gnu)\+\+(\w+)")


@dataclass(frozen=True)
class Flags:
    """What a translation unit is compiled with."""

    defines: tuple[str, ...]
    folders: tuple[str, ...]
    options: tuple[str, ...]
    nvcc_alone: tuple[str, ...]  # options that our own compiler does not have
    separate: bool  # device code of several units is linked together
    left_out: tuple[str, ...]


def read_flags(words: Sequence[str]) -> Flags:
    """The words of a compile command, sorted out."""
    defines: dict[str, str] = {}
    folders: list[str] = []
    options: dict[str, str] = {}
    nvcc_alone: list[str] = []
    left_out: list[str] = []
    separate = False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-I", "-D", "-isystem") and rest:
            word = ("-I" if word == "-isystem" else word) + rest.pop(0)
        if word in _TAKES_A_WORD:
            left_out.append(f"{word} {rest.pop(0)}" if rest else word)
        elif found := _DEFINE.fullmatch(word):
            defines[found[1]] = word
        elif word.startswith("-I"):
            folders.append(word[2:])
        elif word in ("-rdc=true", "-dc", "--relocatable-device-code=true"):
            separate = True
        elif _NVCC_ALONE.fullmatch(word):
            nvcc_alone += [] if word in nvcc_alone else [word]
        elif word in _OPTIONS:
            options[_OPTIONS[word]] = _OPTIONS[word]
        elif found := _VALUED.fullmatch(word):
            options[found[1]] = f"--{found[1]}={found[2]}"
        elif found := _STD.fullmatch(word):
            options["std"] = "--std=c++20" if found[1] in ("20", "2a", "23") else "--std=c++17"
        else:
            left_out += [] if _LEFT_OUT.fullmatch(word) else [word]
    return Flags(
        defines=tuple(defines.values()),
        folders=tuple(folders),
        options=tuple(options.values()),
        nvcc_alone=tuple(nvcc_alone),
        separate=separate,
        left_out=tuple(left_out),
    )
