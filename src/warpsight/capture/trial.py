"""Runs a cut kernel on what was recorded: is it the program's kernel, what does it write, what does it depend on.

All of it on the virtual GPU. What must stay true: a kernel whose results depend on the clock, on the order of its
blocks, or on anything but its arguments is refused with that reason, and so are results that are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warpsight.capture.arguments import KernelArgument
from warpsight.capture.recording import CannotCapture
from warpsight.devices.device import Execution, Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import ParameterMismatch, UnsupportedInstruction
from warpsight.nouns import Build
from warpsight.nouns.dtypes import float_info, is_float
from warpsight.tasks import LaunchSize

MOST_WARP_INSTRUCTIONS = 100_000_000
DEADLINE_S = 60.0
POISONS = (0xA5, 0x5B)
CLOSE = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
# Relative and absolute (of the largest number) errors that another order of the same operations makes.
LAW = {
    "float64": (1e-10, 1e-11), "float32": (1e-5, 2e-6), "float16": (2e-3, 1e-3), "bfloat16": (2e-2, 1e-2),
    "float8_e4m3fn": (7e-2, 5e-2), "float8_e5m2": (1.3e-1, 1e-1),
}  # fmt: skip
MOVES = 3
MOST_SHARE = 0.05
_CLOCK = re.compile(r"%(?:clock|clock_hi|clock64|globaltimer\w*)\b")
_CHANCE = re.compile(r"%(?:smid|nsmid|warpid|gridid)\b")


@dataclass(frozen=True)
class CutTrial:
    """The cut kernel, compiled, and how it was launched."""

    build: Build
    entry: str
    size: LaunchSize
    text: str

    def run(
        self,
        arguments: Sequence[KernelArgument],
        contents: Mapping[str, np.ndarray] | None = None,
        *,
        check: bool = False,
        order: int | None = None,
        read_only: frozenset[str] = frozenset(),
    ) -> Execution:
        """One launch on what was recorded, but for `contents`."""
        values = [_value(a, contents or {}, read_only) for a in arguments]
        device = VirtualGpu(
            block_order=order, deadline_seconds=DEADLINE_S, max_instructions=MOST_WARP_INSTRUCTIONS * 32
        )
        try:
            return device.execute(self.build, self.entry, values, self.size, check=check, source_text=self.text)
        except (UnsupportedInstruction, ParameterMismatch) as problem:
            raise CannotCapture(f"the cut kernel does not run here: {problem.message}") from None


def _value(argument: KernelArgument, contents: Mapping[str, np.ndarray], read_only: frozenset[str]) -> Value:
    if argument.before is None:
        assert argument.value is not None
        number = float(argument.value) if is_float(argument.dtype) else int(argument.value)
        return Value(argument.name, np.array(number, argument.dtype), writable=False)
    array = contents.get(argument.name, argument.before)
    return Value(argument.name, array, writable=argument.role != "in" and argument.name not in read_only)


def replayed(trial: CutTrial, arguments: Sequence[KernelArgument]) -> Execution:
    """The cut kernel on what was recorded; refused where it does other than the program's did."""
    if _CLOCK.search(trial.build.ptx):
        raise CannotCapture("the kernel reads the clock: its results depend on time")
    if _CHANCE.search(trial.build.ptx):
        raise CannotCapture("the kernel asks where on the GPU it runs: its results depend on chance")
    done = trial.run(arguments)
    if done.refused:
        raise CannotCapture(f"the cut kernel cannot be launched: {done.refused}")
    if done.faults:
        raise CannotCapture(
            f"the cut kernel faults on what was recorded: {done.faults[0].kind}: {done.faults[0].message}",
            hint="it may follow pointers in its arrays, or read before the place that a pointer was given for",
        )
    if done.warp_instructions > MOST_WARP_INSTRUCTIONS:
        raise CannotCapture(
            f"the launch runs {done.warp_instructions:,} warp instructions; a check repeats it about 100 times",
            hint=f"run the program with smaller arguments; up to {MOST_WARP_INSTRUCTIONS:,} are taken",
        )
    for argument in arguments:
        if argument.after is not None and not _alike(done.arrays[argument.name], argument.after):
            raise CannotCapture(
                f"the cut kernel gives other results than the program's in {argument.name}",
                hint="the results may depend on the order of blocks, or on more than its arguments",
            )
    return done


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal, or floats that two compilers round differently."""
    if one.tobytes() == other.tobytes():
        return True
    if not is_float(one.dtype):
        return False
    return _near(one, other, CLOSE.get(one.dtype.name, 0.1))


def _near(one: np.ndarray, other: np.ndarray, share: float) -> bool:
    a, b = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        reach = share * (np.abs(b) + float(np.abs(b).max(initial=0.0, where=np.isfinite(b))))
        return bool(((np.abs(a - b) <= reach) | (a == b) | (np.isnan(a) & np.isnan(b))).all())


def find_roles(trial: CutTrial, arguments: Sequence[KernelArgument]) -> None:
    """Which arrays are written, and of those, which are written whole whatever they held before."""
    arrays = [a for a in arguments if a.is_array]
    for argument in arrays:
        argument.role = "inout"
    for argument in arrays:
        done = trial.run(arguments, read_only=frozenset({argument.name}))
        if not any(fault.kind == "write_to_const" for fault in done.faults):
            argument.role = "in"
    if all(argument.role == "in" for argument in arrays):
        raise CannotCapture("the launch writes to none of its arrays, so there is no result to check")
    plain = trial.run(arguments)
    for argument in arrays:
        if argument.role == "inout" and _written_whole(trial, arguments, argument, plain):
            argument.role = "out"


def _written_whole(
    trial: CutTrial, arguments: Sequence[KernelArgument], argument: KernelArgument, plain: Execution
) -> bool:
    assert argument.before is not None
    for poison in POISONS:
        poisoned = np.frombuffer(bytes([poison]) * argument.before.nbytes, argument.dtype)
        done = trial.run(arguments, {argument.name: poisoned})
        same = not done.faults and all(done.arrays[n].tobytes() == a.tobytes() for n, a in plain.arrays.items())
        if not same:
            return False
    return True


def require_numbers(arguments: Sequence[KernelArgument], done: Execution) -> None:
    """NaN among the results has no right answer: any kernel that gives NaN there would pass."""
    for argument in arguments:
        if argument.role == "in" or not argument.is_array or not is_float(argument.dtype):
            continue
        result = done.arrays[argument.name]
        count = int(np.count_nonzero(np.isnan(result.astype(np.float64))))
        if count:
            raise CannotCapture(
                f"{count:,} of {result.size:,} elements of {argument.name} are NaN after the launch",
                hint="NaN cannot be checked: give the program other data, or capture another launch",
            )


def require_order_free(trial: CutTrial, arguments: Sequence[KernelArgument], done: Execution) -> None:
    """Blocks in other orders must give the same results, but for what rounding does to sums."""
    for seed in (1, 2):
        other = trial.run(arguments, order=seed)
        for argument in arguments:
            if argument.role == "in" or not argument.is_array:
                continue
            one, two = done.arrays[argument.name], other.arrays.get(argument.name)
            if other.faults or two is None or not _alike(two, one):
                raise CannotCapture(f"the results in {argument.name} depend on the order in which blocks run")


def tolerance(trial: CutTrial, arguments: Sequence[KernelArgument], done: Execution) -> tuple[float, float]:
    """(rtol, atol) for the float results: what rounding does to them, seen by moving the inputs in their last place."""
    written = [a for a in arguments if a.role != "in" and a.is_array and is_float(a.dtype)]
    if not written:
        return 0.0, 0.0
    rtol = max(LAW[a.dtype][0] for a in written)
    moved = _moved(trial, arguments, done, written)
    least, most = 0.0, np.inf
    for argument in written:
        result = done.arrays[argument.name].astype(np.float64)
        size = float(np.abs(result).max(initial=0.0, where=np.isfinite(result)))
        least = max(least, LAW[argument.dtype][1] * size, 8 * moved[argument.name])
        most = min(most, MOST_SHARE * size) if size else most
        if size and 8 * moved[argument.name] > MOST_SHARE * size:
            raise CannotCapture(
                f"a change of its inputs in their last digit moves {argument.name} by {moved[argument.name]:.2g} of"
                f" {size:.2g}: no tolerance tells right from wrong"
            )
    return rtol, float(min(least, most)) if most > 0 else least


def _moved(
    trial: CutTrial, arguments: Sequence[KernelArgument], done: Execution, written: Sequence[KernelArgument]
) -> dict[str, float]:
    random = np.random.Generator(np.random.PCG64(20_271))
    most = dict.fromkeys((a.name for a in written), 0.0)
    inputs = [a for a in arguments if a.is_array and a.role != "out" and is_float(a.dtype)]
    for _ in range(MOVES if inputs else 0):
        near: dict[str, np.ndarray] = {}
        for argument in inputs:
            assert argument.before is not None
            eps = float_info(argument.dtype).eps
            by = 1.0 + random.choice([-eps, 0.0, eps], argument.before.shape)
            near[argument.name] = (argument.before.astype(np.float64) * by).astype(argument.dtype)
        other = trial.run(arguments, near)
        for argument in written if not other.faults else ():
            with np.errstate(invalid="ignore", over="ignore"):
                apart = other.arrays[argument.name].astype(np.float64) - done.arrays[argument.name].astype(np.float64)
                most[argument.name] = max(most[argument.name], float(np.nanmax(np.abs(apart), initial=0.0)))
    return most
