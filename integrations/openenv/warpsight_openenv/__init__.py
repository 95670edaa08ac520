"""Make GPU kernels faster: an OpenEnv environment whose tools need no GPU."""

from warpsight_openenv.client import KernelEnv
from warpsight_openenv.models import KernelAction, KernelObservation, KernelState

__all__ = ["KernelAction", "KernelEnv", "KernelObservation", "KernelState"]
