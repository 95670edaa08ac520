"""The PTX front end: the text that NVRTC or Triton writes to a Program of lane bytecode. `load_ptx` is all that others
need.
"""

from __future__ import annotations

from warpsight.vgpu.ptx.link import load_ptx

__all__ = ["load_ptx"]
