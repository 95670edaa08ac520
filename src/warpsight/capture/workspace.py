"""A copy of a program's sources to change: its folder, and beside it what the sources name with `../`."""

from __future__ import annotations

import shutil
from pathlib import Path

from warpsight.capture.patch import SOURCES
from warpsight.errors import UsageError

MOST_BYTES = 256 << 20


def copied_program(target: Path, into: Path) -> Path:
    """The program's place in the copy, under `into`."""
    source = target.resolve()
    folder = source if source.is_dir() else source.parent
    place = into / folder.name
    if source.is_dir():
        total = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        if total > MOST_BYTES:
            raise UsageError(f"the folder {folder} has {total >> 20} MB, at most {MOST_BYTES >> 20} are copied")
        shutil.copytree(folder, place, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    else:
        place.mkdir(parents=True, exist_ok=True)
        for path in (p for p in folder.iterdir() if p.is_file() and (p == source or p.suffix in SOURCES)):
            shutil.copy2(path, place / path.name)
    for neighbour in _named_beside(place, folder):
        link = into / neighbour.name
        if not link.exists():
            link.symlink_to(neighbour)
    return place if source.is_dir() else place / source.name


def _named_beside(place: Path, folder: Path) -> list[Path]:
    """What lies beside the folder and is named in its files: `../NAME`."""
    import re

    found: set[Path] = set()
    for path in place.rglob("*"):
        if path.is_file() and path.stat().st_size < (2 << 20):
            for name in re.findall(rb"\.\./([A-Za-z0-9_][\w.+-]*)", path.read_bytes()):
                neighbour = folder.parent / name.decode()
                if neighbour.exists() and neighbour != folder:
                    found.add(neighbour)
    return sorted(found)
