"""Machine code (SASS, as nvdisasm prints it) to the lane bytecode: `load_sass` gives a Program for both executors."""

from warpsight.vgpu.sass.link import load_sass

__all__ = ["load_sass"]
