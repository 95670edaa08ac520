"""The configurations of a space, and the kernel that each of them is. Pure: nothing is compiled or run.

What must stay true: the kernel of a configuration is a candidate of the task like any other, with its launch in its own
first lines; and a configuration whose launch is impossible on a shown workload is not among them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

from warpsight.errors import TaskError, UsageError
from warpsight.nouns import Candidate, Task
from warpsight.tasks import evaluate_launch, read_candidate
from warpsight.tuning.constants import with_constants
from warpsight.tuning.launches import holds, launch_with, with_launch
from warpsight.tuning.records import Config, SearchSpace
from warpsight.tuning.triton import with_header

MOST_CONFIGURATIONS = 50_000
Key = tuple[int, ...]


@dataclass(frozen=True)
class Configurations:
    """A space over one kernel of one task."""

    task: Task
    given: Candidate
    space: SearchSpace

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.space.parameters)

    @cached_property
    def given_key(self) -> Key | None:
        """The given kernel's own place, where all its values are known."""
        values = [parameter.given for parameter in self.space.parameters]
        known = tuple(value for value in values if value is not None)
        return known if len(known) == len(values) else None

    @cached_property
    def allowed(self) -> tuple[Key, ...]:
        """Every configuration that may be tried, the given kernel's own left out."""
        size = self.product
        if size > MOST_CONFIGURATIONS:
            widest = max(self.space.parameters, key=lambda parameter: len(parameter.values))
            raise UsageError(
                f"expected at most {MOST_CONFIGURATIONS} combinations of values, found {size}",
                hint=f"fewer values, such as --set {widest.name}={','.join(map(str, widest.values[:3]))}",
            )
        every = itertools.product(*(parameter.values for parameter in self.space.parameters))
        return tuple(key for key in every if key != self.given_key and self._allows(key))

    @property
    def product(self) -> int:
        """How many combinations there are before the rules."""
        return math.prod(len(parameter.values) for parameter in self.space.parameters)

    def config(self, key: Key) -> dict[str, int]:
        return dict(zip(self.names, key, strict=True))

    def key(self, config: Config) -> Key:
        return tuple(config[name] for name in self.names)

    def kernel(self, key: Key) -> str:
        """The kernel's text in this configuration."""
        if key == self.given_key:
            return self.given.source
        values = self.config(key)
        if self.given.language == "triton":
            return with_header(self.given.source, values)
        launch = launch_with(self.space.launch, values, frozenset(axis.name for axis in self.task.axes))
        constants = {p.name: values[p.name] for p in self.space.parameters if p.constant}
        return with_launch(with_constants(self.given.source, constants), launch)

    def distance(self, key: Key) -> int:
        """How many steps of its values lie between this and the given kernel."""
        far = 0
        for parameter, value in zip(self.space.parameters, key, strict=True):
            order = sorted({*parameter.values} | ({parameter.given} if parameter.given is not None else set()))
            far += abs(order.index(value) - order.index(parameter.given)) if parameter.given is not None else 0
        return far

    def _allows(self, key: Key) -> bool:
        values = self.config(key)
        if not all(holds(rule, values) for rule in self.space.rules):
            return False
        shown = [workload.axes for workload in self.task.workloads if not workload.hidden]
        try:
            if self.given.language == "triton":
                moved = read_candidate(self.kernel(key), self.task, self.task.kernel_file, "triton")
                sizes = [evaluate_launch(moved, axes) for axes in shown]
            else:
                moved = self.given.model_copy(update={"launch": self.space.launch})
                sizes = [evaluate_launch(moved, {**axes, **values}) for axes in shown]
        except TaskError:
            return False
        return bool(sizes)
