"""What a tuning has tried, on disk after every try: `asked.json` and one line for each trial, in a folder of its own.

A tuning that was interrupted or killed goes on from here. A torn last line was never acknowledged and is cut off. What
must stay true: when `add` returns, the trial is durable; and one process at a time works on a tuning.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from warpsight.errors import BrokenMachine, UsageError
from warpsight.files import write_whole
from warpsight.folders import data_folder
from warpsight.tuning.records import TuneRequest, TuningTrial

ASKED, TRIALS, BEST, LOCK = "asked.json", "trials.jsonl", "best", "lock"


def tunings_folder() -> Path:
    """Where tunings are kept, beside the runs."""
    return data_folder() / "tunings"


class TuningJournal:
    """One tuning's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, asked: TuneRequest, parent: Path | None = None) -> TuningJournal:
        made = cls((tunings_folder() if parent is None else parent) / asked.id)
        try:
            made.folder.mkdir(parents=True)
            made.write_asked(asked)
        except OSError as problem:
            raise BrokenMachine(
                f"could not write {made.folder}: {problem}", hint="set WARPSIGHT_DATA to a folder that can be written"
            ) from None
        return made

    def asked(self) -> TuneRequest:
        try:
            return TuneRequest.model_validate_json((self.folder / ASKED).read_bytes())
        except (OSError, ValidationError) as problem:
            raise UsageError(f"expected a tuning in {self.folder}: {str(problem)[:200]}") from None

    def write_asked(self, asked: TuneRequest) -> None:
        """All of it or none."""
        write_whole(self.folder / ASKED, asked.model_dump_json(indent=1), durable=True)

    def trials(self) -> list[TuningTrial]:
        """All that were acknowledged, in order."""
        path = self.folder / TRIALS
        raw = path.read_bytes() if path.exists() else b""
        whole = raw[: raw.rfind(b"\n") + 1]
        if whole != raw:
            os.truncate(path, len(whole))
        try:
            return [TuningTrial.model_validate_json(line) for line in whole.splitlines()]
        except ValidationError as problem:
            raise UsageError(f"a line of {path} is not what was written: {str(problem)[:200]}") from None

    def add(self, trial: TuningTrial) -> None:
        try:
            with (self.folder / TRIALS).open("ab") as file:
                file.write(trial.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            raise BrokenMachine(f"could not write {self.folder}: {problem}", hint="free space, or rights") from None

    def keep_best(self, kernel: str, ending: str) -> Path:
        """The best kernel so far as a file, so that an interrupted tuning leaves one too."""
        path = self.best_file(ending)
        write_whole(path, kernel)
        return path

    def best_file(self, ending: str) -> Path:
        return self.folder / f"{BEST}{ending}"

    def remove(self) -> None:
        """The whole tuning."""
        shutil.rmtree(self.folder)

    @contextmanager
    def hold(self) -> Generator[None]:
        """Be the only one that works on this tuning; ends with the process, however it ends."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise UsageError(f"another process works on the tuning {self.folder.name}", hint="wait for it") from None
        try:
            yield
        finally:
            lock.release()


def find_tuning(word: str, parent: Path | None = None) -> TuningJournal:
    """The tuning that a person means: its id, the beginning of it, or `last`."""
    folder = tunings_folder() if parent is None else parent
    ids = sorted((path.parent.name for path in folder.glob(f"*/{ASKED}")), reverse=True)
    if word == "last" and ids:
        return TuningJournal(folder / ids[0])
    found = [word] if word in ids else [name for name in ids if word in name]
    if len(found) != 1:
        listed = f"the latest are {', '.join(ids[:5])}" if ids else "no tuning has been made yet"
        raise UsageError(f"{word!r} means {len(found)} tunings" if found else f"no tuning {word!r}", hint=listed)
    return TuningJournal(folder / found[0])
