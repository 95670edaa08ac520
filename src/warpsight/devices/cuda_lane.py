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
from warpsight.devices.opencl_lane import OpenClLane, Ran, Settings
from warpsight.errors import DeviceError
from warpsight.jail import JailedWorker, Limits
from warpsight.nouns import Build, Dim3, Fault
from warpsight.tasks import LaunchSize

LEFT_OUT = ("mount namespace", "landlock files", "landlock network", "landlock scope", "seccomp")
"""Walls a driver cannot come up behind: it opens device files, libraries and /proc, and steers them by ioctl."""
ADDRESS_SPACE = 1 << 46  # a driver reserves addresses for all of the GPU's and the host's memory
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
    """A kernel and its worker on a GPU. `watch` looks at it; what it returns looks again and tells what was wrong."""

    def __init__(
        self,
        build: Build,
        entry: str,
        settings: Settings,
        *,
        worker: Path,
        words: Sequence[str],
        request: tuple[dict[str, Any], list[Any]],
        watch: Callable[[], Callable[[], tuple[str, ...]]],
    ) -> None:
        super().__init__(build, entry, settings)
        self._file, self._words, self._request, self._watch = worker, tuple(words), request, watch
        self.disturbed: list[str] = []

    def run(self, values: Sequence[Value], size: LaunchSize) -> Ran:
        """Launch once. A disturbed launch is done again; a GPU that does not become quiet is an error, not a time."""
        for _ in range(TRIES):
            finish = self._watch()
            ran = super().run(values, size)
            if ran.faults:
                return self._named(ran)
            why = finish()
            if ran.refused or not why:
                return ran
            self.disturbed += why
        told = "; ".join(dict.fromkeys(self.disturbed))
        raise DeviceError(
            f"expected a quiet GPU, {TRIES} launches in a row were disturbed: {told}",
            hint="end what else runs on the GPU, cool it, or lock its clock (root: `nvidia-smi --lock-gpu-clocks`)",
        )

    def _opened(self) -> JailedWorker:
        if self._worker is None:
            limits = Limits(
                wall_s=self.settings.deadline_s,
                cpu_s=24 * 3600,
                memory_bytes=ADDRESS_SPACE,
                threads=1024,
                open_files=4096,
                answer_bytes=self.settings.memory_bytes,
            )
            self._worker = JailedWorker(
                worker_argv(self._file, *self._words),
                limits=limits,
                unsafe=True,  # LEFT_OUT needs it; `missing` names what the worker ran without
                without=LEFT_OUT,
                name="the GPU worker",
            )
            answer, _ = self._ask(*self._request)
            if told := answer.get("closed"):
                self.close()
                raise DeviceError(
                    f"expected the GPU to take the kernel, it did not open: {told}",
                    hint="`warpsight doctor` says whether a driver and a GPU answer",
                )
        return self._worker

    def _prepare(self, worker: JailedWorker, block: Dim3) -> str:
        return ""  # machine code is for every block size

    @property
    def missing_walls(self) -> tuple[str, ...]:
        """The walls of the jail that the worker ran without."""
        return self._worker.missing if self._worker is not None else LEFT_OUT

    @property
    def pid(self) -> int | None:
        """The worker's process, while it lives."""
        return self._worker.worker_pid() if self._worker is not None and self._worker.pid is not None else None

    def _named(self, ran: Ran) -> Ran:
        """The fault by the name that the driver gave, where the worker ended over one."""
        text = self._worker.log().decode(errors="replace") if self._worker is not None else ""
        if any(word in text for word in LOST):
            raise DeviceError(f"the GPU is lost: {text.strip()[-300:]}", hint="`nvidia-smi`; reset the GPU or reboot")
        if ran.faults[0].kind == "exited_early" and (told := sticky_fault(text)) is not None:
            self._lost = told
            return Ran(faults=(told,), printed=ran.printed)
        return ran


def sticky_fault(log: str) -> Fault | None:
    """The fault in the last words of a worker that a sticky error ended."""
    line = next((line for line in reversed(log.splitlines()) if line.startswith(("CUDA: ", "HIP: "))), "")
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
