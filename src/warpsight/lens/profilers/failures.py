"""The ways a profiler gives nothing, one type each, and how they are told from what the tool printed.

A rung of the ladder that fails raises one of these, and the next rung is tried; all of them say what to do. What must
stay true: a tool that printed one of the known refusals is never read as if it had measured.
"""

from __future__ import annotations

import re
from typing import ClassVar

from warpsight.errors import WarpsightError

ALLOW_COUNTERS = (
    "let everyone read the counters (root: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
    "/etc/modprobe.d, then load the driver again), or run as root; in a container, the host must allow it and the "
    "container needs --cap-add=SYS_ADMIN; on a rented GPU ask the provider"
)
INSTALL_DRIVER = (
    "install the GPU's driver, and in a container start it with the GPU; `nvidia-smi` or `rocminfo` must see it"
)


class NoSource(WarpsightError):
    """No source of the ladder answered; the message has the reason of each."""

    exit_code = 3


class ProfilerError(WarpsightError):
    """A profiler gave no usable measurement; `tool` is which."""

    exit_code: ClassVar[int] = 5

    def __init__(self, tool: str, message: str, hint: str | None = None) -> None:
        super().__init__(f"{tool}: {message}", hint)
        self.tool = tool


class ProfilerMissing(ProfilerError):
    """The tool is not installed."""

    exit_code: ClassVar[int] = 3


class NoDriver(ProfilerError):
    """The tool is there, and no GPU or driver answers."""

    exit_code: ClassVar[int] = 3


class NoPermission(ProfilerError):
    """The system keeps the counters from this user (ERR_NVGPUCTRPERM, perf_event_paranoid)."""


class ProfilerTimedOut(ProfilerError):
    """The tool did not end in the time it was given, and was killed with everything it started."""


class NotSupported(ProfilerError):
    """The tool does not know this GPU, or this machine does not have the counters asked for."""


class NothingProfiled(ProfilerError):
    """The tool ran and saw no launch of the kernel; its exit status does not show that."""

    exit_code: ClassVar[int] = 1


class BrokenOutput(ProfilerError):
    """What the tool left is empty, cut short, or not in a form we know."""


_KNOWN: tuple[tuple[type[ProfilerError], str, str, str], ...] = (
    (
        NoPermission,
        r"ERR_NVGPUCTRPERM|does not have permission to (access|profile)|CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
        "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
        ALLOW_COUNTERS,
    ),
    (
        NoPermission,
        r"perf_event_paranoid|No permission to enable",
        "this user may not read the processor's counters",
        "root: `sysctl kernel.perf_event_paranoid=1`",
    ),
    (
        NotSupported,
        r"nvprof is not supported on devices with compute capability|not supported on .*compute capability"
        r"|is not supported on this (GPU|device)|LibraryNotLoaded.*unsupported|ERR_NVCMPGPU",
        "it does not support this GPU",
        "use Nsight Compute (ncu) for compute capability 7.0 and later, nvprof for earlier ones",
    ),
    (
        NoDriver,
        r"libcuda\.so|No CUDA[- ]capable device|no CUDA-capable device|CUDA driver version is insufficient"
        r"|Cuda driver is not compatible|driver (was )?not (found|loaded)|libnvidia-ml\.so|libamdhip64\.so"
        r"|libhsa-runtime64|hsa_init|No supported GPU|no GPU (was )?(found|detected)|HSA_STATUS_ERROR",
        "no driver or no GPU answers",
        INSTALL_DRIVER,
    ),
    (
        NothingProfiled,
        r"No kernels were profiled|does not contain (CUDA|GPU) (kernel|trace) data|No CUDA kernels? (were|was)",
        "it ran and saw no kernel",
        "check the kernel's name (ncu lists those it saw) and that the program launches it",
    ),
)


def refusal(tool: str, text: str) -> ProfilerError | None:
    """The failure that the tool's own words tell of, or None. The tool's line is kept in the message."""
    for kind, pattern, meaning, remedy in _KNOWN:
        found = re.search(pattern, text, re.IGNORECASE)
        if found is not None:
            start = text.rfind("\n", 0, found.start()) + 1
            line = text[start:].splitlines()[0].strip()[:300]
            return kind(tool, f"{meaning}; it said: {line}", remedy)
    return None
