"""Machine code (SASS, as nvdisasm prints it) to the lane bytecode: `load_sass` gives a Program for both executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpsight.vgpu.sass.link import load_sass

__all__ = ["load_sass"]


def __getattr__(name: str) -> Any:
    """Loaded when it is first asked for: `bank` is of use to who reads PTX alone."""
    if name not in __all__:
        raise AttributeError(f"module 'warpsight.vgpu.sass' has no attribute {name!r}")
    from warpsight.vgpu.sass.link import load_sass

    return load_sass
