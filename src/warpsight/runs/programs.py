"""Profiles of whole programs, kept beside the runs so that `warpsight view` can show them again.

One gzip file each: a line about it, then all of it. Only the newest are kept. Not covered: builds and certificates.
What must stay true: a file that is damaged is an error of that one, and never hides the others.
"""

from __future__ import annotations

import gzip
import re
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from warpsight.errors import UsageError
from warpsight.files import write_whole
from warpsight.lens.diagnosis import Diagnosis
from warpsight.lens.whole_program import ProgramProfile
from warpsight.nouns import Count, Noun, TimelineEvent, WholeRun

FOLDER, ENDING = "programs", ".json.gz"
MOST_KEPT = 40
_ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")


class KeptProgram(Noun):
    """One line about a kept profile."""

    format: int = 1
    id: str
    at: str
    program: str
    gpu: str
    whole_us: float
    launches: Count
    kernels: Count
    first_finding: str = ""
    first_gain: float | None = None


class _KeptDiagnosis(Noun):
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    diagnosis: Diagnosis


class _KeptProfile(Noun):
    run: WholeRun
    diagnoses: tuple[_KeptDiagnosis, ...]
    sources: dict[str, str]
    timeline: tuple[TimelineEvent, ...]
    left_out: int


def keep_program(data: Path, found: ProgramProfile) -> KeptProgram:
    """Keep a profile, and drop the oldest beyond the limit. OSError is the caller's to explain."""
    now = datetime.now(UTC)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(found.run.program).name).strip("-.")[:60] or "program"
    first = next(iter(found.findings()), None)
    line = KeptProgram(
        id=f"{now:%Y%m%d-%H%M%S}-{name}-{secrets.token_hex(3)}", at=now.isoformat(timespec="seconds"),
        program=found.run.program, gpu=found.run.gpu, whole_us=found.whole_us, launches=found.run.launches,
        kernels=len({row.kernel for row in found.run.kernels}),
        first_finding="" if first is None else first.finding.name, first_gain=None if first is None else first.gain,
    )  # fmt: skip
    body = _KeptProfile(
        run=found.run.model_copy(update={"output": "", "errors": ""}),
        diagnoses=tuple(
            _KeptDiagnosis(kernel=key[0], grid=key[1], block=key[2], shared_bytes=key[3], diagnosis=one)
            for key, one in found.diagnoses.items()
        ),
        sources=found.sources, timeline=found.timeline, left_out=found.left_out,
    )  # fmt: skip
    folder = data / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    text = f"{line.model_dump_json()}\n{body.model_dump_json()}"
    write_whole(folder / f"{line.id}{ENDING}", gzip.compress(text.encode(), 6, mtime=0), mode=0o600)
    for old in sorted(folder.glob(f"*{ENDING}"))[:-MOST_KEPT]:
        old.unlink(missing_ok=True)
    return line


def list_programs(data: Path) -> tuple[KeptProgram, ...]:
    """The newest first; a file that cannot be read is left out."""
    return tuple(_lines(data / FOLDER))


def _lines(folder: Path) -> Iterator[KeptProgram]:
    for file in sorted(folder.glob(f"*{ENDING}"), reverse=True):
        try:
            with gzip.open(file, "rt", encoding="utf-8") as opened:
                yield KeptProgram.model_validate_json(opened.readline())
        except (OSError, EOFError, UnicodeDecodeError, ValidationError):
            continue


def read_program(data: Path, name: str) -> ProgramProfile:
    """A kept profile without its builds; the name is an id and never a path."""
    if not _ID.match(name):
        raise UsageError("there is no such program")
    file = data / FOLDER / f"{name}{ENDING}"
    try:
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            opened.readline()
            kept = _KeptProfile.model_validate_json(opened.read())
    except FileNotFoundError:
        raise UsageError("there is no such program") from None
    except (OSError, EOFError, UnicodeDecodeError, ValidationError) as problem:
        raise UsageError(f"the kept profile {file.name} cannot be read: {type(problem).__name__}") from None
    diagnoses = {(one.kernel, one.grid, one.block, one.shared_bytes): one.diagnosis for one in kept.diagnoses}
    return ProgramProfile(kept.run, diagnoses, {}, kept.sources, kept.timeline, kept.left_out)
