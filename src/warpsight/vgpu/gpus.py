"""The GPUs that are known: those of `gpus.toml` beside this file, and those a user has added in a file of their own.

The user's file is `gpus.toml` in the configuration folder, or the one that WARPSIGHT_GPUS names; it has the same
tables, may use the designs that are here (`sm = "ga10x"`), may start from another GPU (`like = "a100"`), and wins over
an entry of the same name. Whatever is wrong in it comes out as one UsageError with file, key, what was expected and
what came. What must stay true: a name means one GPU or is an error that lists near ones, never a guess.
"""

from __future__ import annotations

import difflib
import functools
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from pydantic import ValidationError

from warpsight.errors import UsageError
from warpsight.vgpu.gpu import Gpu, GpuLimits

BUILT_IN = Path(__file__).with_name("gpus.toml")
SECTIONS = ("limits", "sm", "gpu")
# Names and choices rather than numbers: they need no source.
UNSOURCED = frozenset({"key", "name", "aliases", "note", "sm", "arch", "capability", "like", "sources"})
EXAMPLE = "`warpsight gpus a100 --json` shows every key; `warpsight docs gpus` has an example"


@dataclass(frozen=True)
class _Entry:
    """One table as it was written, and where."""

    where: str
    values: Mapping[str, Any]
    sources: Mapping[str, str]

    def source_of(self, key: str, built_in: bool) -> str | None:
        stated = self.sources.get(key) or self.sources.get("rest")
        return stated or (None if built_in else f"given in {self.where.split(': ')[0]}")


_Sheets = Mapping[str, Mapping[str, _Entry]]


class UnknownGpu(UsageError):
    """No GPU, or more than one, has this name."""


def user_file(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file with the user's own GPUs, or None when there is none. A file that WARPSIGHT_GPUS names must exist."""
    chosen = environment.get("WARPSIGHT_GPUS", "")
    if chosen:
        path = Path(chosen).expanduser()
        if not path.is_file():
            raise UsageError(f"WARPSIGHT_GPUS: expected a file, found none at {path}", "unset it, or make the file")
        return path
    from platformdirs import user_config_path

    path = user_config_path("warpsight") / "gpus.toml"
    return path if path.is_file() else None


def known_gpus(environment: Mapping[str, str] = os.environ) -> dict[str, Gpu]:
    """Every GPU by its short name: those of the package first, in the order of the file."""
    return gpus_of(user_file(environment))


def gpus_of(own: Path | None) -> dict[str, Gpu]:
    """The GPUs of the package and of one more file."""
    built_in = _built_in()
    if own is None:
        return dict(_built_in_gpus())
    added = _read(own)
    sheets = {section: {**built_in[section], **added[section]} for section in SECTIONS}
    # Entries of the package that the user did not touch stay as they are, also when a design under them is replaced.
    return {**_built_in_gpus(), **{key: _build(key, sheets) for key in added["gpu"]}}


def find_gpu(name: str, environment: Mapping[str, str] = os.environ) -> Gpu:
    """The GPU of this name: short name, product name or alias, in any case and spelling, or a part of just one."""
    gpus = known_gpus(environment)
    wanted = _plain(name)
    spellings = {key: {_plain(word) for word in (key, gpu.name, *gpu.aliases)} for key, gpu in gpus.items()}
    exact = [key for key, words in spellings.items() if wanted in words]
    if exact:
        return gpus[exact[-1]]  # the user's own comes last
    partial = [key for key, words in spellings.items() if len(wanted) >= 2 and any(wanted in word for word in words)]
    if len(partial) == 1:
        return gpus[partial[0]]
    if partial:
        raise UnknownGpu(f"{name!r} is a part of several GPUs: {', '.join(partial)}", "say which one")
    near = difflib.get_close_matches(wanted, [w for words in spellings.values() for w in words], n=5, cutoff=0.5)
    close = [key for key, words in spellings.items() if words & set(near)]
    listed = f"near: {', '.join(close)}" if close else f"known: {', '.join(gpus)}"
    raise UnknownGpu(f"expected the name of a known GPU, found {name!r}; {listed}", "`warpsight gpus` lists them all")


def block_limits(gpu_arch: str) -> GpuLimits:
    """The limits of sm_XX (or compute_XX); of the nearest older architecture that is known when it is not."""
    number = int(re.sub(r"[^0-9]", "", gpu_arch))
    known = _limits_by_arch()
    return known[max((n for n in known if n <= number), default=min(known))]


@functools.cache
def _built_in() -> _Sheets:
    return _read(BUILT_IN)


@functools.cache
def _built_in_gpus() -> Mapping[str, Gpu]:
    sheets = _built_in()
    return {key: _build(key, sheets, built_in=True) for key in sheets["gpu"]}


@functools.cache
def _limits_by_arch() -> Mapping[int, GpuLimits]:
    entries = _built_in()["limits"]
    return {
        int(c.replace(".", "")): GpuLimits.model_validate({**e.values, "capability": c}) for c, e in entries.items()
    }


def _read(file: Path) -> _Sheets:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise UsageError(f"{file}: expected a readable TOML file: {problem}") from None
    for section in data:
        if section not in SECTIONS:
            _wrong(f"{file}", section, f"one of {', '.join(SECTIONS)}", "an unknown table")
    return {section: _entries(file, section, data.get(section, {})) for section in SECTIONS}


def _entries(file: Path, section: str, tables: Any) -> dict[str, _Entry]:
    if not isinstance(tables, dict):
        _wrong(f"{file}", section, f"tables [{section}.NAME]", repr(tables))
    entries: dict[str, _Entry] = {}
    for name, table in cast("dict[str, Any]", tables).items():
        if not isinstance(table, dict):
            _wrong(f"{file}", f"{section}.{name}", "a table", repr(table))
        values = dict(cast("dict[str, Any]", table))
        given: Any = values.pop("source", {})
        where = f"{file}: {section}.{name}"
        sources = cast("dict[str, Any]", given) if isinstance(given, dict) else {"": given}
        if not all(isinstance(text, str) and key for key, text in sources.items()):
            _wrong(where, "source", "a table of texts, key = where it is from", repr(sources.get("", sources)))
        entries[name] = _Entry(where, values, sources)
    return entries


def _build(key: str, sheets: _Sheets, *, built_in: bool = False) -> Gpu:
    """One GPU from its layers: limits, SM design, then the product, each over the one before."""
    values: dict[str, Any] = {}
    origin: dict[str, _Entry] = {}
    for entry in _layers(key, sheets):
        values |= entry.values
        origin |= dict.fromkeys(entry.values, entry)
    own = sheets["gpu"][key]
    values.pop("like", None)
    values["aliases"] = own.values.get("aliases", [])  # another GPU's names are not inherited
    sources: dict[str, str] = {}
    for name in values.keys() - UNSOURCED:
        stated = origin[name].source_of(name, built_in)
        if stated is None:
            _wrong(origin[name].where, f"source.{name}", "where the number is from", "nothing")
        sources[name] = stated
    try:
        return Gpu.model_validate({**values, "key": key, "sources": sources})
    except ValidationError as problem:
        _report(problem, origin, own)


def _layers(key: str, sheets: _Sheets) -> list[_Entry]:
    """Limits, design, then the chain of GPUs from the one that all start from to this one."""
    chain: list[_Entry] = []
    seen: list[str] = []
    at: str | None = key
    while at is not None:
        if at in seen:
            _wrong(chain[-1].where, "like", "a GPU that does not start from this one", " -> ".join([*seen, at]))
        seen.append(at)
        entry = _named(sheets, "gpu", at, chain[-1].where if chain else at, "like")
        chain.append(entry)
        at = entry.values.get("like")
    design_at = next((e for e in chain if "sm" in e.values), None)
    if design_at is None:
        _wrong(chain[0].where, "sm", f"one of {', '.join(sheets['sm'])}", "nothing")
    design = _named(sheets, "sm", design_at.values["sm"], design_at.where, "sm")
    capability = _named(sheets, "limits", design.values.get("capability"), design.where, "capability")
    return [capability, design, *reversed(chain)]


def _named(sheets: _Sheets, section: str, name: Any, where: str, key: str) -> _Entry:
    if not isinstance(name, str) or name not in sheets[section]:
        _wrong(where, key, f"one of {', '.join(sheets[section])}", "nothing" if name is None else repr(name))
    return sheets[section][name]


def _report(problem: ValidationError, origin: Mapping[str, _Entry], own: _Entry) -> NoReturn:
    first = problem.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    where = origin[key].where if key in origin else own.where
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, list(Gpu.model_fields), n=1)
        _wrong(where, key, f"a known key (near: {near[0]})" if near else "a known key", "an unknown one")
    if first["type"] == "missing":
        _wrong(where, key, Gpu.model_fields[key].description or "a value", "nothing")
    expected = str(first["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")
    _wrong(where, key or "numbers", expected, repr(first["input"]) if key else "otherwise")


def _wrong(where: str, key: str, expected: str, found: str) -> NoReturn:
    joint = "." if ": " in where else ": "
    raise UsageError(f"{where}{joint}{key}: expected {expected}, found {found}", EXAMPLE)


def _plain(name: str) -> str:
    """A name without case, punctuation and the words that vendors put before it."""
    return re.sub(r"nvidia|geforce|tesla|quadro|[^a-z0-9]", "", name.lower())
