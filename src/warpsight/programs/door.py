"""The virtual GPU as this machine's NVIDIA driver, for programs that are started with the environment given here.

    with open_door("a100") as environment:
        subprocess.run([sys.executable, "script.py"], env={**os.environ, **environment})

`python -m warpsight.programs.door [--gpu NAME] COMMAND ...` runs a command so. The command is the caller's own: it runs
without a jail, and so do the processes it starts, each of which has a GPU of its own. Code that is not trusted is for
`warpsight run --driver`. A machine's own driver is not touched; where the environment is not set, nothing changes.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from warpsight.errors import BrokenMachine
from warpsight.programs.build import runtime_folder

DEFAULT_GPU = "a100"


def driver_folder() -> Path:
    """Where the stand-ins for libcuda.so.1 and libnvidia-ml.so.1 lie; no program finds them by itself."""
    folder = runtime_folder() / "driver"
    if not (folder / "libcuda.so.1").is_file():
        raise BrokenMachine(f"expected libcuda.so.1 in {folder}, it is not there", hint="install warpsight again")
    return folder


def driver_environment(channel: str) -> dict[str, str]:
    """What a program must be started with to find this driver instead of the machine's.

    The runtime beside it comes along: the driver sits on it, and a toolkit may have installed one of the same name.
    """
    folder = driver_folder()
    paths = f"{folder}:{folder.parent}"
    return {"LD_LIBRARY_PATH": paths, "TRITON_LIBCUDA_PATH": str(folder), "WARPSIGHT_CHANNEL": channel}


@contextmanager
def open_door(gpu: str = DEFAULT_GPU, *, cores: int = 0, times: bool = True) -> Generator[dict[str, str]]:
    """The environment for programs that are to use a virtual GPU of this kind, as long as this is open."""
    with tempfile.TemporaryDirectory(prefix="warpsight-gpu-") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/gpu"
        listener.bind(path)
        listener.listen(64)
        words = [str(listener.fileno()), gpu, str(cores or os.cpu_count() or 1), "times" if times else "no-times"]
        server = subprocess.Popen(
            [sys.executable, "-m", "warpsight.programs.door_server", *words],
            stdin=subprocess.PIPE, pass_fds=(listener.fileno(),), start_new_session=True,
        )  # fmt: skip
        try:
            yield driver_environment(path)
        finally:
            assert server.stdin is not None
            server.stdin.close()
            server.wait()


def main(words: Sequence[str]) -> int:
    gpu = DEFAULT_GPU
    if words[:1] == ["--gpu"]:
        gpu, words = words[1], words[2:]
    if not words:
        print("expected a command: python -m warpsight.programs.door [--gpu NAME] COMMAND ...", file=sys.stderr)
        return 2
    with open_door(gpu) as environment:
        return subprocess.run(words, env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
