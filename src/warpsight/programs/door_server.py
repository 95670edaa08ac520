"""A virtual GPU behind a socket with a name: each process that connects gets one of its own, in a process of its own.

Started by `door`, with the socket's descriptor, and ended with it. A client is the stand-in driver in some program; its
messages are checked as those of `warpsight run` are. When it goes, its GPU goes, in the middle of a launch too.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import struct
import sys
import threading

from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.kernel_times import LaunchTimes
from warpsight.programs.launches import Launcher
from warpsight.programs.messages import ANSWERED, HEAD, BadRequest, check_head
from warpsight.programs.serve import Server
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu


def serve_client(channel: socket.socket, gpu: Gpu, *, cores: int, times: bool) -> None:
    """One client, until it has gone."""
    memory = DeviceMemory(int(gpu.dram_gb * 1e9), check=False)
    socket.send_fds(channel, [b"\0"], [memory.fd])
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    told = LaunchTimes(memory, gpu, on_profile=None, cores=cores) if times else None
    launcher = Launcher(memory, check=None, cores=cores)
    server = Server(memory, gpu, launcher, told, seconds_left=lambda: math.inf)
    while (head := _read(channel, HEAD.size)) is not None:
        op, length = check_head(head)
        body = _read(channel, length)
        if body is None:
            return
        answer = server.answer(op, body)
        if op in ANSWERED:
            channel.sendall(struct.pack("<I", len(answer)) + answer)


def _read(channel: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = channel.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _end_with(channel: socket.socket) -> None:
    """End this process when the client has gone, whatever launch it is in."""
    poll = select.poll()
    poll.register(channel, select.POLLRDHUP)
    poll.poll()
    os._exit(0)


def main(words: list[str]) -> None:
    """Serve clients until the parent has gone, which is when our standard input ends."""
    listener = socket.socket(fileno=int(words[0]))
    gpu, cores, times = find_gpu(words[1]), int(words[2]), words[3] == "times"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a client's process ended
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            os.killpg(0, signal.SIGKILL)
        channel, _ = listener.accept()
        if os.fork():
            channel.close()
            continue
        listener.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            try:
                serve_client(channel, gpu, cores=cores, times=times)
            except BadRequest as problem:
                print(f"warpsight: a program was ended: {problem.message}", file=sys.stderr)
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
