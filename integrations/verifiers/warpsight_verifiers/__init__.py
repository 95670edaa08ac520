"""Make GPU kernels faster: a taskset for verifiers whose tools need no GPU."""

from warpsight_verifiers.taskset import KernelTaskset

__all__ = ["KernelTaskset"]
