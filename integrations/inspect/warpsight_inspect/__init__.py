"""Make GPU kernels faster: an Inspect task whose tools need no GPU."""

from warpsight_inspect.task import faster_kernels

__all__ = ["faster_kernels"]
