"""Which files a client may name: task folders and kernel files under the allowed roots, nothing else.

Paths are resolved first, so neither `..` nor a link leads out, and what lies outside is refused in the same words
whether it exists or not. Only reads. Not covered: a link that is changed between the look and the read; who can write
under the roots is trusted that far.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from warpsight.errors import UsageError

TASKS = "tasks"
TASK_FILE = "task.toml"
KERNEL_ENDINGS = (".cu", ".cl", ".py")
REPORT_ENDINGS = (".ncu-rep", ".csv", ".sqlite")
MOST_KERNEL_BYTES = 1 << 20
MOST_TASKS = 500


class Places:
    """The allowed roots."""

    def __init__(self, roots: Sequence[Path]) -> None:
        for root in roots:
            if not root.is_dir():
                raise UsageError(f"expected a folder to serve, {root} is none", hint="--root FOLDER")
        self.roots = tuple(root.resolve() for root in roots)

    def task_folder(self, word: str) -> Path:
        """The folder of a task: a path under a root, or the name of a task there or in `tasks/` there."""
        for place in self._candidates(word, below=("", TASKS)):
            folder = place.parent if place.name == TASK_FILE else place
            if _is_file(folder / TASK_FILE):
                self._require_whole(folder)
                return folder
        names = sorted({folder.name for folder in self.tasks()})
        near = difflib.get_close_matches(word, names, n=5, cutoff=0.5) or names[:10]
        hint = f"one of {', '.join(near)}" if near else f"a folder with a {TASK_FILE}; `warpsight new NAME` makes one"
        raise UsageError(f"no task {word[:200]!r} under {self._said()}", hint=hint)

    def kernel_text(self, word: str) -> str:
        """The text of a kernel file."""
        found = next((place for place in self._candidates(word) if _is_file(place)), None)
        if found is None:
            raise UsageError(f"no kernel file {word[:200]!r} under {self._said()}", hint="give a path below it")
        if found.suffix not in KERNEL_ENDINGS:
            raise UsageError(f"expected a kernel file ({' or '.join(KERNEL_ENDINGS)}), got {found.name!r}")
        try:
            with found.open("rb") as stream:
                content = stream.read(MOST_KERNEL_BYTES + 1)
            if len(content) > MOST_KERNEL_BYTES:
                raise UsageError(f"expected at most {MOST_KERNEL_BYTES} bytes in {found.name}, there are more")
            return content.decode("utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"expected a kernel in UTF-8 at {found.name}: {problem}") from None

    def program(self, word: str) -> Path:
        """A .cu file, a folder that is built, or a built program."""
        for place in self._candidates(word):
            if place.exists():
                return place
        raise UsageError(f"no program {word[:200]!r} under {self._said()}", hint="give a path below it")

    def report(self, word: str) -> Path:
        """A report of a profiler."""
        found = next((place for place in self._candidates(word) if _is_file(place)), None)
        if found is None:
            raise UsageError(f"no report {word[:200]!r} under {self._said()}", hint="give a path below it")
        if found.suffix.lower() not in REPORT_ENDINGS:
            raise UsageError(f"expected a report ({', '.join(REPORT_ENDINGS)}), got {found.name!r}")
        return found

    def new_folder(self, name: str) -> Path:
        """Where a new task goes: in `tasks/` of the first root where that is there, else right below the root."""
        root = self.roots[0]
        place = root / TASKS if (root / TASKS).is_dir() else root
        if "/" in name or name in ("", ".", "..") or "\0" in name:
            raise UsageError(f"expected a name for a new task such as my_kernel, got {name[:80]!r}")
        if not self.inside(place):
            raise UsageError(f"{place} leads out of the allowed folders")
        return place.resolve() / name

    def inside(self, place: Path) -> bool:
        """Whether a path lies below a root once every link is followed."""
        return self._inside(place.resolve())

    def tasks(self) -> tuple[Path, ...]:
        """The task folders that are there: the roots, their folders, and those in `tasks/`."""
        found: dict[Path, None] = {}
        for root in self.roots:
            for pattern in (TASK_FILE, f"*/{TASK_FILE}", f"{TASKS}/*/{TASK_FILE}"):
                for file in sorted(root.glob(pattern)):
                    if self._inside(file.resolve()):
                        found[file.parent] = None
        return tuple(found)[:MOST_TASKS]

    def _candidates(self, word: str, below: Sequence[str] = ("",)) -> Iterator[Path]:
        """Where the word may lead, only as far as that is inside."""
        if "\0" in word or not word.strip():
            return
        given = Path(word)
        tried = [given] if given.is_absolute() else [root / part / given for part in below for root in self.roots]
        for place in tried:
            try:
                resolved = place.resolve()
            except (OSError, RuntimeError):  # a loop of links, a name too long
                continue
            if self._inside(resolved):
                yield resolved

    def _inside(self, resolved: Path) -> bool:
        return any(resolved.is_relative_to(root) for root in self.roots)

    def _require_whole(self, folder: Path) -> None:
        """No file of a task may lead out by a link: the reader of tasks would follow it."""
        for entry in folder.iterdir():
            if entry.is_symlink() and not self._inside(entry.resolve()):
                raise UsageError(f"task {folder.name}: {entry.name} is a link that leads out of the allowed folders")

    def _said(self) -> str:
        return " or ".join(map(str, self.roots))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long, a folder that may not be looked into
        return False
