"""Runs a built CUDA program: the program in the jail, its launches on the core here, one account at the end.

This thread answers the program's messages and runs its launches, so that Ctrl-C reaches it; a second one waits for the
program, a third looks once a second at memory and the clock. What must stay true: however this ends, the jail is gone.
"""

from __future__ import annotations

import functools
import os
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from warpsight.jail import Limits
from warpsight.nouns import ProgramEnd, WholeRun
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.estimate import in_words, launch_seconds_left
from warpsight.programs.jailed import Command, JailedProgram, Sink, unpack
from warpsight.programs.kernel_times import LaunchTimes, OnProfile
from warpsight.programs.launches import CheckLevel, Launcher
from warpsight.programs.messages import ANSWERED, HEAD, BadRequest, check_head
from warpsight.programs.properties import host_link
from warpsight.programs.serve import Server
from warpsight.programs.timeline import Timeline
from warpsight.vgpu import _core
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.symbols import kernel_title
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

NEVER_S = 30 * 24 * 3600.0
SCRATCH_BYTES = 2 << 30
HOST_BYTES = 8 << 30
INTERRUPTED = 130  # as a shell says it of Ctrl-C
SURELY = 4.0  # times over what is left, until a launch is given up before its time: blocks may cost unlike
SURE_AFTER_S = 1.0
RUNTIME_GONE = 97  # how a program ends whose virtual GPU has gone


@dataclass(frozen=True)
class RunOptions:
    """How to run a program. `device_bytes` of this machine may be its device memory, 0 for most of what is free; `look`
    is told now and then how far it is, `launcher` is made instead of a plain one: it may watch the launches. A launch
    that takes longer than `launch_limit_s` is cut off, and the program goes on with what is there: for profiles."""

    gpu: Gpu
    check: CheckLevel | None = None
    times: bool = True
    on_profile: OnProfile | None = None
    cores: int = 0
    limit_s: float = NEVER_S
    cpu_limit_s: float = NEVER_S
    launch_limit_s: float = NEVER_S
    device_bytes: int = 0
    out: Path | None = None
    timeline: Timeline | None = None
    look: Callable[[Server, float], None] | None = None
    launcher: Callable[[DeviceMemory, int], Launcher] | None = None


def run_program(name: str, command: Command, options: RunOptions, *, output: Sink, errors: Sink) -> WholeRun:
    """One run. What the program prints goes to the sinks as it comes."""
    began = time.monotonic()
    ends_at = began + options.limit_s
    memory = DeviceMemory(int(options.gpu.dram_gb * 1e9), check=options.check is not None)
    cores = options.cores or os.cpu_count() or 1
    made = options.launcher or functools.partial(_plain_launcher, options)
    launcher = made(memory, cores)
    times = LaunchTimes(memory, options.gpu, on_profile=options.on_profile, cores=cores) if options.times else None
    server = Server(
        memory, options.gpu, launcher, times, seconds_left=lambda: ends_at - time.monotonic(), timeline=options.timeline
    )
    ours, theirs = socket.socketpair()
    environment = {**command.environment, "WARPSIGHT_CHANNEL": "6", "WARPSIGHT_MEMORY": "7"}
    command = replace(command, environment=environment, hand_back="new" if options.out else "")
    limits = Limits(
        wall_s=options.limit_s + 60, cpu_s=int(min(options.limit_s, options.cpu_limit_s)) + 60, memory_bytes=HOST_BYTES,
        threads=512, file_bytes=SCRATCH_BYTES, scratch_bytes=SCRATCH_BYTES, answer_bytes=SCRATCH_BYTES,
        shared_bytes=memory.program_bytes,
    )  # fmt: skip
    try:
        with JailedProgram(
            command, limits, output=output, errors=errors, passed=(theirs.fileno(), memory.fd)
        ) as program:
            theirs.close()
            watch = _Watch(program, server, ends_at, options)
            try:
                end, detail = _serve(ours, server, watch)
                end, detail = _wait(program, watch, end, detail)
            except KeyboardInterrupt:  # what is known so far is worth having
                watch.end("interrupted", _where(server))
                end, detail = "interrupted", ""
            finally:
                watch.stop()
        if options.out is not None and program.ending.files:
            unpack(program.ending.files, options.out)
        end, code, detail = _how_it_ended(program, watch, end, detail)
        return _account(name, server, options, end, code, detail, time.monotonic() - began, program.ending.cpu_s)
    finally:
        ours.close()
        theirs.close()
        memory.close()


def _plain_launcher(options: RunOptions, memory: DeviceMemory, cores: int) -> Launcher:
    return Launcher(memory, check=options.check, cores=cores, limit_s=options.launch_limit_s)


class _Watch:
    """Looks once a second whether the program uses more memory or time than it may, and tells how far it is."""

    def __init__(self, program: JailedProgram, server: Server, ends_at: float, options: RunOptions) -> None:
        self.program, self.server, self.ends_at, self.options = program, server, ends_at, options
        self._cpu_before = time.process_time()
        self._launch, self._launch_at = (0, 0), (0.0, 0.0)
        self.event: tuple[ProgramEnd, str] | None = None
        self.most_bytes = options.device_bytes or _available_bytes() * 6 // 10
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._over.wait(0.25):
            used = self.server.memory.used_bytes()
            if used > self.most_bytes:
                self.end(
                    "too_much_memory",
                    f"device memory takes {used >> 20} MiB of this machine, {self.most_bytes >> 20} may be used",
                )
            if time.monotonic() > self.ends_at:
                self.end("time_limit", "it was still running when its time was over")
            cpu_left = self.options.cpu_limit_s - (time.process_time() - self._cpu_before) - self.program.cpu_s()
            if cpu_left < 0:
                self.end("time_limit", f"it and its launches took {self.options.cpu_limit_s:g} s of processor time")
            self._look_ahead(cpu_left)
            if self.options.look is not None:
                self.options.look(self.server, time.monotonic() - began)

    def _look_ahead(self, cpu_left: float) -> None:
        """End it where the launch that runs cannot end in time by far: nothing would come of waiting."""
        told, (begun, blocks) = self.server.told, _core.progress()
        now, cpu_now = time.monotonic(), time.process_time()
        if (told.launches, blocks) != self._launch:  # a new one, or a sample of it for its time
            self._launch, self._launch_at = (told.launches, blocks), (now, cpu_now)
        spent, cpu_spent = now - self._launch_at[0], cpu_now - self._launch_at[1]
        if not told.running or not blocks or self.options.launch_limit_s < NEVER_S or cpu_spent < SURE_AFTER_S:
            return
        for what, used, left in (("", spent, self.ends_at - now), (" of processor time", cpu_spent, cpu_left)):
            needs = launch_seconds_left(begun, blocks, used, self.server.launcher.cores)
            if needs is not None and needs > SURELY * max(left, 0.0):
                name, left_s = kernel_title(told.running), max(left, 0.0)
                self.end(
                    "time_limit",
                    f"launch {told.launches:,}, {name}, would take about {in_words(needs)}{what} more, "
                    f"and {left_s:.0f} s are left; smaller arguments end sooner",
                )
                return

    def end(self, kind: ProgramEnd, detail: str) -> None:
        if self.event is None:
            self.event = (kind, detail)
        self.program.kill()
        _core.end_launch()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def _serve(channel: socket.socket, server: Server, watch: _Watch) -> tuple[ProgramEnd, str]:
    """Answer until the program closes its end, misbehaves or is ended."""
    while watch.event is None:
        head = _read(channel, HEAD.size, watch)
        if head is None:
            break
        try:
            op, length = check_head(head)
            body = _read(channel, length, watch)
            if body is None:
                break
            answer = server.answer(op, body)
        except BadRequest as problem:
            watch.end("bad_request", problem.message)
            break
        if server.told.out_of_time:
            watch.end("time_limit", "its time was over in the middle of a launch")
        if watch.event is not None:
            break  # without an answer: a launch that was cut off must not look like one that ran
        if op in ANSWERED:
            try:
                channel.sendall(struct.pack("<I", len(answer)) + answer)
            except OSError:
                break
    return watch.event or ("exited", "")


def _read(channel: socket.socket, size: int, watch: _Watch) -> bytes | None:
    """`size` bytes, or None when the program has let go or was ended."""
    parts: list[bytes] = []
    while size:
        if watch.event is not None or (watch.program.done.is_set() and not _waits(channel, 0)):
            return None
        if not _waits(channel, 0.25):
            continue
        part = channel.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _waits(channel: socket.socket, seconds: float) -> bool:
    return bool(select.select([channel], [], [], seconds)[0])


def _wait(program: JailedProgram, watch: _Watch, end: ProgramEnd, detail: str) -> tuple[ProgramEnd, str]:
    """The program may go on for a while without its GPU."""
    while not program.done.wait(0.25):
        if watch.event is not None:
            return watch.event
    return watch.event or (end, detail)


def _how_it_ended(program: JailedProgram, watch: _Watch, end: ProgramEnd, detail: str) -> tuple[ProgramEnd, int, str]:
    ending = program.ending
    if program.too_much_output:
        return "lost", 1, "it printed more than the cap"
    if watch.event is not None:
        return watch.event[0], INTERRUPTED if watch.event[0] == "interrupted" else 1, watch.event[1]
    if ending.lost is not None:
        return "lost", 1, f"{ending.lost.event.kind}: {ending.lost.event.detail}"
    if ending.problem:
        return "lost", 127, f"it could not be started: {ending.problem}"
    status = ending.status or 0
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
        return "signal", 128 - status, f"ended by {name}"
    return end, status, detail


def _account(
    name: str, server: Server, options: RunOptions, end: ProgramEnd, code: int, detail: str, wall_s: float, cpu_s: float
) -> WholeRun:
    kernels, copies = server.kernels(), server.copies()
    return WholeRun(
        program=name, gpu=options.gpu.key, end=end, exit_code=code, detail=detail, check=options.check or "",
        asked=server.told.asked, launches=server.told.launches, skipped=server.repeats.skipped, cut=server.told.cut,
        kernels=kernels, copies=copies, libraries=server.libraries.rows(),
        faults=tuple(server.told.faults), missing=tuple(sorted(server.told.missing)),
        refused=tuple(f"{kernel}: {why}" for kernel, why in sorted(server.told.refused.items())),
        link=host_link(options.gpu).name, kernel_us=sum(row.time_us or 0.0 for row in kernels),
        copy_us=sum(row.time_us for row in copies),
        launch_gap_us=LAUNCH_OVERHEAD_US * sum(row.launches for row in kernels if row.time_us is not None),
        untimed=sum(row.launches for row in kernels if row.time_us is None), wall_s=wall_s, host_cpu_s=cpu_s,
    )  # fmt: skip


def _where(server: Server) -> str:
    told = server.told
    return f"in launch {told.launches:,}, {kernel_title(told.running)}" if told.running else "between launches"


def _available_bytes() -> int:
    """Memory that this machine can give, caches that it would drop included."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
