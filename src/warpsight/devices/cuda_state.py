"""Which NVIDIA GPUs are here, which one to use, and whether it was quiet while it was timed (through NVML).

Reads only; sets no clock and ends no process. What must stay true: one process of ours at a time uses a GPU, held by a
lock on its UUID; a disturbed measurement is told, never averaged away. Written against cuda-core's documented
interface; not run on a GPU by us.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from warpsight.errors import DeviceError, GpuPackageMissing, ToolMissing, UsageError

NO_DRIVER = "no NVIDIA driver answers"
GET_DRIVER = (
    "install NVIDIA's driver, in a container start it with the GPU (`nvidia-smi` must list it); or --device virtual"
)
BY_BUS = "PCI_BUS_ID"
LOCK_WAIT_S = 600.0
STAND_IN_MARK = "(Warpsight virtual GPU)"
"""Ends the name of a GPU that is none: one of our stand-in driver (`programs.door`)."""
STAND_IN = "no GPU was used: the driver is Warpsight's stand-in, so every time here is simulated"
DRIVER_PLACE = ("LD_LIBRARY_PATH", "WARPSIGHT_CHANNEL")
"""Where a driver's library is looked for; and where the stand-in driver finds its GPU (`programs.door`)."""
CLOCK_FELL = 0.05
COMPILES_FOR = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
"""Architectures that the compiler we use (NVRTC of CUDA 13) writes code for."""
SLOWED = (
    "sw_power_cap", "hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
)  # fmt: skip
"""Clock events that make a time wrong. Idle clocks and clocks that were set on purpose do not."""


@dataclass(frozen=True)
class GpuHere:
    """One GPU of this machine; `uuid` without a prefix."""

    index: int
    uuid: str
    name: str
    capability: tuple[int, int]
    processes: tuple[int, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """What every result of this GPU must say."""
        return (STAND_IN,) if self.name.endswith(STAND_IN_MARK) else ()


@dataclass(frozen=True)
class GpuState:
    """What NVML says of a GPU at one moment; None where the GPU does not tell."""

    sm_mhz: int | None
    memory_mhz: int | None
    temperature_c: int | None
    events: tuple[str, ...]
    processes: tuple[int, ...]


def driver_place(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Where this process finds its driver, as words for a worker: the jail starts that one with no environment."""
    return tuple(f"{name}={environment[name]}" for name in DRIVER_PLACE if environment.get(name))


def gpus_here() -> tuple[GpuHere, ...]:
    """Every NVIDIA GPU; without a driver or without the package, the error that says so."""
    try:
        return tuple(_here(device) for device in _nvml().Device.get_all_devices())
    except (ToolMissing, DeviceError):
        raise
    except Exception as problem:  # whatever NVML says is no reason to go on without it
        raise DeviceError(f"expected NVML to list the GPUs: {problem}", hint=GET_DRIVER) from None


def visible(gpus: Sequence[GpuHere], setting: str | None, order: str | None = None) -> tuple[GpuHere, ...]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves, in its order; like CUDA, it stops at the first that is not there.

    NVML numbers GPUs by their place on the bus, CUDA the fastest first unless CUDA_DEVICE_ORDER (`order`) says
    otherwise: a number that may mean another GPU is refused.
    """
    if setting is None:
        return tuple(gpus)
    found: list[GpuHere] = []
    for word in (part.strip() for part in setting.split(",")):
        if word.isdecimal() and len(gpus) > 1 and order != BY_BUS:
            raise UsageError(
                f"expected GPUs by UUID in CUDA_VISIBLE_DEVICES, found {setting!r}: which of the {len(gpus)} GPUs a"
                f" number means is known only with CUDA_DEVICE_ORDER={BY_BUS}",
                hint=f"name them by UUID (`nvidia-smi -L` lists them), or set CUDA_DEVICE_ORDER={BY_BUS}",
            )
        match = [gpu for gpu in gpus if word and word in (str(gpu.index), *_ids(gpu, len(word)))]
        if len(match) != 1:
            break
        found.append(match[0])
    return tuple(found)


def choose(gpus: Sequence[GpuHere], wanted: str | None = None) -> GpuHere:
    """The GPU asked for by index, UUID or name; else the first that no one else uses, else the first."""
    if not gpus:
        raise DeviceError(f"expected a GPU, {NO_DRIVER} or CUDA_VISIBLE_DEVICES hides all", hint=GET_DRIVER)
    if wanted is None:
        return next((gpu for gpu in gpus if not gpu.processes), gpus[0])
    exact = [gpu for gpu in gpus if wanted in (str(gpu.index), gpu.name, *_ids(gpu, len(wanted)))]
    near = exact or [gpu for gpu in gpus if wanted.lower() in gpu.name.lower()]
    if not near:
        listed = "; ".join(f"{gpu.index}: {gpu.name}, GPU-{gpu.uuid}" for gpu in gpus)
        raise UsageError(f"expected one of this machine's GPUs, found {wanted!r}", hint=f"one of {listed}")
    return near[0]


def runs(gpu_arch: str, capability: tuple[int, int]) -> bool:
    """Whether machine code for `sm_XY` runs on this GPU: the same generation, and not a later member of it."""
    digits = gpu_arch.removeprefix("sm_")
    if not digits.isdecimal():  # sm_90a and its like run on that very GPU alone
        return digits[:-1] == f"{capability[0]}{capability[1]}"
    return int(digits[:-1]) == capability[0] and int(digits[-1]) <= capability[1]


def arch_for(capability: tuple[int, int]) -> str:
    """The architecture to compile for: the GPU's own, or the nearest one before it, whose PTX the driver takes on."""
    wanted = 10 * capability[0] + capability[1]
    before = [arch for arch in COMPILES_FOR if arch <= wanted]
    if not before:
        raise DeviceError(
            f"expected a GPU of compute capability 7.5 or later, this one is {capability[0]}.{capability[1]}:"
            " the compiler of CUDA 13 writes no code for it",
            hint="another GPU, or --device virtual",
        )
    return f"sm_{before[-1]}"


def read_state(uuid: str) -> GpuState:
    """What NVML says of the GPU now."""
    try:
        device = _nvml().Device(uuid=f"GPU-{uuid}")
    except (ToolMissing, DeviceError):
        raise
    except Exception as problem:
        raise DeviceError(
            f"the GPU GPU-{uuid} is lost: {problem}", hint="`nvidia-smi`, and a reset or reboot"
        ) from None
    return GpuState(
        sm_mhz=_told(lambda: int(device.get_clock("sm").get_current_mhz())),
        memory_mhz=_told(lambda: int(device.get_clock("memory").get_current_mhz())),
        temperature_c=_told(lambda: int(device.temperature.get_sensor())),
        events=_told(lambda: tuple(str(event) for event in device.current_clock_event_reasons)) or (),
        processes=_told(lambda: tuple(int(process.pid) for process in device.compute_running_processes)) or (),
    )


def disturbances(before: GpuState, after: GpuState, own: Collection[int]) -> tuple[str, ...]:
    """Why a time between the two moments is not to be trusted; nothing when it was quiet. `own` are our workers."""
    found: list[str] = []
    slowed = sorted({event for event in (*before.events, *after.events) if event in SLOWED})
    if slowed:
        found.append(f"the GPU slowed its clock ({', '.join(slowed)})")
    if before.sm_mhz and after.sm_mhz and after.sm_mhz < before.sm_mhz * (1 - CLOCK_FELL):
        found.append(f"the SM clock fell from {before.sm_mhz} to {after.sm_mhz} MHz")
    found += _foreign(before.processes, after.processes, own)
    return tuple(found)


def _foreign(before: Sequence[int], after: Sequence[int], own: Collection[int]) -> list[str]:
    """Other processes on the GPU. In a container NVML may give the host's numbers: then only how many is known."""
    if own and after and not set(own) & set(after):
        more = len(after) - len(own)
        return [f"{more} other processes use the GPU"] if more > 0 else []
    foreign = sorted((set(before) | set(after)) - set(own))
    return [f"other processes use the GPU ({', '.join(str(pid) for pid in foreign[:8])})"] if foreign else []


def lock_gpu(uuid: str, wait_s: float = LOCK_WAIT_S) -> Any:
    """The lock of one GPU, held until it is released; another of our processes that holds it is waited for."""
    from filelock import FileLock, Timeout

    path = Path(tempfile.gettempdir()) / f"warpsight-gpu-{uuid}.lock"
    lock = FileLock(path, timeout=wait_s)
    try:
        lock.acquire()
    except Timeout:
        raise DeviceError(
            f"expected GPU-{uuid} to be free within {wait_s:g} s, another Warpsight process uses it",
            hint="wait for it, or choose another GPU",
        ) from None
    return lock


def _nvml() -> Any:
    try:
        system: Any = import_module("cuda.core").system
    except ImportError:
        hint = "pip install 'warpsight[cuda]', and NVIDIA's driver"
        raise GpuPackageMissing("expected the package cuda-core, it is not installed", hint=hint) from None
    if not hasattr(system, "Device"):  # cuda-core leaves it out where cuda-bindings is too old
        raise GpuPackageMissing(
            "expected a cuda-bindings with NVML, the one installed is too old for this cuda-core",
            hint="pip install --upgrade cuda-bindings 'warpsight[cuda]'",
        )
    try:
        system.Device.get_device_count()
    except Exception as problem:  # no library, no driver, no GPU: each with its own type in each version
        told = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
        raise DeviceError(f"expected an NVIDIA GPU, {NO_DRIVER}: {told}", hint=GET_DRIVER) from None
    return system


def _here(device: Any) -> GpuHere:
    major, minor = device.cuda_compute_capability
    busy = _told(lambda: tuple(int(process.pid) for process in device.compute_running_processes)) or ()
    return GpuHere(int(device.index), str(device.uuid_without_prefix), str(device.name), (int(major), int(minor)), busy)


def _told(ask: Any) -> Any:
    """The answer, or None where this GPU does not give it: not every GPU tells everything."""
    try:
        return ask()
    except Exception:
        return None


def _ids(gpu: GpuHere, length: int) -> tuple[str, ...]:
    """The UUID as people write it; a beginning of it will do when it is long enough to mean one."""
    full = (gpu.uuid, f"GPU-{gpu.uuid}")
    return tuple(text[:length] for text in full) if length >= 8 else full
