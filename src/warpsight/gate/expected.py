"""Expected values, kept by content: the same reference on the same inputs is computed once.

The key is the hash of all that made them: the text of the reference, the function, the declared arguments, the axes,
every byte of every input, the versions of Python, NumPy and SciPy, and our own code that asked. So an entry is never
that of another task, seed, family or version. What is kept came from a process that was given this text alone. Kept in
memory up to a cap, and on disk where the compile cache is, but for what is drawn in secret: there each entry begins
with its own key, so one that was moved, cut or damaged is a miss. Whoever may write that folder may change what is
expected; no worker may, and `WARPSIGHT_CACHE=off` does without it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

import numpy as np

from warpsight.gate.original import made_by, reference_outputs
from warpsight.nouns import Task
from warpsight.nouns.dtypes import is_float
from warpsight.tasks import oracle as oracle_code
from warpsight.tasks import shape_of
from warpsight.tasks.oracle import Oracle
from warpsight.tasks.reference import REFERENCE_FUNCTION
from warpsight.toolchain.cache import Cache, cache_folder, content_key

MEMORY_BYTES = 512 << 20  # the profiled workload of all our tasks, once: candidates of a search share it
LARGEST_ON_DISK_BYTES = 4 << 20
_SCHEME = "expected values 4"  # one more whenever what is kept comes to mean something else
_MADE_IN = ("compare.py", "inputs.py", "oracle.py", "oracle_worker.py", "reference.py", "shapes.py")
_WORKED_OUT_IN = (
    "expected.py", "families.py", "initial.py", "movement.py", "original.py", "roofline_cap.py", "tolerance.py",
    "undetermined.py", "weak.py",
)  # fmt: skip
Arrays = dict[str, np.ndarray]


class _Memory:
    """Bytes by key up to a cap, those unused for longest dropped first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.computed = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size_bytes = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, body: bytes) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = body
            self._size_bytes += len(body)
            while self._size_bytes > self.most_bytes and self._kept:
                self._size_bytes -= len(self._kept.popitem(last=False)[1])


class ExpectedValues:
    """Runs references and keeps what they returned. One for each process is enough; it is safe between threads."""

    def __init__(
        self,
        oracle: Oracle | None = None,
        disk: Cache | None = None,
        memory_bytes: int = MEMORY_BYTES,
        memory: _Memory | None = None,
    ) -> None:
        self.oracle = oracle
        self.disk = disk
        self._memory = memory or _Memory(memory_bytes)

    @property
    def computed(self) -> int:
        """How often a reference was run."""
        return self._memory.computed

    def in_memory(self) -> ExpectedValues:
        """The same, without the disk: for contents that are drawn in secret and never come again."""
        return ExpectedValues(self.oracle, memory=self._memory)

    def of(
        self, task: Task, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int], *, narrow: bool = False
    ) -> Arrays:
        """The outputs of the reference by name. Raises TaskError where it gives none. `narrow`: see `run_reference`."""

        def compute() -> bytes:
            self._memory.computed += 1
            return packed(reference_outputs(task, inputs, axes, self.oracle, narrow=narrow))

        key = _key(task, inputs, axes)
        return unpacked(task, self.kept(content_key(key, "narrow") if narrow else key, compute), axes)

    def once(self, task: Task, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int]) -> Arrays:
        """The outputs for inputs that nobody asks for again: neither named by their contents nor kept."""
        self._memory.computed += 1
        return reference_outputs(task, inputs, axes, self.oracle)

    def kept(self, key: str, compute: Callable[[], bytes]) -> bytes:
        """The bytes under a key, computed where they are not known. The key must say all that they depend on."""
        body = self._find(key)
        if body is None:
            body = compute()
            self._keep(key, body)
        return body

    def _find(self, key: str) -> bytes | None:
        if (kept := self._memory.get(key)) is not None:
            return kept
        entry = self.disk.get(key) if self.disk is not None else None
        if entry is None or not entry.startswith(key.encode()):
            return None
        body = entry[len(key) :]
        self._memory.put(key, body)
        return body

    def _keep(self, key: str, body: bytes) -> None:
        self._memory.put(key, body)
        if self.disk is not None and len(body) <= LARGEST_ON_DISK_BYTES:
            self.disk.put(key, key.encode() + body)


@functools.cache
def _shared(folder: str) -> ExpectedValues:
    at = cache_folder({"WARPSIGHT_CACHE": folder})
    return ExpectedValues(disk=Cache(None if at is None else at / "expected"))


def shared_expected_values() -> ExpectedValues:
    """What callers use that bring none of their own: kept beside the compile cache."""
    found = cache_folder()
    return _shared("off" if found is None else str(found))


@functools.cache
def provenance() -> str:
    """What made every value of this process beside the task and its inputs: versions, and our own code."""
    digest = hashlib.sha256()
    here, there = Path(__file__).parent, Path(oracle_code.__file__).parent
    for file in (*(there / name for name in _MADE_IN), *(here / name for name in _WORKED_OUT_IN)):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    versions = [platform.python_version(), platform.machine(), *(_version(name) for name in oracle_code.PACKAGES)]
    return json.dumps([_SCHEME, versions, digest.hexdigest()])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def task_key(task: Task, axes: Mapping[str, int], *more: str) -> str:
    """A key for what depends on the task's declarations, on sizes and on `more`, but on no inputs of a caller's."""
    declared = [a.model_dump(mode="json") for a in task.arguments]
    tolerance = task.tolerance.model_dump(mode="json")
    named = [REFERENCE_FUNCTION, Path(task.reference_file).name, declared, tolerance, sorted(axes.items())]
    return content_key(provenance() + made_by(task), task.reference, json.dumps(named), *more)


def _key(task: Task, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int]) -> str:
    declared = [(a.name, a.role, a.dtype, a.shape) for a in task.arguments]
    named = [REFERENCE_FUNCTION, Path(task.reference_file).name, declared, sorted(axes.items())]
    return content_key(provenance() + made_by(task), task.reference, json.dumps(named), "values", digest_of(inputs))


def digest_of(inputs: Mapping[str, np.ndarray]) -> str:
    """A name for the contents of arrays: their names, types, shapes and every byte."""
    parts: list[str] = []
    for name, array in inputs.items():
        digest = hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest()
        parts.append(json.dumps([name, array.dtype.name, array.shape, digest]))
    return content_key(*parts)


def packed(outputs: Mapping[str, np.ndarray]) -> bytes:
    return b"".join(array.tobytes() for array in outputs.values())


def unpacked(task: Task, body: bytes, axes: Mapping[str, int], only_floats: bool = False) -> Arrays:
    """The outputs of a task from their bytes: floats are float64, whole numbers as declared."""
    outputs, at = Arrays(), 0
    for argument in task.arguments:
        floats = is_float(argument.dtype)
        if argument.role not in ("out", "inout") or (only_floats and not floats):
            continue
        dtype = np.dtype(np.float64 if floats else argument.dtype)
        shape = shape_of(argument, axes)
        count = int(np.prod(shape, dtype=np.int64))
        outputs[argument.name] = np.frombuffer(body, dtype, count, at).reshape(shape)
        at += count * dtype.itemsize
    return outputs
