"""`--device`: where a kernel runs, and which of a task's kernels that is.

Says nothing of right or fast. What must stay true: a kernel in one language is never given to a device for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.nouns import Candidate, Language

VIRTUAL, OPENCL = "virtual", "opencl"
DEVICES = "DEVICE"
DEVICE_HELP = (
    "virtual, opencl, cuda or hip: the virtual GPU, this machine's processor through OpenCL, its NVIDIA GPU through "
    "CUDA, its AMD GPU through HIP; or a device of another package. "
    "By default the kernel's language decides: CUDA C++ goes to the virtual GPU."
)
_WORDS = {"cuda": "CUDA C++", "triton": "Triton", "opencl": "OpenCL C, in a .cl file"}


def language_for(device: str | None) -> Language:
    """The language of the task's own kernel that this device runs."""
    from warpsight.devices.registry import languages_of

    return "cuda" if device is None else languages_of(device)[0]


def device_for(device: str | None, candidate: Candidate, file: str) -> str:
    """The device that was asked for, or the one that fits; a kernel it does not run is a UsageError."""
    from warpsight.devices.registry import languages_of

    fitting = OPENCL if candidate.language == "opencl" else VIRTUAL
    if device is None:
        return fitting
    runs = languages_of(device)
    if candidate.language in runs:
        return device
    needed = " and ".join(_WORDS.get(language, language) for language in runs)
    raise UsageError(
        f"the {device} device runs {needed}, got {file}", hint=f"leave --device out, or use --device {fitting}"
    )
