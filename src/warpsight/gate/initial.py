"""Which arrays must be right whatever they start with: those that are read and written, and filled with a constant.

A kernel that overwrites where it should add is right on zeros. So such an array gets other contents in the families of
inputs and in secret sizes, but only where the reference's answer moves with them. Where it does not, the declared fill
is a promise to the kernel (a histogram that counts into a cleared array), and every run keeps it. What must stay true:
contents are of the size of what the reference adds to them, so that leaving them out is no rounding error, and of
its sign, so that an honest sum loses no digits.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import ExpectedValues, task_key
from warpsight.nouns import Argument, Task, Workload
from warpsight.tasks import generate_inputs, shape_of
from warpsight.tasks.inputs import default_fill, generate_argument

VARIED = (
    "normal",
    "uniform",
    "integers",
    "index",
    "permutation",
    "csr_rows",
    "recorded",
    "resampled",
)  # by seed, or with a meaning to keep
CONTENTS = "contents"
LEAST_ELEMENTS = 64
MOST_WHOLE = 100
SHARE = (0.1, 0.5)  # of the largest number that the reference adds: more would cost an honest sum its last digits
SEED = 20_261


def free_contents(task: Task, values: ExpectedValues) -> frozenset[str]:
    """The names of arguments whose declared constant may be replaced, since the reference says what follows."""
    constant = [a.name for a in task.arguments if a.role == "inout" and _is_constant(a)]
    if not constant:
        return frozenset()
    workload = min(task.workloads, key=lambda w: _telling(task, w))

    def compute() -> bytes:
        inputs = generate_inputs(task, workload, SEED)
        before = values.of(task, inputs, workload.axes)
        return json.dumps([n for n in constant if _moves(task, workload, inputs, before, values, n)]).encode()

    key = task_key(task, workload.axes, "free contents", str(SEED))
    return frozenset(str(name) for name in json.loads(values.kept(key, compute)))


def _is_constant(argument: Argument) -> bool:
    """Whether its fill is one number. What a program was seen to begin with is what the kernel may count on."""
    return argument.recorded is None and (argument.fill or default_fill(argument)) not in VARIED


def changed_starts(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], values: ExpectedValues
) -> list[str]:
    """Which arrays started with other contents than their declared constant."""
    free = [a for a in task.arguments if a.name in free_contents(task, values)]
    return [a.name for a in free if not np.array_equal(inputs[a.name], generate_argument(a, workload.axes, 0))]


def start_told(names: Collection[str]) -> str:
    """What to do about a start that was changed, in words."""
    told = " and ".join(f"`{name}`" for name in sorted(names))
    one = len(names) == 1
    return (
        f"; the start of {told} was changed, since the reference reads {'it' if one else 'them'}: "
        f'declare role = "scratch" if {"it" if one else "they"} must start as declared'
    )


def contents_inputs(
    task: Task, workload: Workload, seed: int, free: Collection[str], values: ExpectedValues
) -> dict[str, np.ndarray] | None:
    """The declared inputs with other start contents; None where nothing is free."""
    inputs = generate_inputs(task, workload, seed)
    if not free:
        return None
    expected = values.of(task, inputs, workload.axes)
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x696E6974])))
    return {**inputs, **{name: _contents(random, inputs[name], expected[name]) for name in sorted(free)}}


def _contents(random: np.random.Generator, given: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if given.dtype.kind != "f":
        room = int(np.iinfo(given.dtype).max) - int(expected.max(initial=0))
        return random.integers(0, max(1, min(MOST_WHOLE, room // 2)), given.shape).astype(given.dtype)
    usual = float(np.max(np.abs(expected), where=np.isfinite(expected), initial=0.0)) or 1.0
    most = float(np.finfo(given.dtype).max) / 64
    made = random.uniform(*SHARE, given.shape) * np.where(expected < 0, -1.0, 1.0) * min(usual, most)
    return made.astype(given.dtype)


def _telling(task: Task, workload: Workload) -> tuple[bool, int]:
    """Small first, but not so small that there is nothing to see."""
    size = sum(int(np.prod(shape_of(a, workload.axes), dtype=np.int64)) for a in task.arguments if a.shape)
    return size < LEAST_ELEMENTS, size


def _moves(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    before: Mapping[str, np.ndarray],
    values: ExpectedValues,
    name: str,
) -> bool:
    """Whether other contents of one argument give another answer; no where the reference does not take them."""
    given = inputs[name]
    other = given + (np.arange(given.size) % 5 + 3).reshape(given.shape).astype(given.dtype)
    try:
        after = values.of(task, {**inputs, name: other}, workload.axes)
    except TaskError:
        return False
    return any(not np.array_equal(after[key], before[key], equal_nan=True) for key in before)
