"""Devices by name: ours, those that other packages bring (entry points `warpsight.devices`), or `package.module:Class`.

A class is imported when its device is opened, never before. It has a class method `open(*, gpu, default_gpu, cores,
deadline_seconds, unsafe)`, and `languages`, the kernels that it runs; `devices/conformance.py` is what the rest of a
device must keep.
"""

from __future__ import annotations

from typing import Any

from warpsight.devices.device import Device
from warpsight.nouns import Language
from warpsight.plugins import Seam

DEVICES = Seam(
    "device",
    "warpsight.devices",
    {
        "virtual": "warpsight.devices.virtual:VirtualGpu",
        "opencl": "warpsight.devices.opencl:OpenClDevice",
        "cuda": "warpsight.devices.cuda:CudaDevice",
        "hip": "warpsight.devices.hip:HipDevice",
    },
)


def device_names() -> tuple[str, ...]:
    """Ours first, then what is installed, in the order of their names."""
    return DEVICES.names()


def device_class(name: str) -> Any:
    """The class behind a name; UsageError names those there are."""
    return DEVICES.find(name)


def languages_of(name: str) -> tuple[Language, ...]:
    """The languages of the kernels that a device runs; its own first."""
    return tuple(device_class(name).languages)


def open_device(
    name: str,
    *,
    gpu: str | None = None,
    default_gpu: str | None = None,
    cores: int | None = None,
    deadline_seconds: float = 120.0,
    unsafe: bool = False,
) -> Device:
    """The device of this name. `gpu` says which, in its own words; `default_gpu` is the data sheet of a virtual one."""
    return DEVICES.open(
        name, gpu=gpu, default_gpu=default_gpu, cores=cores, deadline_seconds=deadline_seconds, unsafe=unsafe
    )
