"""Whether a word of a command names a whole program. A file of its own, since it is asked of every task."""

from __future__ import annotations

from pathlib import Path

BUILDS = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt")


def is_program(word: str | None) -> bool:
    """Whether it names a program rather than a task: a .cu file with a main, a folder that is built, a binary."""
    path = Path(word or "")
    if not word or not path.exists():
        return False
    if path.is_dir():
        return not (path / "task.toml").exists() and any((path / name).is_file() for name in BUILDS)
    if path.suffix == ".cu":
        return "main" in path.read_text(errors="replace")
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
