"""One launch of a program on the core: constants and workspace filled in, run, faults in words, CUDA's error for them.

What a launch may do is checked by the core as for any kernel. With a check, `lenient` goes on after what hardware
defines in practice (races, uninitialised reads), and tells it; `strict` takes it for a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from warpsight.nouns import Fault
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.loaded import WORKSPACE_BYTES, LoadedKernel, LoadedModule
from warpsight.vgpu.bytecode import GRID_WORKSPACE
from warpsight.vgpu.faults import FaultReport
from warpsight.vgpu.machine import Dim3

if TYPE_CHECKING:
    from warpsight.vgpu._core import LaunchRecord

CheckLevel = Literal["lenient", "strict"]
SOFT = frozenset({"shared_race", "global_race", "uninitialised_read", "shuffle_outside_mask"})
_CODES = {
    "out_of_bounds": 700, "write_to_const": 700, "misaligned": 716, "assert_failed": 710, "deadline": 702,
    "endless_loop": 702, "launch_too_large": 702, "bad_jump": 718, "stack_overflow": 714,
}  # fmt: skip
LAUNCH_FAILURE = 719
HEAP_BYTES = 8 << 20  # CUDA's own default
NO_LIMIT = (1 << 63) - 1


LaunchSizes = tuple[str, Dim3, Dim3, int]
"""Kernel, grid, block and dynamic shared memory."""


@dataclass(frozen=True)
class LaunchAsked:
    """A launch as the program asked for it, with the sizes checked."""

    kernel: str
    grid: Dim3
    block: Dim3
    shared_bytes: int
    params: bytes
    cooperative: bool

    @property
    def size(self) -> LaunchSizes:
        return self.kernel, self.grid, self.block, self.shared_bytes


@dataclass(frozen=True)
class LaunchDone:
    """What came of it. `code` is CUDA's error, 0 for none; `touched` the allocations it read or wrote (True); `cut`
    says that it was ended early, as a profile may ask for."""

    code: int
    faults: tuple[Fault, ...]
    printed: bytes
    warp_instructions: int
    touched: tuple[tuple[int, bool], ...] = ()
    interrupted: bool = False
    cut: bool = False


class Launcher:
    """Runs launches on the device memory of one program. One that takes longer than `limit_s` is cut off."""

    def __init__(
        self, memory: DeviceMemory, *, check: CheckLevel | None, cores: int, limit_s: float = float("inf")
    ) -> None:
        self.memory, self.check, self.cores, self.limit_s = memory, check, cores, limit_s
        self.heap_bytes = HEAP_BYTES
        self._heap_at = self._heap_used = 0

    def constants(self, kernel: LoadedKernel) -> bytes:
        """Constant memory with what the program has put into its variables."""
        data = bytearray(kernel.program.const_data)
        for offset, size, variable in kernel.constants:
            data[offset : offset + size] = self.memory.view(variable.address, size).tobytes()
        return bytes(data)

    def run(
        self, module: LoadedModule, kernel: LoadedKernel, asked: LaunchAsked, *, constants: bytes, seconds: float
    ) -> LaunchDone:
        from warpsight.vgpu import _core

        program = kernel.program
        core = kernel.core_of(asked.grid, asked.block, asked.params, check=self.check is not None)
        if asked.cooperative and kernel.core_meeting is not None:
            core = kernel.core_meeting
            self.memory.view(module.addresses[GRID_WORKSPACE], WORKSPACE_BYTES)[:] = 0
        if kernel.uses_heap and not self._heap_at:
            self._heap_at = self.memory.take(self.heap_bytes, "(device heap)")
        raw = _core.launch(
            core,
            self.memory.core,
            asked.grid,
            asked.block,
            shared_bytes=program.shared_bytes + asked.shared_bytes,
            dynamic_shared_bytes=asked.shared_bytes,
            local_bytes=program.local_bytes,
            params=asked.params,
            const_data=constants,
            blocks=[],
            check=self.check is not None,
            count=False,
            cores=self.cores,
            max_instructions=NO_LIMIT,
            deadline_seconds=max(0.05, min(seconds, self.limit_s)),
            heap_base=self._heap_at if kernel.uses_heap else 0,
            heap_bytes=self.heap_bytes if kernel.uses_heap else 0,
            heap_used=self._heap_used,
        )
        if kernel.uses_heap:
            self._heap_used = raw["heap_used"]
        return self._done(kernel, asked, raw, may_be_cut=self.limit_s < seconds)

    def _done(self, kernel: LoadedKernel, asked: LaunchAsked, raw: LaunchRecord, *, may_be_cut: bool) -> LaunchDone:
        faults = self._faults(kernel, asked, raw) if raw["faults"] else ()
        cut = may_be_cut and any(fault.kind == "deadline" for fault in faults)
        if cut:
            faults = tuple(fault for fault in faults if fault.kind != "deadline")
        hard = [f for f in faults if f.kind not in SOFT or self.check == "strict"]
        return LaunchDone(
            code=_CODES.get(hard[0].kind, LAUNCH_FAILURE) if hard else 0,
            faults=faults,
            printed=raw["output"],
            warp_instructions=raw["warp_instructions"],
            touched=tuple(self.memory.core.touched()),
            interrupted=any(f.kind == "interrupted" for f in faults),
            cut=cut,
        )

    def _faults(self, kernel: LoadedKernel, asked: LaunchAsked, raw: LaunchRecord) -> tuple[Fault, ...]:
        memory, lines = self.memory.described(), _lines_of(kernel)
        report = FaultReport(kernel.program, memory, asked.grid, asked.block, asked.shared_bytes, lines)
        return tuple(report.fault(one) for one in raw["faults"])


def _lines_of(kernel: LoadedKernel) -> list[str]:
    try:
        return [] if kernel.source is None else kernel.source.read_text(errors="replace").splitlines()
    except OSError:
        return []
