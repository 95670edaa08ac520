"""What a rewrite is, and what it may know of the task: types, shapes and fixed values, never inputs or outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from warpsight.nouns import Task


class Rewrite(NamedTuple):
    """One changed kernel: what was done in a few words, the whole text, and why where the name does not say it."""

    name: str
    text: str
    why: str = ""


def _none() -> dict[str, int]:
    return {}


@dataclass(frozen=True)
class Facts:
    """What the task says of its kernel. `values` are scalars that are the same number in every workload."""

    entry: str
    axes: tuple[str, ...] = ()
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    shapes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    values: Mapping[str, int] = field(default_factory=_none)
    scalars: Mapping[str, str] = field(default_factory=dict[str, str])  # the expression that each scalar holds
    most: Mapping[str, int] = field(default_factory=_none)  # the largest size of each axis
    multiples: Mapping[str, int] = field(default_factory=_none)  # what each axis is a multiple of

    @property
    def has_double(self) -> bool:
        """Whether double precision is asked for, and so no accident."""
        return "float64" in self.dtypes.values()


def facts_of(task: Task) -> Facts:
    """The facts of a task."""
    scalars = {a.name: str(a.value) for a in task.arguments if a.role == "scalar" and a.value is not None}
    return Facts(
        entry=task.entry,
        axes=tuple(axis.name for axis in task.axes),
        dtypes={a.name: a.dtype for a in task.arguments},
        shapes={a.name: a.shape for a in task.arguments if a.shape},
        values={name: int(value) for name, value in scalars.items() if value.isdecimal()},
        scalars=scalars,
        multiples={axis.name: axis.multiple_of for axis in task.axes},
        most={axis.name: axis.max for axis in task.axes},
    )
