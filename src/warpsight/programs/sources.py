"""What a build is made of: the sources, the folders beside them that they name, and where the build stands.

The jail runs as nobody, so what it could not read is copied first. What must stay true: a build sees what its sources
name and no more, and the key of a kept build has the bytes of all that it could read.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.toolchain.cache import cache_folder, content_key

SOURCES = frozenset(
    {".cu", ".cuh", ".h", ".hpp", ".hh", ".c", ".cc", ".cpp", ".cxx", ".inl", ".txt", ".cmake", ".mk", ""}
)
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
MOST_READ_BYTES = 2 << 20
_BESIDE = re.compile(rb"((?:\.\./)+)([A-Za-z0-9_][\w.+-]*)")
_PROJECT = re.compile(r"^\s*project\s*\(", re.MULTILINE | re.IGNORECASE)


def store() -> Path:
    return (cache_folder() or Path(tempfile.gettempdir()) / f"warpsight-{os.getuid()}") / "programs"


def readable(source: Path) -> Path:
    """The source itself, or a copy of its folder where the jail could not read it: as root, it runs as nobody."""
    folder = source if source.is_dir() else source.parent
    files = sorted(p for p in folder.rglob("*") if p.is_file()) if source.is_dir() else list(near(source))
    if os.geteuid() != 0 or (folder.stat().st_mode & 0o5 == 0o5 and all(p.stat().st_mode & 0o4 for p in files)):
        return source
    stamp = content_key(str(folder), *(f"{p} {p.stat().st_mtime_ns} {p.stat().st_size}" for p in files))
    copied = made_folder(store()) / f"{stamp}.source"
    if not copied.is_dir():
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=copied.parent))
        for path in files:
            target = made / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
            target.chmod(target.stat().st_mode | 0o444)
        for path in (made, *(p for p in made.rglob("*") if p.is_dir())):
            path.chmod(0o755)
        made.rename(copied)
    return copied if source.is_dir() else copied / source.name


def makefile_of(folder: Path) -> Path | None:
    return next((folder / name for name in MAKEFILES if (folder / name).is_file()), None)


def is_project(folder: Path) -> bool:
    """Whether CMake can build this folder alone; what names no project is a part of another one."""
    file = folder / "CMakeLists.txt"
    return file.is_file() and _PROJECT.search(file.read_text(errors="replace")) is not None


def build_place(source: Path) -> Path:
    """Where a build stands: the folder itself, or the one below it that alone has a Makefile."""
    if source.is_file() or makefile_of(source) or is_project(source):
        return source
    below = sorted(p for depth in ("*", "*/*") for p in source.glob(depth) if p.is_dir() and makefile_of(p))
    if len(below) == 1:
        return below[0]
    found = f"{len(below)} folders below it have a Makefile" if below else "found neither"
    hint = f"name one of them: {', '.join(p.name for p in below[:5])}" if below else "name a .cu file"
    raise UsageError(f"expected a Makefile, or a CMakeLists.txt with a project, in {source}; {found}", hint)


def near(source: Path) -> Iterator[Path]:
    """A file, and the sources that lie beside it."""
    yield source
    for path in sorted(source.parent.iterdir()):
        if path != source and path.is_file() and path.suffix and path.suffix in SOURCES:
            yield path


def require_inside(source: Path, inside: Callable[[Path], bool]) -> None:
    """A program that a stranger wrote may show nothing from outside: neither by `../` in its sources nor by a link."""
    for place in folders_beside(source).values():
        if not inside(place):
            raise UsageError(f"{source.name} names {place} with ../, which is outside of the allowed folders")
    for path in source.rglob("*") if source.is_dir() else source.parent.iterdir():
        if path.is_symlink() and not inside(path.resolve()):
            raise UsageError(f"{path.name} beside {source.name} is a link that leads outside of the allowed folders")


def folders_beside(source: Path) -> dict[str, Path]:
    """Folders and files outside that the sources name with `../`, by the name that the root of the jail has for them.

    The build stands right below the jail's root, so however many `../` there are, they lead to that root.
    """
    folder = source if source.is_dir() else source.parent
    found: dict[str, Path] = {}
    waiting, seen = [(source, folder)], {folder}
    while waiting:
        here, at = waiting.pop()
        for file in sources_in(here):
            for up, name in _BESIDE.findall(file.read_bytes()[:MOST_READ_BYTES]):
                depth = up.count(b"/")
                places = {at.joinpath(*[".."] * depth), file.parent.joinpath(*[".."] * depth)}
                for place in places:
                    target = (place.resolve() / name.decode()).resolve()
                    if target == folder and source.is_dir():  # itself, by its own name
                        found.setdefault(name.decode(), target)
                    if target.exists() and target not in seen and not folder.is_relative_to(target):
                        if target.is_relative_to(folder) or len(found) >= 64 or target.parent == Path("/"):
                            continue
                        seen.add(target)
                        found.setdefault(name.decode(), target)
                        waiting.append((target, target if target.is_dir() else target.parent))
    return found


def sources_in(source: Path) -> Iterator[Path]:
    files = [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file())
    yield from (
        p for p in files[:4000] if p.suffix in SOURCES and not p.is_symlink() and p.stat().st_size < MOST_READ_BYTES
    )


def contents(source: Path, beside: Iterable[Path]) -> Iterator[bytes]:
    """All that can change a build: the bytes of the sources, under their names."""
    places = [source, *beside] if source.is_dir() else [*near(source), *beside]
    for place in places:
        for file in sources_in(place):
            yield str(file).encode() + b"\0" + file.read_bytes()


def made_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
