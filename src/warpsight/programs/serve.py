"""Answers what a program asks of its GPU, one message after the other, and keeps the account of the run.

The program is untrusted: a message that no honest runtime sends ends it (`BadRequest`), and nothing it claims is used
before it is checked. What must stay true: the sizes of a launch are checked here and by the core, and every access of a
kernel by the core. Of its texts a program gets back names of its kernels and variables, and what is wrong with them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from warpsight.devices.cuda_state import STAND_IN_MARK
from warpsight.errors import WarpsightError
from warpsight.nouns import Fault, KernelLaunches, ProgramCopies, ProgramFault
from warpsight.programs.contents import CannotLoad, ImageContents, look_into
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.kernel_times import LaunchTimes, SizeTime
from warpsight.programs.launches import SOFT, LaunchAsked, LaunchDone, Launcher, LaunchSizes
from warpsight.programs.library_account import LibraryAccount
from warpsight.programs.loaded import HostVariable, LoadedKernel, LoadedModule, load_contents, load_kernel, read_module
from warpsight.programs.messages import BadRequest, Fields, Op, pack_data, pack_numbers
from warpsight.programs.properties import COPY_US, device_numbers, host_link
from warpsight.programs.repeats import Repeats
from warpsight.programs.timeline import Timeline
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import occupancy

MOST_MODULES, MOST_VARIABLES, MOST_FAULTS, MOST_SIZES = 4096, 65536, 100, 20_000
FOLLOWS = "; something was not provided before this launch: that may be why"
NO_IMAGE, TOO_LARGE, NOT_LAUNCHED = 200, 720, 719
WAYS: tuple[Literal["host to device", "device to host", "within the device", "fill"], ...] = (
    "host to device", "device to host", "within the device", "fill",
)  # fmt: skip


@dataclass
class _Account:
    """What is kept of the launches of one size."""

    found: SizeTime
    launches: int = 0
    skipped: int = 0
    warp_instructions: int = 0
    host_s: float = 0.0
    time_us: float = 0.0


@dataclass
class Told:
    """What the run has come to so far; read from outside."""

    asked: bool = False
    launches: int = 0
    cut: int = 0
    out_of_time: bool = False
    running: str = ""
    since: float = 0.0
    faults: list[ProgramFault] = field(default_factory=list[ProgramFault])
    missing: set[str] = field(default_factory=set[str])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    copies: dict[int, tuple[int, int, float]] = field(default_factory=dict[int, tuple[int, int, float]])


class Server:
    """One program's GPU."""

    def __init__(
        self,
        memory: DeviceMemory,
        gpu: Gpu,
        launcher: Launcher,
        times: LaunchTimes | None,
        *,
        seconds_left: Callable[[], float],
        timeline: Timeline | None = None,
    ) -> None:
        self.memory, self.gpu, self.launcher, self.times = memory, gpu, launcher, times
        self.repeats = Repeats(memory)
        self.libraries = LibraryAccount(gpu, timed=times is not None)
        self.told = Told()
        self._seconds_left, self._timeline = seconds_left, timeline
        self._modules: dict[int, LoadedModule] = {}
        self._looked: dict[int, ImageContents] = {}
        self._accounts: dict[tuple[int, LaunchSizes], _Account] = {}
        self._cut: set[tuple[int, LaunchSizes]] = set()
        self._does: dict[Op, Callable[[Fields], bytes]] = {
            Op.HELLO: self._hello, Op.MODULE: self._module, Op.ALLOCATE: self._allocate, Op.RELEASE: self._release,
            Op.COPY: self._copy, Op.KERNEL: self._kernel, Op.LAUNCH: self._launch, Op.OCCUPANCY: self._occupancy,
            Op.MISSING: self._missing, Op.HEAP: self._heap, Op.LIBRARY: self.libraries.call, Op.LOOK: self._look,
        }  # fmt: skip

    def answer(self, op: Op, body: bytes) -> bytes:
        """The answer to one message; empty where none is expected."""
        return self._does[op](Fields(body))

    def _hello(self, asked: Fields) -> bytes:
        asked.number()
        asked.end()
        self.told.asked = True
        name = f"{self.gpu.name} {STAND_IN_MARK}".encode()
        return pack_data(name) + pack_numbers(device_numbers(self.gpu, self.memory.program_bytes))

    def _look(self, asked: Fields) -> bytes:
        """What is in an image that the program loads itself. Its variables come with `_module`, which follows."""
        number, image = asked.number(MOST_MODULES), asked.data()
        asked.end()
        if number in self._looked or number in self._modules:
            raise BadRequest(f"module {number} was sent twice")
        try:
            found = look_into(image, self.gpu.capability)
        except CannotLoad as refused:
            return pack_numbers([refused.code]) + pack_data(refused.message[:500].encode())
        if len(found.variables) > MOST_VARIABLES:
            raise BadRequest(f"expected at most {MOST_VARIABLES} variables in a module")
        self._looked[number] = found
        parts = [pack_numbers([0]), pack_data(b""), pack_numbers([len(found.kernels)])]
        parts += [pack_data(name.encode()) for name in found.kernels]
        parts.append(pack_numbers([len(found.variables)]))
        parts += [pack_data(name.encode()) + pack_numbers([size, constant]) for name, size, constant in found.variables]
        return b"".join(parts)

    def _module(self, asked: Fields) -> bytes:
        number, image = asked.number(MOST_MODULES), asked.data()
        if number in self._modules:
            raise BadRequest(f"module {number} was sent twice")
        variables: dict[str, HostVariable] = {}
        for _ in range(asked.number(MOST_VARIABLES)):
            name, address, size = asked.text(), asked.number(), asked.number(self.memory.program_bytes)
            piece = self.memory.pieces.get(address)
            if piece is None or piece.size < size:
                raise BadRequest(f"variable {name} does not lie in an allocation")
            variables[name] = HostVariable(address, size, bool(asked.number(1)))
        asked.end()
        try:
            looked = self._looked.pop(number, None)
            self._modules[number] = (
                read_module(image, variables, self.memory)
                if looked is None
                else load_contents(looked, variables, self.memory)
            )
        except (ValueError, LookupError, ArithmeticError, MemoryError, RecursionError, AssertionError) as problem:
            raise BadRequest(f"module {number} cannot be read ({type(problem).__name__}: {problem})") from None
        return b""

    def _allocate(self, asked: Fields) -> bytes:
        address, size, kind = asked.number(), asked.number(), asked.number(3)
        asked.end()
        self.memory.allocate(address, size, kind)
        return b""

    def _release(self, asked: Fields) -> bytes:
        address = asked.number()
        asked.end()
        self.memory.release(address)
        self.repeats.wrote(address)
        return b""

    def _copy(self, asked: Fields) -> bytes:
        """The program has copied or filled; `way` 4 is a fill. Tells what was written, and counts the time."""
        to, source, way = asked.number(), asked.number(), asked.number(4)
        row, rows, to_pitch, from_pitch = (asked.number(self.memory.program_bytes) for _ in range(4))
        asked.end()
        base = self._base_of(to) if to else None
        if base is not None:
            self.repeats.wrote(base)
            self._mark(to, source, row, rows, to_pitch, from_pitch)
        size = row * rows
        link = host_link(self.gpu)
        device = self.gpu.dram_gb_per_s * self.gpu.dram_efficiency * 1e3
        took = {1: link.latency_us + size / link.gb_per_s / 1e3, 2: link.latency_us + size / link.gb_per_s / 1e3,
                3: COPY_US + 2 * size / device, 4: COPY_US + size / device}.get(way, 0.0)  # fmt: skip
        count, total, us = self.told.copies.get(way, (0, 0, 0.0))
        self.told.copies[way] = (count + 1, total + size, us + took)
        if self._timeline is not None and way:
            self._timeline.copied(WAYS[way - 1], size, took)
        return b""

    def _mark(self, to: int, source: int, row: int, rows: int, to_pitch: int, from_pitch: int) -> None:
        if self.launcher.check is None:
            return
        core = self.memory.core
        if to_pitch == row and from_pitch == row:
            row, rows = row * rows, 1
        for i in range(min(rows, 1 << 20)):
            if source:
                core.copy_marks(to + i * to_pitch, source + i * from_pitch, row)
            else:
                core.mark(to + i * to_pitch, row)

    def _base_of(self, address: int) -> int | None:
        if address in self.memory.pieces:
            return address
        return next((p.address for p in self.memory.pieces.values() if p.address <= address < p.address + p.size), None)

    def _find(self, asked: Fields) -> tuple[int, LoadedModule, LoadedKernel | WarpsightError, str]:
        number, name = asked.number(MOST_MODULES), asked.text()
        module = self._modules.get(number)
        if module is None:
            raise BadRequest(f"module {number} was never sent")
        try:
            return number, module, load_kernel(module, name, self.memory, check=self.launcher.check is not None), name
        except BadRequest:
            raise
        except WarpsightError as problem:
            return number, module, problem, name
        except (ValueError, LookupError, ArithmeticError, MemoryError, RecursionError, AssertionError) as problem:
            # PTX of an untrusted program: whatever it trips over is its own, and told.
            return number, module, WarpsightError(f"its PTX cannot be read ({type(problem).__name__}: {problem})"), name

    def _kernel(self, asked: Fields) -> bytes:
        _, module, kernel, name = self._find(asked)
        asked.end()
        if isinstance(kernel, WarpsightError):
            self.told.refused[name] = str(kernel)
            return pack_data(str(kernel).encode())
        program = kernel.program
        numbers = [
            program.param_bytes, self._registers(module, name), program.shared_bytes, program.local_bytes,
            len(program.const_data), kernel.max_threads, len(program.params),
        ]  # fmt: skip
        return pack_data(b"") + pack_numbers([*numbers, *(n for p in program.params for n in (p.offset, p.size))])

    def _registers(self, module: LoadedModule, name: str) -> int:
        """Of the machine code, where it is made anyway; else the number that lets the most blocks in."""
        if self.times is None:
            return 32
        try:
            return module.usage(self.gpu.arch, name).registers
        except (WarpsightError, StopIteration):
            return 32

    def _occupancy(self, asked: Fields) -> bytes:
        _, module, kernel, name = self._find(asked)
        threads, shared = asked.number(4096), asked.number(1 << 30)
        asked.end()
        if isinstance(kernel, WarpsightError) or threads < 1:
            return pack_numbers([0])
        return pack_numbers([self._resident(module, kernel, name, threads, shared)])

    def _resident(self, module: LoadedModule, kernel: LoadedKernel, name: str, threads: int, shared: int) -> int:
        used = kernel.program.shared_bytes + shared
        return occupancy(self.gpu, threads, self._registers(module, name), used).blocks_per_sm

    def _missing(self, asked: Fields) -> bytes:
        if len(self.told.missing) < 1000:
            self.told.missing.add(asked.text())
        return b""

    def _heap(self, asked: Fields) -> bytes:
        self.launcher.heap_bytes = min(asked.number(), 512 << 20)
        asked.end()
        return b""

    def _launch(self, asked: Fields) -> bytes:
        number, module, kernel, name = self._find(asked)
        grid = asked.number(0x7FFFFFFF), asked.number(65535), asked.number(65535)
        block = asked.number(1024), asked.number(1024), asked.number(64)
        shared, params, cooperative = asked.number(1 << 20), asked.data(), bool(asked.number(1))
        asked.end()
        if isinstance(kernel, WarpsightError):
            return _told(NO_IMAGE, stays=False, text=str(kernel))
        threads = block[0] * block[1] * block[2]
        if not all(grid) or not 0 < threads <= 1024 or len(params) != kernel.program.param_bytes:
            raise BadRequest(f"{name}: a launch of {grid} blocks of {block} threads with {len(params)} bytes")
        launch = LaunchAsked(name, grid, block, shared, params, cooperative)
        if cooperative:
            most = self._resident(module, kernel, name, threads, shared) * self.gpu.sms
            if grid[0] * grid[1] * grid[2] > most:
                return _told(TOO_LARGE, stays=False, text=f"warpsight: {name}: {most} blocks fit at a time")
        return self._run(number, module, kernel, launch)

    def _run(self, number: int, module: LoadedModule, kernel: LoadedKernel, launch: LaunchAsked) -> bytes:
        self.told.launches += 1
        self.told.running, self.told.since = kernel.name, time.monotonic()
        constants = self.launcher.constants(kernel)
        account = self._account(number, module, kernel, launch, constants)
        account.launches += 1
        key = (number, launch, hashlib.sha256(constants).digest() if constants else b"")
        if (number, launch.size) in self._cut:  # the profile has it, and the results are lost already
            self.told.cut += 1
            self.told.running = ""
            return _told(0, time_us=self._took(number, launch, account, None))
        repeatable = self.launcher.check is None and not kernel.uses_heap and not launch.cooperative
        if repeatable and self.repeats.skip(key):
            account.skipped += 1
            self.told.running = ""
            return _told(0, time_us=self._took(number, launch, account, None))
        began = time.perf_counter()
        done = self.launcher.run(module, kernel, launch, constants=constants, seconds=self._seconds_left())
        spent = time.perf_counter() - began
        self.told.running = ""
        if done.cut:
            self.told.cut += 1
            self._cut.add((number, launch.size))
            if self.times is not None:
                self.times.after_cut = True
        certain = repeatable and not done.printed and not done.faults and not done.cut
        self.repeats.ran(key, done.touched, spent, repeatable=certain)
        account.host_s += spent
        account.warp_instructions += done.warp_instructions
        took = self._took(number, launch, account, None if done.cut else done.warp_instructions)
        return _told(done.code, stays=True, time_us=took, printed=done.printed, text=self._note(kernel, done))

    def _account(
        self, number: int, module: LoadedModule, kernel: LoadedKernel, launch: LaunchAsked, constants: bytes
    ) -> _Account:
        key = (number, launch.size)
        if key not in self._accounts:
            if len(self._accounts) >= MOST_SIZES or self.times is None:
                found = SizeTime(None, "not asked for" if self.times is None else "too many sizes of launches")
            else:
                found = self.times.time(number, module, kernel, launch, constants)
            self._accounts[key] = _Account(found)
        return self._accounts[key]

    def _took(self, number: int, launch: LaunchAsked, account: _Account, instructions: int | None) -> float:
        took = None
        if self.times is not None and account.found.time_us is not None:
            took = self.times.scaled_us(number, launch, account.found, instructions)
            account.time_us += took
        if self._timeline is not None:
            self._timeline.launched(launch.size, took, repeated=instructions is None)
        return took or 0.0

    def _note(self, kernel: LoadedKernel, done: LaunchDone) -> str:
        """Keeps what went wrong, and says it in words for the program's errors."""
        said: list[str] = []
        for fault in done.faults:
            if fault.kind in ("deadline", "interrupted"):  # the run's end, and no fault of the kernel
                self.told.out_of_time = True
                continue
            if fault.kind == "uninitialised_read" and (self.told.missing or self.told.refused):
                fault = fault.model_copy(update={"message": fault.message + FOLLOWS})
            soft = fault.kind in SOFT and self.launcher.check != "strict"
            file = None if kernel.source is None else str(kernel.source)
            if len(self.told.faults) < MOST_FAULTS:
                known = any(
                    f.kernel == kernel.name and f.fault.kind == fault.kind and f.fault.line == fault.line
                    for f in self.told.faults
                )
                if not known or not soft:
                    self.told.faults.append(
                        ProgramFault(
                            kernel=kernel.name, launch=self.told.launches, file=file, warning=soft, fault=fault
                        )
                    )
                    said.append(_in_words(kernel, fault, soft))
        return "\n".join(said)

    def kernels(self) -> tuple[KernelLaunches, ...]:
        """The launches by kernel and size, longest simulated time first."""
        rows = [self._row(size, account) for (_, size), account in self._accounts.items()]
        return tuple(sorted(rows, key=lambda row: (-(row.time_us or 0.0), -row.host_s)))

    def _row(self, size: LaunchSizes, account: _Account) -> KernelLaunches:
        name, grid, block, shared = size
        timed = account.found.time_us is not None
        return KernelLaunches(
            kernel=name, grid=grid, block=block, shared_bytes=shared, launches=account.launches,
            skipped=account.skipped, warp_instructions=account.warp_instructions, host_s=account.host_s,
            time_us=account.time_us if timed else None, no_time=account.found.reason, bound=account.found.bound,
        )  # fmt: skip

    def copies(self) -> tuple[ProgramCopies, ...]:
        return tuple(
            ProgramCopies(direction=WAYS[way - 1], count=count, size_bytes=size, time_us=us)
            for way, (count, size, us) in sorted(self.told.copies.items())
            if way
        )


def _told(code: int, *, stays: bool = False, time_us: float = 0.0, printed: bytes = b"", text: str = "") -> bytes:
    """The answer to a launch. Its time has the launch itself in it."""
    return (
        pack_numbers([code, bool(code) and stays, round(time_us * 1e3)]) + pack_data(printed) + pack_data(text.encode())
    )


def _in_words(kernel: LoadedKernel, fault: Fault, soft: bool) -> str:
    where = (
        f"{kernel.source.name}:{fault.line}" if kernel.source is not None and fault.line else f"`{fault.instruction}`"
    )
    times = f" ({fault.count} times)" if fault.count > 1 else ""
    kind = "warning" if soft else "fault"
    return (
        f"warpsight: {kind} in {kernel.name} at {where}: {fault.message}; "
        f"block {fault.block}, thread {fault.thread}{times}"
    )
