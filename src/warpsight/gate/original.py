"""Expected values from a kernel: the one that a task was captured from, in a process of its own.

The text is the user's own, as it was found in their program; whoever judges a candidate trusts that text, the compiler
and the virtual GPU. It is compiled and run apart from every candidate: another process, another memory, and it is given
one text for good. What comes back is bytes of the declared types and shapes. Float outputs are as exact as the kernel's
own precision and no more; the tolerance of a captured task is made for that. What must stay true: contents that the
original does not take (a fault, an endless loop) are a TaskError, and never an expected value.

The PTX of the original is the law. What its machine code gives is its `narrow` answer: a GPU runs that, and where
products and sums were joined otherwise than in the PTX the original itself is off by so much.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import warpsight.vgpu
from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.jail import JailedWorker, Limits, WorkerLost, package_files
from warpsight.nouns import Argument, Build, Task
from warpsight.nouns.dtypes import is_float
from warpsight.tasks import LaunchSize, evaluate_launch, launch_of, read_candidate, run_reference, shape_of
from warpsight.tasks.oracle import Oracle
from warpsight.tasks.reference import is_kernel
from warpsight.toolchain import packages
from warpsight.toolchain.compile import compile_cuda

WORKER = Path(__file__).with_name("original_worker.py")
PACKAGES = (
    "warpsight", "numpy", "ml_dtypes", "pydantic", "pydantic_core", "annotated_types", "typing_extensions",
    "typing_inspection",
)  # fmt: skip
DEADLINE_S = 120.0
MOST_ALIVE = 2
ARRAY_BYTES = (1 << 32) - (1 << 20)
LIMITS = Limits(
    wall_s=DEADLINE_S * 2, cpu_s=24 * 3600, memory_bytes=16 << 30, answer_bytes=(1 << 32) - 1, log_bytes=1 << 20
)


def reference_outputs(
    task: Task,
    inputs: Mapping[str, np.ndarray],
    axes: Mapping[str, int],
    oracle: Oracle | None = None,
    *,
    narrow: bool = False,
) -> dict[str, np.ndarray]:
    """The expected outputs by name, of a reference of either kind: see `tasks.run_reference`."""
    if not is_kernel(task.reference_file):
        return run_reference(task, inputs, axes, oracle, narrow=narrow)
    return _by_machine_code(task, inputs, axes) if narrow else _originals(os.getpid()).run(task, inputs, axes)


def _by_machine_code(task: Task, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int]) -> dict[str, np.ndarray]:
    values = [Value(a.name, _given(a, inputs, axes), writable=a.role != "in") for a in task.arguments]
    device = VirtualGpu(deadline_seconds=DEADLINE_S).of_machine_code()
    done = device.execute(built_original(task), task.entry, values, original_size(task, axes), check=False)
    if done.refused or done.faults:
        raise _refused(task, "machine code that runs", done.refused or done.faults[0].message)
    return _as_expected(task, done.arrays)


def _as_expected(task: Task, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What was written, floats in double precision as a reference gives them."""
    written = {a.name: arrays[a.name] for a in task.arguments if a.role in ("out", "inout")}
    return {n: array.astype(np.float64) if is_float(str(array.dtype)) else array for n, array in written.items()}


def made_by(task: Task) -> str:
    """What else expected values depend on where the reference is a kernel: the compiler and the virtual GPU."""
    return f"{packages.compiler_identity()} {_core_sha256()}" if is_kernel(task.reference_file) else ""


@functools.cache
def _core_sha256() -> str:
    from warpsight.vgpu import _core

    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()


class Originals:
    """A process for each of the last few originals. Safe between threads, one launch at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live: OrderedDict[str, JailedWorker] = OrderedDict()

    def run(self, task: Task, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int]) -> dict[str, np.ndarray]:
        build, size = built_original(task), original_size(task, axes)
        arrays = [_given(a, inputs, axes) for a in task.arguments]
        if sum(array.nbytes for array in arrays) > ARRAY_BYTES:
            raise _refused(task, "fewer bytes", f"{sum(array.nbytes for array in arrays)} bytes of arguments")
        described = [
            {"name": a.name, "shape": list(array.shape), "itemsize": array.itemsize, "role": a.role}
            for a, array in zip(task.arguments, arrays, strict=True)
        ]
        head = json.dumps({"size": size, "arguments": described, "deadline_s": DEADLINE_S}).encode()
        request = b"".join([len(head).to_bytes(4, "big"), head, *(array.tobytes() for array in arrays)])
        with self._lock:
            answer = self._ask(task, build, request)
        return _outputs(task, answer, axes)

    def _ask(self, task: Task, build: Build, request: bytes) -> bytes:
        key = hashlib.sha256(f"{task.entry}\0{build.ptx}".encode()).hexdigest()
        worker = self._live.pop(key, None)
        try:
            if worker is None or worker.pid is None:
                while len(self._live) >= MOST_ALIVE:
                    self._live.popitem(last=False)[1].close()
                worker = _started(task, build)
            answer = worker.ask(request, DEADLINE_S * 2)
        except WorkerLost as lost:
            raise _refused(task, "it to end well", f"{lost.event.kind}: {lost.event.detail}") from None
        self._live[key] = worker
        return answer


@functools.cache
def _originals(process_id: int) -> Originals:
    """Those of this process; a forked one starts its own."""
    del process_id
    return Originals()


@functools.cache
def _shown() -> tuple[Path, ...]:
    return package_files(*PACKAGES)


def _started(task: Task, build: Build) -> JailedWorker:
    places = [str(place) for place in warpsight.vgpu.__path__]
    worker = JailedWorker(
        [sys.executable, "-I", str(WORKER), *places], limits=LIMITS, readable=_shown(), name="the original kernel"
    )
    worker.ask(json.dumps({"ptx": build.ptx, "entry": task.entry}).encode(), DEADLINE_S)
    return worker


def built_original(task: Task) -> Build:
    """The original compiled for the virtual GPU. Raises TaskError where it does not compile."""
    text = read_candidate(task.reference, task, task.reference_file)
    build = compile_cuda(
        task.reference, gpu_arch=task.gpu_arch, options=text.options, entry=task.entry, name=task.reference_file
    )
    if not build.ok:
        errors = [d.message for d in build.diagnostics if d.severity == "error"]
        raise _refused(task, "it to compile", errors[0] if errors else "no reason given")
    return build


def original_size(task: Task, axes: Mapping[str, int]) -> LaunchSize:
    """How the original is launched."""
    text = read_candidate(task.reference, task, task.reference_file)
    return launch_of(built_original(task), evaluate_launch(text, axes, task.reference_file))


def _given(argument: Argument, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int]) -> np.ndarray:
    """What the original gets: numbers of its own types, which moved inputs are rounded to."""
    if argument.role == "out":
        return np.zeros(shape_of(argument, axes), argument.dtype)
    with np.errstate(over="ignore"):
        return inputs[argument.name].astype(argument.dtype, order="C")


def _outputs(task: Task, answer: bytes, axes: Mapping[str, int]) -> dict[str, np.ndarray]:
    start = 4 + int.from_bytes(answer[:4], "big")
    told = json.loads(answer[4:start])
    if told["problem"]:
        raise _refused(task, "inputs that it takes", str(told["problem"])[:500])
    found, at = dict[str, np.ndarray](), start
    for argument in task.arguments:
        if argument.role not in ("out", "inout"):
            continue
        shape = shape_of(argument, axes)
        count = int(np.prod(shape, dtype=np.int64))
        if at + count * np.dtype(argument.dtype).itemsize > len(answer):
            raise _refused(task, "all of its outputs", f"{len(answer)} bytes")
        found[argument.name] = array = np.frombuffer(answer, argument.dtype, count, at).reshape(shape)
        at += array.nbytes
    return _as_expected(task, found)


def _refused(task: Task, expected: str, found: str) -> TaskError:
    file = str(task.folder / task.reference_file)
    return TaskError(file=file, key="the original kernel", expected=expected, found=found)
