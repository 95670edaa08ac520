"""What a worker can see: which files and folders of this machine are shown in its root, and under which links.

Covers names only; the stage mounts them read-only. The default view is what a Python and its shared libraries need: no
home, no project data, no /proc, no /sys, no /usr/bin. Shown files keep their paths, so a worker can learn those
names; what it prints is scrubbed of them by the parent.
What must stay true: nothing is shown that was not asked for here.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/lib32", "/etc/ld.so.cache")
WORKER_FILES = tuple(Path(__file__).with_name(name) for name in ("worker_io.py", "kernel.py"))
_MAX_LINKS = 40


@dataclass(frozen=True)
class JailView:
    """Real paths to show, parents before children, and links to make."""

    binds: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


def make_view(argv: Sequence[str], readable: Iterable[Path]) -> JailView:
    """The default view, the worker's own files (absolute paths in `argv`) and what was asked for."""
    named = [Path(part) for part in argv if part.startswith("/") and Path(part).exists()]
    links: dict[str, str] = {}
    real = {_follow(path, links) for path in (*_python(), *map(Path, LIBRARIES), *WORKER_FILES, *named, *readable)}
    binds: list[str] = []
    for path in sorted(path for path in real if path is not None):
        if not _inside(path, binds):
            binds.append(path)
    kept = tuple((path, target) for path, target in sorted(links.items()) if not _inside(path, binds))
    return JailView(tuple(binds), kept)


def package_files(*names: str) -> tuple[Path, ...]:
    """Where installed packages lie, with the shared libraries that wheels put beside them; for `readable`."""
    found: list[Path] = []
    for name in names:
        spec = importlib.util.find_spec(name)
        places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
        if spec and not places and spec.origin:
            places = [Path(spec.origin)]
        for place in places:
            found += [place, *place.parent.glob(f"{name}.libs"), *place.parent.glob(f"{name}-*.dist-info")]
    return tuple(found)


def _python() -> Iterable[Path]:
    """The interpreter, its standard library, and the skeleton of the virtual environment it runs from."""
    base = Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    yield base / "bin" / version
    yield base / "lib" / version
    yield from (base / "lib").glob(f"lib{version}*.so*") if base != Path("/usr") else ()
    yield Path(sys.executable)
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix) / "pyvenv.cfg"


def _follow(path: Path, links: dict[str, str]) -> str | None:
    """The real path; every link on the way is remembered, so that the name given still leads there. None if absent."""
    done, rest = Path("/"), list(path.absolute().parts[1:])
    for _ in range(_MAX_LINKS + len(rest) * 8):
        if not rest:
            return str(done)
        step = rest.pop(0)
        if step == "..":
            done = done.parent
            continue
        here = done / step
        if here.is_symlink():
            target = here.readlink()
            links[str(here)] = str(target)
            done = Path("/") if target.is_absolute() else done
            rest = [part for part in target.parts if part != "/"] + rest
        elif here.exists():
            done = here
        else:
            return None
    return None


def _inside(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)
