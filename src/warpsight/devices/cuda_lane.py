"""One GPU kernel in one disposable worker: the parent's side. Layout, guards, clock and checks are the OpenCL lane's.

The kernel is GPU code and the host process around it is ours, so the worker keeps most walls of the jail but not those
that a GPU driver cannot live behind: device files and their control calls (`LEFT_OUT`). Results name them. A sticky
error ends the worker; the name the driver gave it becomes the fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from warpsight.devices.device import Value
from warpsight.devices.opencl_build import worker_argv
from warpsight.devices.opencl_lane import GUARD_BYTES, LaneRun, LaneSettings, OpenClLane
from warpsight.errors import DeviceError, UsageError
from warpsight.jail import JailedWorker, Limits
from warpsight.jail.wire import HEADER_CAP_BYTES
from warpsight.nouns import Build, Dim3, Fault
from warpsight.tasks import LaunchSize

LEFT_OUT = ("mount namespace", "landlock files", "landlock network", "landlock scope", "seccomp")
"""Walls a driver cannot come up behind: it opens device files, libraries and /proc, and steers them by ioctl."""
ADDRESS_SPACE = 1 << 46  # a driver reserves addresses for all of the GPU's and the host's memory
MESSAGE_BYTES = (1 << 32) - 1 - HEADER_CAP_BYTES  # a frame tells its length in 32 bits
TRIES = 3
FAULTS = {
    "ILLEGAL_ADDRESS": "out_of_bounds",
    "MISALIGNED_ADDRESS": "misaligned",
    "INVALID_ADDRESS_SPACE": "out_of_bounds",
    "ASSERT": "assert_failed",
    "ILLEGAL_INSTRUCTION": "trap",
    "HARDWARE_STACK_ERROR": "stack_overflow",
    "INVALID_PC": "bad_jump",
    "LAUNCH_TIMEOUT": "deadline",
    "LAUNCH_FAILED": "crash",
    "LAUNCH_FAILURE": "crash",
}
LOST = ("ECC_UNCORRECTABLE", "DEVICE_UNAVAILABLE", "DEVICE_NOT_LICENSED", "SYSTEM_NOT_READY", "NVLINK_UNCORRECTABLE",
        "CONTAINED", "EXTERNAL_DEVICE", "GPU is lost", "fallen off the bus")  # fmt: skip
_NAMED = re.compile(r"(?:CUDA_ERROR_|hipError)(\w+)")


class GpuLane(OpenClLane):
    """A kernel and its worker on a GPU.

    `watch` looks at the GPU; what it returns looks again and tells what was wrong. Into `walls` go the walls of the
    jail that the worker ran without, as the jail itself tells them.
    """

    def __init__(
        self,
        build: Build,
        entry: str,
        settings: LaneSettings,
        *,
        worker: Path,
        words: Sequence[str],
        request: tuple[dict[str, Any], list[Any]],
        watch: Callable[[], Callable[[], tuple[str, ...]]],
        walls: set[str],
    ) -> None:
        super().__init__(build, entry, settings)
        self._file, self._words, self._request, self._watch = worker, tuple(words), request, watch
        self._walls = walls
        self.disturbed: list[str] = []

    def run(self, values: Sequence[Value], size: LaunchSize) -> LaneRun:
        """One timed launch. A disturbed one is done again; a GPU that does not become quiet is an error, not a time."""
        for _ in range(TRIES):
            finish = self._watch()
            ran = self.run_untimed(values, size)
            if ran.faults or ran.refused or not (why := finish()):
                return ran
            self.disturbed += why
        told = "; ".join(dict.fromkeys(self.disturbed))
        raise DeviceError(
            f"expected a quiet GPU, {TRIES} launches in a row were disturbed: {told}",
            hint="end what else runs on the GPU, cool it, or lock its clock (root: `nvidia-smi --lock-gpu-clocks`)",
        )

    def run_untimed(self, values: Sequence[Value], size: LaunchSize) -> LaneRun:
        """One launch for its results: nobody looks whether the GPU was quiet, so its time counts for nothing."""
        _hold_to_one_message(values)
        ran = super().run(values, size)
        return self._named(ran) if ran.faults else ran

    def _started(self) -> JailedWorker:
        limits = Limits(
            wall_s=self.settings.deadline_s,
            cpu_s=24 * 3600,
            memory_bytes=ADDRESS_SPACE,
            threads=1024,
            open_files=4096,
            answer_bytes=self.settings.memory_bytes,
        )
        return JailedWorker(
            worker_argv(self._file, *self._words),
            limits=limits,
            unsafe=True,  # LEFT_OUT needs it; `missing` names what the worker ran without
            without=LEFT_OUT,
            name="the GPU worker",
        )

    def _opened(self) -> JailedWorker:
        self.start()
        assert self._worker is not None
        if not self._open:
            try:
                answer, _ = self._ask(*self._request)
            finally:
                self._walls.update(self._worker.missing)
            self._open = True
            if told := answer.get("closed"):
                self.close()
                raise DeviceError(
                    f"expected the GPU to take the kernel, it did not open: {told}",
                    hint="`warpsight doctor` says whether a driver and a GPU answer",
                )
        return self._worker

    def _prepare(self, worker: JailedWorker, block: Dim3) -> str:
        return ""  # machine code is for every block size

    def _named(self, ran: LaneRun) -> LaneRun:
        """The fault by the name that the driver gave, where the worker ended over one."""
        if ran.faults[0].kind != "exited_early" or self._worker is None:
            return ran
        line = last_words(self._worker.log().decode(errors="replace"))
        if any(word in line for word in LOST):
            raise DeviceError(f"the GPU is lost: {line[:300]}", hint="`nvidia-smi`; reset the GPU or reboot")
        if (told := sticky_fault(line)) is not None:
            self._lost = told
            return LaneRun(faults=(told,), printed=ran.printed)
        return ran


def last_words(log: str) -> str:
    """The line that a worker writes as its last when an error ends it; what a kernel prints comes before it."""
    return next((line for line in reversed(log.splitlines()) if line.startswith(("CUDA: ", "HIP: "))), "")


def sticky_fault(log: str) -> Fault | None:
    """The fault in the last words of a worker that a sticky error ended."""
    line = last_words(log)
    named = _NAMED.search(line)
    if named is None:
        return None
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", named[1]).upper()  # hipErrorIllegalAddress is ILLEGAL_ADDRESS too
    kind = next((kind for name, kind in FAULTS.items() if name in word), "crash")
    return Fault(kind=kind, message=f"the GPU stopped the kernel: {line.split(': ', 1)[1][:300]}")


def cuda_request(build: Build, entry: str, *, fits: bool) -> tuple[dict[str, Any], list[Any]]:
    """The `open` message: machine code where it fits the GPU, else PTX, which the driver compiles for it."""
    kind = "cubin" if fits and build.cubin else "ptx"
    code = build.cubin if kind == "cubin" else build.ptx.encode() + b"\0"
    return {"op": "open", "entry": entry, "kind": kind}, [code]


def _hold_to_one_message(values: Sequence[Value]) -> None:
    """The arrays go to the worker, and come back, in one message; what does not fit is told before any is sent."""
    needed = sum(value.array.nbytes + 2 * GUARD_BYTES for value in values)
    if needed > MESSAGE_BYTES:
        raise UsageError(
            f"expected arguments of at most {MESSAGE_BYTES} bytes together, which is what one message to the GPU's"
            f" worker holds; these have {needed}",
            hint="use a smaller workload",
        )
