"""Too little memory, told as that: what is limited, by what, and what to do. Never a fault of ours, never of a kernel.

Python raises MemoryError for it, the loader ImportError, the system OSError; some libraries end the process with a code
that would mean a wrong kernel, so a limit below the least that works is refused before they are loaded.
"""

from __future__ import annotations

import errno
import resource

from warpsight.errors import BrokenMachine

LEAST_BYTES = 384 << 20  # of address space: Python, NumPy and the compiler's bindings
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LOADER_WORDS = ("cannot allocate memory", "failed to map segment", "can't start new thread", "cannot create thread")


def require_memory() -> None:
    """Refuse a limit under which nothing works."""
    limit = _limit_bytes()
    if limit is not None and limit < LEAST_BYTES:
        raise _too_little(f"expected at least {LEAST_BYTES >> 20} MB of memory (address space)")


def keep_freed_memory() -> None:
    """Have malloc keep what is freed: a check makes and drops thousands of large arrays, and each page costs."""
    import ctypes

    malloc = ctypes.CDLL(None)
    if hasattr(malloc, "mallopt"):  # of glibc
        malloc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)
        malloc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the most that it takes


def as_memory_problem(problem: BaseException) -> BrokenMachine | None:
    """The error in words where memory is what was missing, here or in what led to it."""
    seen: BaseException | None = problem
    for _ in range(20):
        if seen is None:
            return None
        if _is_memory(seen):
            return _too_little(f"there was not enough memory ({type(seen).__name__})")
        seen = seen.__cause__ or seen.__context__
    return None


def _is_memory(problem: BaseException) -> bool:
    if isinstance(problem, OSError) and problem.errno == errno.ENOMEM:
        return True
    loading = isinstance(problem, ImportError | RuntimeError) and any(w in str(problem).lower() for w in _LOADER_WORDS)
    return loading or isinstance(problem, MemoryError)


def _too_little(what: str) -> BrokenMachine:
    limit = _limit_bytes()
    if limit is None:
        return BrokenMachine(what, hint="end other programs, use fewer --processes or --cores, or a smaller workload")
    told = f"{what}; this shell allows {limit >> 20} MB (ulimit -v)"
    return BrokenMachine(told, hint="raise it (ulimit -v unlimited), or use fewer --processes or a smaller workload")


def _limit_bytes() -> int | None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
