"""Families of inputs: the same task on numbers that show different mistakes.

`declared` is what the task says. The others change only arguments whose meaning stays: floats that are normal or
uniform, integers with a range, indices where no floats go with them; permutations and row pointers are left alone, and
declared bounds hold in every family. Where indices point and how long rows are is the matter of three families of
their own (placement.py), which leave floats as declared. An array that is filled with a constant is left alone too,
unless the caller says that its contents are free (initial.py): those get start contents in the families that show as
much beside them. What must stay true: the same task, workload, seed, family and free names give the same bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from warpsight.gate.placement import PLACEMENTS, placed_indices, placed_rows
from warpsight.nouns import Argument, Task, Workload
from warpsight.nouns.dtypes import FloatInfo, float_info, is_float
from warpsight.tasks import generate_inputs
from warpsight.tasks.inputs import default_fill
from warpsight.tasks.shapes import number_of

DECLARED = "declared"
LONELY, SPREAD = "lonely", "spread"
SPARSE_SHARE = 0.1
SPIKE = 100.0  # beyond what exp holds in single precision


@dataclass(frozen=True)
class Given:
    """What a family works from: the declared contents, and the bounds of the argument."""

    random: np.random.Generator
    declared: np.ndarray
    low: float
    high: float
    wide: bool  # of all float arguments, the one that gets the larger integers

    @property
    def shape(self) -> tuple[int, ...]:
        return self.declared.shape

    @property
    def holds(self) -> FloatInfo:
        return float_info(self.declared.dtype)

    @property
    def reach(self) -> int:
        """Powers of two up and down from one in which products of a few numbers stay normal."""
        return min(20, -self.holds.least_exponent // 3 + 1)

    @property
    def zero(self) -> float:
        """Zero, or what is nearest to it within the bounds."""
        return min(max(0.0, self.low), self.high)

    def within(self, values: np.ndarray) -> np.ndarray:
        return np.clip(values, self.low, self.high)


Family = Callable[[Given], np.ndarray | None]


def _wide(given: Given) -> np.ndarray:
    """Magnitudes over many powers of two: small terms beside large ones."""
    reach = given.reach
    top = reach if math.isinf(given.high) else math.log2(max(abs(given.low), abs(given.high), 1e-30))
    bottom = -reach if math.isinf(given.high) else top - 2 * reach
    sign = given.random.choice([-1.0, 1.0], given.shape)
    return given.within(sign * np.exp2(given.random.uniform(bottom, top, given.shape)))


def _tiny(given: Given) -> np.ndarray | None:
    """All numbers small: an absolute tolerance, or an epsilon that hides the work, shows."""
    down = min(40, -given.holds.least_exponent // 2 - 1)
    return given.declared.astype(np.float64) * 2.0**-down if given.zero == 0.0 else None


def _denormal(given: Given) -> np.ndarray | None:
    """Three of four are denormal or a zero of either sign, the others as declared."""
    if given.zero != 0.0:
        return None
    step = given.holds.smallest_subnormal
    bits = min(22, given.holds.bits - 1)
    small = given.within(given.random.integers(-(2**bits), 2**bits, given.shape) * step)
    return np.where(given.random.random(given.shape) < 0.75, small, given.declared.astype(np.float64))


def _sparse(given: Given) -> np.ndarray:
    """Mostly zeros: what is skipped, or counted twice, shows."""
    return np.where(given.random.random(given.shape) < SPARSE_SHARE, given.declared.astype(np.float64), given.zero)


def _lonely(given: Given) -> np.ndarray | None:
    """Zeros but for two numbers in a row, eight in an array of one row: errors of single terms do not average out."""
    if given.zero != 0.0:
        return None
    made = np.zeros(given.declared.size)
    rows, last = (1, given.declared.size) if given.declared.ndim < 2 else (-1, given.shape[-1])
    table = made.reshape(rows, last)
    count = min(last, 8 if rows == 1 else 2)
    kept = given.random.integers(0, last, (len(table), count))
    at = np.arange(len(table))[:, None]
    table[at, kept] = given.declared.astype(np.float64).reshape(table.shape)[at, kept]
    return made.reshape(given.shape)


def _spread(given: Given) -> np.ndarray | None:
    """Declared, four times as large where nothing bounds them: other ranges of functions, rows with few large parts."""
    return given.declared.astype(np.float64) * 4.0 if math.isinf(given.high) and given.holds.bits > 3 else None


def _structured(given: Given) -> np.ndarray:
    """A ramp, constant rows or the like of an identity, by chance: swapped and shifted indices show.

    All multiples of 1/64, so that long sums of equal terms stay exact: their rounding would otherwise all point one
    way, and an honest loop would be further off than any tolerance made for random terms.
    """
    low, high = max(given.low, -1.0), min(given.high, 1.0)
    low, high = (given.low, given.high) if low >= high else (low, high)
    last = given.shape[-1]
    kind = int(given.random.integers(3))
    if kind == 0:
        ramp = np.arange(given.declared.size).reshape(given.shape) / max(given.declared.size, 1)
        return given.within(np.rint((low + (high - low) * ramp) * 64) / 64)
    if kind == 1:
        rows = np.rint(given.declared[..., :1].astype(np.float64) * 64) / 64
        return given.within(np.broadcast_to(rows, given.shape))
    rows = np.arange(given.declared.size // last if last else 0).reshape(given.shape[:-1])
    return np.where(rows[..., None] % max(last, 1) == np.arange(last), high, given.zero)


def _cancellation(given: Given) -> np.ndarray:
    """Neighbours that nearly cancel, or nearly agree where the sign is fixed: lost digits show."""
    flat = given.declared.astype(np.float64).reshape(-1)
    pairs = flat.size // 2
    sign = -1.0 if given.low < 0 < given.high else 1.0
    near = 1.0 + given.random.uniform(-1, 1, pairs) * 2.0 ** -min(12, given.holds.bits // 2 + 1)
    flat[1 : 2 * pairs : 2] = sign * flat[0 : 2 * pairs : 2] * near
    return given.within(flat.reshape(given.shape))


def _spikes(given: Given) -> np.ndarray:
    """One element of each row far above the rest, which lie low, or none: a greatest that misses one shows.

    In one row of eight it is the last one, in two beside the edge of a block (a power of two, or a multiple of one,
    since loops and tiles go wrong there), in one there is none; else it is anywhere.
    """
    if given.declared.size == 0:
        return given.declared
    rest = given.declared.astype(np.float64)
    if not (math.isinf(given.low) or math.isinf(given.high)):
        rest = given.low + (rest - given.low) / 32  # not one value: sums of equal terms round all one way
    made = rest.reshape(-1, given.shape[-1])
    rows, last = made.shape
    places = np.stack((np.full(rows, last - 1), _edges(given, rows, last), given.random.integers(0, last, rows)))
    kinds = given.random.choice([0, 1, 2, 3], rows, p=[1 / 8, 2 / 8, 4 / 8, 1 / 8])
    spiked = np.flatnonzero(kinds < 3)
    made[spiked, places[kinds[spiked], spiked]] = _spike(given) if math.isinf(given.high) else given.high
    return given.within(made.reshape(given.shape))


def _spike(given: Given) -> float:
    return min(SPIKE, given.holds.most / 4)


def _edges(given: Given, rows: int, last: int) -> np.ndarray:
    """Places in rows of `last` elements at a power of two or one beside it, half of them times a whole number."""
    step = 2 ** given.random.integers(0, max(1, (last - 1).bit_length()), rows)
    further = given.random.integers(0, np.maximum(1, last // step)) * given.random.integers(0, 2, rows)
    return np.clip(step * (1 + further) + given.random.choice([-1, 0, 0, 1], rows), 0, last - 1)


def _integers(given: Given) -> np.ndarray | None:
    """Whole numbers whose sums and products are exact in the declared precision, and in no lower one."""
    reach = 2 ** min(12, given.holds.bits - 1) - 1 if given.wide else min(3, 2 ** (given.holds.bits - 1))
    made = _whole(given, reach)
    return None if made is None else np.where(made % 2 == 0, given.within(made + 1), made) if given.wide else made


def _bits(given: Given) -> np.ndarray | None:
    """Minus one, zero and one: exact in any precision, so only a mistake in what is computed shows."""
    return _whole(given, 1)


def _whole(given: Given, reach: int) -> np.ndarray | None:
    low, high = math.ceil(max(given.low, -reach)), math.floor(min(given.high, reach))
    return given.random.integers(low, high + 1, given.shape).astype(np.float64) if low < high else None


FAMILIES: dict[str, Family] = {
    "wide": _wide,
    "tiny": _tiny,
    "denormal": _denormal,
    "sparse": _sparse,
    LONELY: _lonely,
    SPREAD: _spread,
    "structured": _structured,
    "cancellation": _cancellation,
    "spikes": _spikes,
    "integers": _integers,
    "bits": _bits,
}
FAMILY_NAMES = (DECLARED, *FAMILIES)
ALL_FAMILIES = (*FAMILIES, *PLACEMENTS)
EXACT_FAMILIES = ("integers", "bits")


def family_inputs(
    task: Task, workload: Workload, seed: int, family: str, free: Collection[str] = ()
) -> dict[str, np.ndarray] | None:
    """The inputs by name, or None where no argument of the task takes this family."""
    inputs = generate_inputs(task, workload, seed)
    if family == DECLARED:
        return inputs
    if family in PLACEMENTS:
        return _placed(task, workload, seed, family, inputs)
    changed = False
    for name in free:
        made = _start_contents(family, _stream(seed, family, name), inputs[name])
        changed = changed or made is not None
        inputs[name] = inputs[name] if made is None else made
    floats = [a.name for a in task.arguments if _bounds(a, workload) is not None and is_float(a.dtype)]
    for argument in task.arguments:
        declared = inputs.get(argument.name)
        bounds = _bounds(argument, workload)
        if argument.fill == "index" and floats:
            bounds = None  # where floats are summed by index, other indices would make other sums, much longer ones
        if declared is None or bounds is None or declared.size == 0:
            continue
        random = _stream(seed, family, argument.name)
        if is_float(argument.dtype):
            wide = floats[seed % len(floats)] == argument.name
            made = FAMILIES[family](Given(random, declared, *bounds, wide))
        else:
            made = _integer_contents(family, random, declared, int(bounds[0]), int(bounds[1]))
        if made is not None:
            inputs[argument.name] = np.ascontiguousarray(made.astype(argument.dtype))
            changed = True
    return inputs if changed else None


def _placed(
    task: Task, workload: Workload, seed: int, family: str, inputs: dict[str, np.ndarray]
) -> dict[str, np.ndarray] | None:
    """The declared inputs with indices, whole numbers and row pointers placed otherwise; None where there are none."""
    changed = False
    for argument in task.arguments:
        declared, bounds = inputs.get(argument.name), _bounds(argument, workload)
        if declared is None or declared.size == 0 or is_float(argument.dtype) or argument.role not in ("in", "inout"):
            continue
        random, made = _stream(seed, family, argument.name), None
        if argument.fill == "csr_rows":
            made = placed_rows(family, random, declared)
        elif bounds is not None:
            made = placed_indices(family, random, declared, int(bounds[0]), int(bounds[1]))
        if made is not None:
            inputs[argument.name] = np.ascontiguousarray(made.astype(argument.dtype))
            changed = True
    return inputs if changed else None


def _start_contents(family: str, random: np.random.Generator, declared: np.ndarray) -> np.ndarray | None:
    """What an array starts with instead of its constant; None where the family would show less beside it."""
    if family in EXACT_FAMILIES or declared.dtype.kind != "f":
        low = -2 if declared.dtype.kind == "f" else 0
        return random.integers(low, 3, declared.shape).astype(declared.dtype)
    made = random.standard_normal(declared.shape)
    if family == "tiny":
        made *= 2.0 ** (-6 if declared.dtype == np.float16 else -40)
    elif family == "sparse":
        made = np.where(random.random(declared.shape) < SPARSE_SHARE, made, 0.0)
    elif family == "structured":
        made = (np.arange(declared.size).reshape(declared.shape) % 128 - 64) / 64
    elif family != "spikes":
        return None
    return made.astype(declared.dtype)


def _bounds(argument: Argument, workload: Workload) -> tuple[float, float] | None:
    """The range an argument may be filled from (integers: the last included); None where it must stay as it is."""
    if argument.role not in ("in", "inout"):
        return None
    fill = argument.fill or default_fill(argument)
    if fill == "normal":
        return -math.inf, math.inf
    if fill == "uniform":
        low = 0.0 if argument.low is None else number_of(argument.low, workload.axes)
        return float(low), float(1.0 if argument.high is None else number_of(argument.high, workload.axes))
    if fill in ("integers", "index") and argument.high is not None:
        low = 0 if argument.low is None else number_of(argument.low, workload.axes)
        high = number_of(argument.high, workload.axes)
        return (low, high - 1) if low < high <= 2**53 else None
    return None


def _integer_contents(
    family: str, random: np.random.Generator, declared: np.ndarray, low: int, high: int
) -> np.ndarray | None:
    """The families that have a meaning for whole numbers: the ends of the range, mostly one value, order, equality."""
    if family == "wide":
        ends = sorted({low, min(low + 1, high), max(high - 1, low), high})
        return random.choice(np.array(ends, np.int64), declared.shape)
    if family == "sparse":
        return np.where(random.random(declared.shape) < SPARSE_SHARE, declared.astype(np.int64), low)
    if family == "structured":
        kind = int(random.integers(3))
        if kind == 0:
            return np.broadcast_to(declared[..., :1], declared.shape)
        count = min(high - low + 1, declared.size)  # the whole range of 64 bits is more than a number of NumPy's holds
        ramp = np.arange(declared.size, dtype=np.int64).reshape(declared.shape) % count
        return low + ramp if kind == 1 else high - ramp
    return None


def _stream(seed: int, family: str, name: str) -> np.random.Generator:
    words = np.frombuffer(hashlib.sha256(f"{family}\0{name}".encode()).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *(int(word) for word in words)])))
