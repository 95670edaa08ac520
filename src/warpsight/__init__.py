"""Warpsight: run, check, time and profile CUDA kernels, with or without a GPU, and make them faster.

    import warpsight as ws

    ws.check("saxpy"), ws.profile("saxpy"), ws.optimize("saxpy")     # a task: a folder, or its name under ./tasks
    k = ws.kernel(text); k(grid, block, *arrays); k.profile(...)     # a kernel alone, on NumPy arrays

Importing the package loads nothing: each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpsight.session.opening import open_task
    from warpsight.session.raw_kernel import RawKernel, kernel
    from warpsight.session.session import Session
    from warpsight.verbs.ask import check, compare, diagnose, profile, time
    from warpsight.verbs.optimize import optimize
    from warpsight.verbs.tune import tune

__version__ = "0.1.0"
__all__ = [
    "RawKernel",
    "Session",
    "check",
    "compare",
    "diagnose",
    "kernel",
    "open_task",
    "optimize",
    "profile",
    "time",
    "tune",
]
_PLACES = {
    "open_task": "session.opening",
    "Session": "session.session",
    "RawKernel": "session.raw_kernel",
    "kernel": "session.raw_kernel",
    "check": "verbs.ask",
    "compare": "verbs.ask",
    "diagnose": "verbs.ask",
    "profile": "verbs.ask",
    "time": "verbs.ask",
    "optimize": "verbs.optimize",
    "tune": "verbs.tune",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'warpsight' has no attribute {name!r}")
    found = getattr(import_module(f"warpsight.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
