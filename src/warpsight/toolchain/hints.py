"""What to write instead of what device code cannot have here, said in the diagnostic itself.

Looks only at two messages: a file that cannot be opened, and a lambda that asks for an option which is not allowed.
Every other message stays as it is.
"""

from __future__ import annotations

import re

from warpsight.nouns import Diagnostic

_CANNOT_OPEN = re.compile(r'cannot open source file "([^"]+)"')
_INSTEAD: tuple[tuple[str, str], ...] = (
    (r"iostream|iomanip|sstream|fstream|ostream|istream|format|print", "a kernel prints with printf, without a header"),
    (
        r"vector|deque|list|forward_list|map|set|unordered_map|unordered_set|queue|stack|string|string_view",
        "a kernel has no containers: use plain arrays, __shared__ memory or the arrays of its arguments",
    ),
    (
        r"thread|mutex|condition_variable|future|semaphore|barrier|latch|pthread\.h",
        "inside a kernel use __syncthreads(), atomicAdd() and the like, or <cuda/barrier>",
    ),
    (r"chrono", "a kernel reads time with clock64(); timing is done from outside"),
    (r"random|curand.*", "compute random numbers in the kernel, or take them as an argument"),
    (r"stdexcept|exception|system_error", "a kernel has no exceptions: use assert() or __trap()"),
    (r"thrust/.*", "thrust starts kernels from the host: inside a kernel use <cub/block/...> or <cub/warp/...>"),
    (r"cub/device/.*", "cub's device functions start kernels from the host: use <cub/block/...> or <cub/warp/...>"),
    (r"cublas.*|cudnn.*|cusparse.*|cufft.*|cusolver.*|nccl.*|nvml.*", "libraries that the host calls are not there"),
    (r"cutlass/.*|cute/.*", "CUTLASS is not there: use <mma.h> or the mma instructions"),
    (r"torch/.*|ATen/.*|c10/.*|pybind11/.*|Python\.h", "give the kernel alone, without the code that calls it"),
    (r"helper_.*\.h", "the headers of NVIDIA's samples are not there, and a kernel does not need them"),
)
_GENERAL = "there are the CUDA headers, cuda/std/..., cub/... and the standard headers that device code can use"
_LAMBDA = "annotation on lambda"  # what follows is another text in each CUDA
_PLAIN_LAMBDA = (
    "this option is not allowed: drop __device__ and __host__ from the lambda; one that is written inside a kernel or "
    "a __device__ function runs on the device anyway"
)


def with_hint(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic, with a hint where there is one."""
    hint = _hint(diagnostic.message) if diagnostic.severity == "error" else ""
    return diagnostic.model_copy(update={"message": f"{diagnostic.message} (hint: {hint})"}) if hint else diagnostic


def _hint(message: str) -> str:
    if _LAMBDA in message:
        return _PLAIN_LAMBDA
    found = _CANNOT_OPEN.search(message)
    if found is None:
        return ""
    return next((text for names, text in _INSTEAD if re.fullmatch(names, found[1])), _GENERAL)
