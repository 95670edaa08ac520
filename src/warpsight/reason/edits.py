"""How a model hands over a kernel: see `tools/edits.py`, where every door to the tools finds it."""

from __future__ import annotations

from warpsight.nouns import kernel_id
from warpsight.tools.edits import KERNEL, EditBlock, EditFailed, apply_edits, offer_edits, whole_kernel

__all__ = ["KERNEL", "EditBlock", "EditFailed", "apply_edits", "kernel_id", "offer_edits", "whole_kernel"]
