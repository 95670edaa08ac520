"""Stands before nvcc while a program is built: PTX for the virtual GPU instead of what the build asks for, our runtime.

Runs as a file of its own in the jail: `nvcc_wrapper.py NVCC ARCH LIBRARIES HEADERS ARGUMENT...`. Takes out what chooses
architectures and runtimes, and adds what keeps PTX readable and lines known. Everything else is left as it stands.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

WITH_VALUE = frozenset({
    "-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code", "-cudart", "--cudart",
    "-compress-mode", "--compress-mode", "-cudadevrt", "--cudadevrt",
})  # fmt: skip
_JOINED = re.compile(
    r"--?(arch|gpu-architecture|gencode|generate-code|code|gpu-code|cudart|cudadevrt|compress-mode)=.*|-arch.+|-gencode.+"
)
DROPPED = frozenset({"-lcudart", "-lcudart_static", "-lcudadevrt", "-compress-all", "--compress-all"})


def rewritten(arguments: Sequence[str], arch: str, libraries: str, headers: str) -> list[str]:
    """The arguments for the real nvcc."""
    kept: list[str] = []
    skip = False
    for word in arguments:
        if skip:
            skip = False
        elif word in WITH_VALUE:
            skip = True
        elif word not in DROPPED and not _JOINED.fullmatch(word):
            kept.append(word)
    own = [f"-arch=compute_{arch}", f"-code=compute_{arch}", "-no-compress", "-lineinfo", "-cudart=shared"]
    return [*own, "-cudadevrt=none", f"-L{libraries}", "-isystem", headers, *kept]


def main() -> None:
    nvcc, arch, libraries, headers, *arguments = sys.argv[1:]
    os.execv(nvcc, [nvcc, *rewritten(arguments, arch, libraries, headers)])


if __name__ == "__main__":
    main()
