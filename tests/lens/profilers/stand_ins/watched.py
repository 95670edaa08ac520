"""A program run on a virtual GPU that stands between it and the stand-in driver, as a vendor's tool does.

Kernels really run, and each launch is kept: its name, size and simulated time, with the counters of the virtual GPU for
the first of each size, and what a checked launch finds. The tools beside this file write that in the vendors' forms.
"""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from warpsight.nouns import Build, Profile
from warpsight.programs import door_server
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.door import driver_environment
from warpsight.programs.kernel_times import LaunchTimes
from warpsight.programs.launches import LaunchAsked, LaunchDone, Launcher
from warpsight.programs.loaded import LoadedKernel, LoadedModule
from warpsight.programs.messages import ANSWERED, HEAD, check_head
from warpsight.programs.serve import Server
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpus import find_gpu

Record = dict[str, Any]


@dataclass(frozen=True)
class Watched:
    """The launches in order, the faults that a check found, and how the program ended."""

    launches: tuple[Record, ...]
    faults: tuple[Record, ...]
    status: int


def watch(program: Sequence[str], gpu: str, *, check: bool = False) -> Watched:
    """Run it to its end. What it prints passes through."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        records, path = Path(folder) / "records", f"{folder}/gpu"
        records.touch()
        listener.bind(path)
        listener.listen(8)
        sys.stdout.flush()
        if (server := os.fork()) == 0:
            _apart(lambda: _serve(listener, gpu, records, check))
        status = subprocess.run(program, env={**os.environ, **driver_environment(path)}, check=False).returncode
        os.kill(server, 9)
        os.waitpid(server, 0)
        found = [json.loads(line) for line in records.read_text().splitlines()]
    launches = tuple(one for one in found if "fault" not in one)
    return Watched(launches, tuple(one for one in found if "fault" in one), status)


def _serve(listener: socket.socket, gpu: str, records: Path, check: bool) -> None:
    """One process for each client, as the door has them."""
    while True:
        channel, _ = listener.accept()
        if os.fork() == 0:
            _apart(lambda channel=channel: _client(channel, gpu, records, check))
        channel.close()


def _apart(work: Callable[[], None]) -> NoReturn:
    """In a process that was forked for it, which ends here, whatever comes."""
    try:
        work()
    except (BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:
        traceback.print_exc()
    os._exit(0)


def _client(channel: socket.socket, name: str, records: Path, check: bool) -> None:
    gpu = find_gpu(name)
    memory = DeviceMemory(int(gpu.dram_gb * 1e9), check=check)
    socket.send_fds(channel, [b"\0"], [memory.fd])
    launcher = _Launcher(memory, check="lenient" if check else None, cores=1)
    launcher.records = records
    server = Server(memory, gpu, launcher, _Times(memory, gpu.name, gpu, records), seconds_left=lambda: math.inf)
    while (head := door_server._read(channel, HEAD.size)) is not None:  # pyright: ignore[reportPrivateUsage]
        op, length = check_head(head)
        body = door_server._read(channel, length)  # pyright: ignore[reportPrivateUsage]
        answer = server.answer(op, body or b"")
        if op in ANSWERED:
            channel.sendall(len(answer).to_bytes(4, "little") + answer)


def _write(records: Path, record: Record) -> None:
    with records.open("a") as file:
        file.write(json.dumps(record) + "\n")


class _Launcher(Launcher):
    """Keeps what a checked launch finds."""

    records: Path

    def run(
        self, module: LoadedModule, kernel: LoadedKernel, asked: LaunchAsked, *, constants: bytes, seconds: float
    ) -> LaunchDone:
        done = super().run(module, kernel, asked, constants=constants, seconds=seconds)
        for fault in done.faults:
            _write(self.records, {"fault": fault.model_dump(mode="json"), "kernel": kernel.name})
        return done


class _Times(LaunchTimes):
    """Keeps each launch with its time."""

    def __init__(self, memory: DeviceMemory, device: str, gpu: Any, records: Path) -> None:
        super().__init__(memory, gpu, on_profile=self._keep, cores=1)
        self.device, self.records, self.cc = device, records, gpu.capability
        self.counters: dict[tuple[str, LaunchSize], Record] = {}

    def _keep(self, profile: Profile, build: Build, size: LaunchSize, text: str) -> None:
        self.counters[profile.kernel, size] = dict(profile.counters)

    def scaled_us(self, number: int, asked: LaunchAsked, found: Any, warp_instructions: int | None) -> float:
        took = super().scaled_us(number, asked, found, warp_instructions)
        size = LaunchSize(asked.grid, asked.block, asked.shared_bytes)
        counters = self.counters.get((asked.kernel, size), {})
        _write(
            self.records,
            {
                "kernel": asked.kernel, "grid": asked.grid, "block": asked.block, "shared": asked.shared_bytes,
                "us": took, "device": self.device, "cc": self.cc, "counters": counters,
            },
        )  # fmt: skip
        return took
