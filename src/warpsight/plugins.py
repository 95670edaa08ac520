"""What other packages add: things of one kind, by name, from the entry points of installed packages.

A `Seam` is one kind: its group of entry points, and what we have ourselves as "module:Name". Nothing is imported before
it is asked for. A person who chooses a plugin that cannot be loaded gets an error that names it. Where all plugins of a
kind are used, a broken one is left out with a warning, so it never breaks a command that did not ask for it.
What must stay true: `find` gets only words of a person. Texts of models, task files and certificates may name what is
installed, and nothing in them is ever imported.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from warpsight.errors import UsageError, WarpsightError

T = TypeVar("T")
KINDS = ("devices", "findings", "models", "profilers", "rewrites", "tools")


class PluginWarning(UserWarning):
    """A plugin is broken and was left out."""


@dataclass(frozen=True)
class Plugin:
    """One thing that another package added; `value` is what its entry point names."""

    group: str
    name: str
    package: str
    value: Any

    def tried(self, work: Callable[[], T], otherwise: T) -> T:
        """What the plugin does; where it raises, it is left out of this answer and the reason is told."""
        try:
            return work()
        except Exception as problem:  # whatever a package of somebody else does wrong
            _warn(self.group, self.name, self.package, problem)
            return otherwise


@dataclass(frozen=True)
class Seam:
    """One kind of thing that can be added. `form` says how one that is not installed is named, if it may be."""

    kind: str
    group: str
    built_in: Mapping[str, str] = field(default_factory=dict[str, str])
    form: str = "package.module:Class"

    def names(self) -> tuple[str, ...]:
        """Ours first, then what is installed, in the order of their names."""
        others = sorted({point.name for point in _points(self.group)} - self.built_in.keys())
        return (*self.built_in, *others)

    def find(self, name: str) -> Any:
        """What a person named: ours, an installed one, or `package.module:Class`; UsageError names those there are."""
        if name in self.built_in:
            return _imported(self.built_in[name])
        for point in _points(self.group):
            if point.name == name:
                return self._loaded(name, point.load, f" of {_package(point)}")
        if is_place(name):
            return self._loaded(name, lambda: _imported(name))
        raise UsageError(f"no {self.kind} {name!r}", hint=f"one of {', '.join(self.names())}, or {self.form}")

    def open(self, name: str, *arguments: Any, **settings: Any) -> Any:
        """What `open` of the named class gives; what goes wrong inside a plugin is told with its name."""
        found = self.find(name)
        if name in self.built_in:
            return found.open(*arguments, **settings)
        try:
            return found.open(*arguments, **settings)
        except WarpsightError:
            raise
        except Exception as problem:
            raise UsageError(f"{self.kind} {name!r} of another package cannot be opened: {_told(problem)}") from problem

    def installed(self) -> tuple[Plugin, ...]:
        """All that other packages add, loaded, in the order of their names; broken ones are left out."""
        return _installed(self.group)

    def _loaded(self, name: str, load: Callable[[], Any], whose: str = "") -> Any:
        try:
            return load()
        except Exception as problem:  # an import runs whatever the package does
            told = f"no {self.kind} {name!r}: it{whose} cannot be loaded: {_told(problem)}"
            raise UsageError(told, hint="mend or remove that package") from None


def is_place(name: str) -> bool:
    """Whether a name is `package.module:Class`."""
    module, _, attribute = name.partition(":")
    return attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def states() -> tuple[tuple[str, str, str], ...]:
    """Every plugin that is installed: its kind, its name with its package, and what is wrong with it, if anything."""
    found: list[tuple[str, str, str]] = []
    for kind in KINDS:
        for point in _points(f"warpsight.{kind}"):
            try:
                point.load()
                wrong = ""
            except Exception as problem:
                wrong = _told(problem)
            found.append((kind, f"{point.name} of {_package(point)}", wrong))
    return tuple(found)


@functools.cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    """Read once: it looks into the folder of every installed package."""
    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))))


@functools.cache
def _installed(group: str) -> tuple[Plugin, ...]:
    found: list[Plugin] = []
    for point in _points(group):
        try:
            found.append(Plugin(group, point.name, _package(point), point.load()))
        except Exception as problem:
            _warn(group, point.name, _package(point), problem)
    return tuple(found)


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else point.dist.name


def _told(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"


def _warn(group: str, name: str, package: str, problem: Exception) -> None:
    told = f"{name} of {package} (entry point {group}) is left out: {_told(problem)}"
    warnings.warn(told, PluginWarning, stacklevel=3)
