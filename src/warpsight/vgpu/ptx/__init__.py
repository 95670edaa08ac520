"""The PTX front end: the text that NVRTC or Triton writes to a Program of lane bytecode. `load_ptx` is all that others
need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpsight.vgpu.ptx.link import load_ptx

__all__ = ["load_ptx"]


def __getattr__(name: str) -> Any:
    """Loaded when it is first asked for: who reads machine code alone needs no PTX."""
    if name not in __all__:
        raise AttributeError(f"module 'warpsight.vgpu.ptx' has no attribute {name!r}")
    from warpsight.vgpu.ptx.link import load_ptx

    return load_ptx
