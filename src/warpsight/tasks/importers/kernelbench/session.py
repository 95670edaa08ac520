"""The parent's end of the KernelBench worker: a jailed PyTorch that is asked, timed from outside, and replaced if lost.

What comes back is read as bytes of a declared dtype and shape, with caps; nothing else of it is believed. A text that
fails is `RunFailed` with what it said; a worker that ended is the same, and the next question gets a new one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from warpsight.errors import ToolMissing
from warpsight.jail import JailedWorker, Limits, WorkerLost, package_files, scrubbed, wire
from warpsight.tasks.importers.kernelbench.cpu import capability

WORKER = Path(__file__).with_name("worker.py")
# What `import torch` needs on a CPU and what problem files use beside it.
PACKAGES = ("torch", "torchgen", "functorch", "numpy", "typing_extensions", "sympy", "mpmath", "networkx", "jinja2",
            "markupsafe", "filelock", "fsspec", "einops", "scipy")  # fmt: skip
START_S, COMPILES = 300.0, 8
STORED = {"bool": "|b1", "bfloat16": "<f4"}
MOST_OUTPUTS = 64

Compile = Callable[[dict[str, Any]], tuple[str, bytes]]


class RunFailed(Exception):
    """The text gave no answer: `where` is its file and line if known, `lost` whether its process ended, `by` whose."""

    def __init__(self, message: str, where: str = "", lost: bool = False, by: TorchSession | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.lost = lost
        self.by = by


class LoadedElsewhere(Exception):
    """A problem, not a candidate, wants something compiled: no reference does."""


@dataclass(frozen=True)
class TimedQuestion:
    """One timed question: seconds on the wall, of processor time, and of waiting for a processor that was busy."""

    wall_s: float
    cpu_s: float
    waited_s: float = 0.0

    @property
    def worked_s(self) -> float:
        """What is left of the wall's seconds without the waiting."""
        return max(0.0, self.wall_s - self.waited_s)


@dataclass(frozen=True)
class Output:
    """One output of a model: its dtype by PyTorch's name, and its numbers."""

    dtype: str
    array: np.ndarray


@dataclass(frozen=True)
class Inputs:
    """Sets of inputs as bytes: one description per set, and what lies in their tensors, in order."""

    calls: tuple[Any, ...]
    blobs: tuple[memoryview, ...]

    @property
    def bytes_per_call(self) -> int:
        return sum(len(blob) for blob in self.blobs) // max(1, len(self.calls))

    @property
    def alike(self) -> bool:
        """Whether all sets are one and the same."""
        each = len(self.blobs) // max(1, len(self.calls))
        sets = {tuple(bytes(b) for b in self.blobs[at * each : (at + 1) * each]) for at in range(len(self.calls))}
        return len(sets) == 1 and all(call == self.calls[0] for call in self.calls)


def waited(pid: int | None) -> float:
    """Seconds that the threads of a process were ready and had no processor, as the kernel counts them."""
    total = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(file.read_text().split()[1])
    return total / 1e9


def torch_files() -> tuple[Path, ...]:
    """What the worker must see of the installed packages."""
    if importlib.util.find_spec("torch") is None:
        raise ToolMissing(
            "KernelBench problems are PyTorch programs, and PyTorch is not installed",
            hint="pip install torch",
        )
    return (*package_files(*PACKAGES), Path(wire.__file__))


class TorchSession:
    """One jailed worker at a time. `threads` is what PyTorch may use in it; `compile` serves C++ candidates."""

    def __init__(
        self, *, threads: int = 1, memory_bytes: int = 8 << 30, deadline_s: float = 60.0, compile: Compile | None = None
    ) -> None:
        self.threads, self.memory_bytes, self.deadline_s = threads, memory_bytes, deadline_s
        self._compile = compile
        self._worker: JailedWorker | None = None
        self._texts: set[str] = set()

    def load(
        self, problem: str, candidate: str | None, *, seed: int, device: str = "cpu", alone: bool = False
    ) -> dict[str, Any]:
        """Run the texts and make the model: what it was made with, and how many weights it has.

        `alone` asks for a process in which no other text was run.
        """
        if alone and self._texts - {problem}:
            self.close()  # what other texts did to PyTorch in there must not change what this one says
        self._texts.add(problem)
        entry = "Model" if candidate is None else "ModelNew"
        words = {"do": "load", "problem": problem, "candidate": candidate, "entry": entry}
        return self._ask({**words, "seed": seed, "device": device})[0]

    def describe(self, device: str = "cpu") -> dict[str, Any]:
        """Inputs and outputs by dtype and shape."""
        return self._ask({"do": "describe", "device": device})[0]

    def make(self, seed: int) -> None:
        """The model again, with the weights of another seed."""
        self._ask({"do": "make", "seed": seed})

    def draw(self, seeds: Sequence[int]) -> Inputs:
        """One set of inputs per seed, as this process makes them."""
        header, blobs = self._ask({"do": "draw", "seeds": list(seeds)})
        calls = header.get("calls")
        if not isinstance(calls, list) or len(cast(list[Any], calls)) != len(seeds):
            raise RunFailed("its inputs came without their description", by=self)
        return Inputs(tuple(cast(list[Any], calls)), tuple(blobs))

    def prepare(self, inputs: Inputs, seed: int) -> None:
        """Hand inputs over, for the next `run`. `seed` is for what a model draws itself."""
        self._ask({"do": "prepare", "calls": inputs.calls, "seed": seed}, inputs.blobs)

    def run(self) -> TimedQuestion:
        """Run once on each set that was prepared; how long that took, seen from outside."""
        worker = self._opened()
        message = wire.pack({"do": "run"})
        cpu_s, waited_s, started = worker.cpu_s(), waited(worker.worker_pid()), time.perf_counter()
        answer = self._exchange(worker, message)
        wall_s = time.perf_counter() - started
        self._read(answer)
        return TimedQuestion(wall_s, worker.cpu_s() - cpu_s, max(0.0, waited(worker.worker_pid()) - waited_s))

    def give(self) -> list[list[Output]]:
        """The outputs of every set that was run, in order."""
        header, blobs = self._ask({"do": "give"})
        try:
            runs = [[dict(head) for head in run] for run in header["outputs"]]
        except (KeyError, TypeError, ValueError):
            raise RunFailed("its outputs came without their description") from None
        if sum(map(len, runs)) != len(blobs) or any(len(run) > MOST_OUTPUTS for run in runs):
            raise RunFailed(f"expected as many outputs as described, found {len(blobs)}")
        rest = iter(blobs)
        return [[_output(head, next(rest)) for head in run] for run in runs]

    def cpu_s(self) -> float:
        """Processor time that the worker has used so far."""
        return self._opened().cpu_s()

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None
            self._texts.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> JailedWorker:
        if self._worker is None:
            limits = Limits(
                wall_s=self.deadline_s, cpu_s=3600, memory_bytes=self.memory_bytes, threads=256,
                answer_bytes=3 << 30, scratch_bytes=512 << 20, open_files=1024,
            )  # fmt: skip
            argv = [sys.executable, "-I", str(WORKER), str(self.threads), capability()]
            self._worker = JailedWorker(argv, limits=limits, readable=torch_files(), name="PyTorch")
            self._worker.start(START_S)
        return self._worker

    def _ask(self, question: dict[str, Any], given: Sequence[Any] = ()) -> tuple[dict[str, Any], list[memoryview]]:
        worker = self._opened()
        header, blobs = self._read(self._exchange(worker, wire.pack(question, given)))
        for _ in range(COMPILES):
            if "compile" not in header:
                break
            header, blobs = self._read(self._exchange(worker, self._compiled(header["compile"])))
        if "compile" in header:
            self.close()
            raise RunFailed(f"asked for more than {COMPILES} extensions")
        return header, blobs

    def _exchange(self, worker: JailedWorker, message: bytes) -> bytes:
        try:
            return worker.ask(message, self.deadline_s)
        except WorkerLost as lost:
            self.close()
            raise RunFailed(f"{lost.event.kind}: {lost.event.detail}", lost=True, by=self) from None

    def _read(self, answer: bytes) -> tuple[dict[str, Any], list[memoryview]]:
        try:
            header, blobs = wire.unpack(answer)
        except wire.BadMessage as problem:
            self.close()
            raise RunFailed(f"its process answered nonsense: {problem}", lost=True, by=self) from None
        if "error" in header:
            raise RunFailed(scrubbed(str(header["error"])), scrubbed(str(header.get("where", ""))), by=self)
        return header, blobs

    def _compiled(self, asked: Any) -> bytes:
        if self._compile is None:
            self.close()
            raise LoadedElsewhere("it compiles an extension, which a problem file does not")
        try:
            name, library = self._compile(cast(dict[str, Any], asked))
        except RunFailed as problem:
            return wire.pack({"error": str(problem)})
        return wire.pack({"module": name}, [library])


def _output(head: Any, blob: memoryview) -> Output:
    try:
        dtype, stored, shape = str(head["dtype"]), str(head["stored"]), tuple(int(one) for one in head["shape"])
        kind = np.dtype(stored)
        whole = kind.kind in "fiub" and all(one >= 0 for one in shape) and math.prod(shape) * kind.itemsize == len(blob)
    except (KeyError, TypeError, ValueError, OverflowError):
        whole = False
        dtype, kind, shape = "", np.dtype("u1"), ()
    if not whole:
        raise RunFailed(f"one of its outputs is not an array of numbers: {str(head)[:200]}")
    return Output(dtype, np.frombuffer(blob, kind).reshape(shape))
