"""CUDA C++ as it is written, read with a real grammar: kernels, loops, index expressions, what loops carry.

Nothing here changes a text or knows of profiles. What is not understood raises `NotUnderstood` with the reason.
"""

from __future__ import annotations

from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import ForLoop, for_loops, read_loop
from warpsight.source.tree import KernelTree, NotUnderstood, SourceTree, kernel_of, parse, within

__all__ = [
    "ForLoop", "IndexForm", "KernelTree", "NotUnderstood", "Scope", "SourceTree", "for_loops", "kernel_of", "parse",
    "read_loop", "within",
]  # fmt: skip
