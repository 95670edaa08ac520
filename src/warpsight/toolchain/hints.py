"""What to use instead of a header that device code cannot have, said in the diagnostic itself.

Looks only at the message that a file cannot be opened. Every other message stays as it is.
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


def with_hint(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic, with a hint where a header is missing."""
    found = _CANNOT_OPEN.search(diagnostic.message)
    if found is None or diagnostic.severity != "error":
        return diagnostic
    hint = next((text for names, text in _INSTEAD if re.fullmatch(names, found[1])), _GENERAL)
    return diagnostic.model_copy(update={"message": f"{diagnostic.message} (hint: {hint})"})
