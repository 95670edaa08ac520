"""A candidate's inline C++ to a library that PyTorch loads, compiled in a jail of its own and kept by content.

Makes the same text that `load_inline` makes, so that a candidate means the same here. Options are an allow-list, each
refused by name otherwise. A text that does not compile is RunFailed with the first errors; nothing is run here.
"""

from __future__ import annotations

import hashlib
import json
import re
import sysconfig
from pathlib import Path
from typing import Any, Protocol

from warpsight.jail import package_files
from warpsight.tasks.importers.jailed_build import build, compiler
from warpsight.tasks.importers.kernelbench.cpu import capability
from warpsight.tasks.importers.kernelbench.session import Compile, RunFailed

SCHEMA = "extension-1"
CFLAG = re.compile(
    r"-O([0-3sg]|fast)|-w|-g|-march=native|-mtune=native|-m(avx|avx2|avx512[a-z]*|fma|f16c|bmi2?|sse[0-9.]*)"
    r"|-f(fast-math|openmp|openmp-simd|no-math-errno|no-trapping-math|associative-math|finite-math-only|unroll-loops"
    r"|unroll-all-loops|tree-vectorize|strict-aliasing|no-strict-aliasing|permissive|PIC|inline-functions|no-exceptions)"
    r"|-ffp-contract=(fast|off|on)|-std=(c|gnu)\+\+(17|20|2a)|-W[a-z][a-z0-9=-]*|-D[A-Za-z_]\w{0,63}(=[\w.+-]{0,100})?"
)
LDFLAG = re.compile(r"-fopenmp|-lgomp|-lm|-lpthread|-O[0-3]")
NAME = re.compile(r"[A-Za-z_]\w*")
LIBRARIES = ("-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python")
SAID_CHARS = 1500


class Kept(Protocol):
    """Bytes by content: what compiles are remembered in."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, body: bytes) -> None: ...


def compiler_of(kept: Kept | None, *, deadline_s: float = 300.0) -> Compile:
    """The function that serves a candidate's wish for a library."""

    def compile(asked: dict[str, Any]) -> tuple[str, bytes]:
        text, flags, links = unit_text(asked), _allowed(asked, "cflags", CFLAG), _allowed(asked, "ldflags", LDFLAG)
        parts = json.dumps([SCHEMA, text, flags, links, _torch_version(), str(compiler()), capability()])
        key = hashlib.sha256(parts.encode()).hexdigest()
        name = f"extension_{key[:16]}"
        found = kept.get(key) if kept else None
        if found is None:
            found = _compiled(name, text, flags, links, deadline_s)
            if kept:
                kept.put(key, found)
        return name, found

    return compile


def unit_text(asked: dict[str, Any]) -> str:
    """The translation unit: the sources between the header and the bindings, as PyTorch lays them out."""
    lines = ["#include <torch/extension.h>"] if asked.get("headers") else []
    lines += [str(source) for source in asked["sources"]]
    functions = [str(name) for name in asked["functions"]]
    for name in functions:
        if not NAME.fullmatch(name):
            raise RunFailed(f"expected the name of a C++ function, found {name!r}")
    if functions:
        bound = "torch::wrap_pybind_function({0})" if asked.get("wrapped") else "{0}"
        lines.append("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
        lines += [f'm.def("{name}", {bound.format(name)}, "{name}");' for name in functions]
        lines.append("}")
    return "\n".join(lines) + "\n"


def steps(name: str, flags: list[str], links: list[str], torch: Path) -> list[list[str]]:
    """The two commands: compile, link."""
    folders = (torch / "include", torch / "include/torch/csrc/api/include", _python_headers())
    shown = [word for folder in folders for word in ("-isystem", str(folder))]
    defined = [f"-DTORCH_EXTENSION_NAME={name}", "-DTORCH_API_INCLUDE_EXTENSION_H", "-D_GLIBCXX_USE_CXX11_ABI=1"]
    program = str(compiler())
    return [
        [program, *defined, *shown, "-fPIC", "-std=c++20", *flags, "-c", "main.cpp", "-o", "main.o"],
        [program, "-shared", "main.o", "-o", f"{name}.so", f"-L{torch / 'lib'}", *LIBRARIES, *links],
    ]


def _compiled(name: str, text: str, flags: list[str], links: list[str], deadline_s: float) -> bytes:
    files = package_files("torch")
    library = f"{name}.so"
    built = build(
        steps(name, flags, links, files[0]),
        {"main.cpp": text.encode()},
        [library],
        readable=(*files, _python_headers()),
        deadline_s=deadline_s,
    )
    if not built.ok:
        raise RunFailed(_errors(built.said))
    return built.made[library]


def _errors(said: str) -> str:
    """The lines that say what is wrong, without the trail of includes and templates around them."""
    lines = [line for line in said.splitlines() if "error" in line or "undefined reference" in line]
    return ("\n".join(lines) or said.strip() or "the compiler failed and said nothing")[:SAID_CHARS]


def _allowed(asked: dict[str, Any], key: str, pattern: re.Pattern[str]) -> list[str]:
    found = [str(word) for word in asked[key]]
    for word in found:
        if not pattern.fullmatch(word):
            raise RunFailed(f"the option {word!r} in extra_{key} is not allowed")
    return found


def _python_headers() -> Path:
    return Path(sysconfig.get_paths()["include"])


def _torch_version() -> str:
    from importlib import metadata

    return metadata.version("torch")
