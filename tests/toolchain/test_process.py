"""The compiler process: threads, deadlines, crashes, environment, and programs that misbehave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpsight.errors import ToolchainError, ToolMissing
from warpsight.toolchain.cache import Cache
from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.nvrtc import NvrtcProcess
from warpsight.toolchain.process import DeadlinePassed, MachineTooBusy, run_to_end

OFF = Cache(None)
# Every instantiation is a new type and makes two more: no compiler finishes this.
ENDLESS = """template <int N, long M>
struct F { static constexpr long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };
template <long M> struct F<0, M> { static constexpr long v = M; };
extern "C" __global__ void k(long* x) { x[0] = F<40, 1>::v; }
"""


def source(number: int) -> str:
    return f'extern "C" __global__ void k(int* x) {{ x[0] = {number}; }}'


@pytest.fixture
def own() -> Iterator[NvrtcProcess]:
    process = NvrtcProcess()
    yield process
    process.close()


def gone(pid: int) -> bool:
    """Whether the process ends within seconds; one that nobody has collected yet (a zombie) has ended too."""
    for _ in range(250):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_many_compiles_share_one_start(own: NvrtcProcess) -> None:
    builds = [compile_cuda(source(n), process=own, cache=OFF) for n in range(5)]
    assert all(build.ok for build in builds) and own.starts == 1


def test_threads_get_their_own_answers(own: NvrtcProcess) -> None:
    found: dict[int, bool] = {}

    def work(first: int) -> None:
        for n in range(first, first + 5):
            found[n] = f", {n};" in compile_cuda(source(n), process=own, cache=OFF).ptx

    threads = [threading.Thread(target=work, args=(first,)) for first in (1000, 2000, 3000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 15 and all(found.values()) and own.starts == 1


def test_killed_worker_is_replaced(own: NvrtcProcess) -> None:
    assert compile_cuda(source(1), process=own, cache=OFF).ok
    pid = own.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert compile_cuda(source(2), process=own, cache=OFF).ok
    assert own.starts == 2


def test_worker_killed_during_a_compile_is_an_error_and_then_replaced(own: NvrtcProcess) -> None:
    assert compile_cuda(source(1), process=own, cache=OFF).ok
    pid = own.pid
    assert pid is not None
    killer = threading.Timer(0.5, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(ToolchainError, match="ended without an answer"):
        compile_cuda(ENDLESS, process=own, cache=OFF, deadline_s=20)
    killer.join()
    assert compile_cuda(source(2), process=own, cache=OFF).ok


def test_endless_compile_is_stopped_at_its_deadline(own: NvrtcProcess) -> None:
    assert compile_cuda(source(1), process=own, cache=OFF).ok
    pid = own.pid
    assert pid is not None
    started = time.monotonic()
    with pytest.raises(DeadlinePassed, match=r"1\.5 s"):
        compile_cuda(ENDLESS, process=own, cache=OFF, deadline_s=1.5)
    assert time.monotonic() - started > 1.0
    assert own.pid == pid  # the compiling child is stopped, the process that made it goes on
    assert compile_cuda(source(2), process=own, cache=OFF).ok


def test_large_source_and_large_answer_do_not_block(own: NvrtcProcess) -> None:
    body = "".join(f"    x[{n}] = x[{n + 1}] * {n}.5f;\n" for n in range(700))
    padding = "// " + "x" * 400_000 + "\n"
    build = compile_cuda(padding + 'extern "C" __global__ void k(float* x) {\n' + body + "}", process=own, cache=OFF)
    assert build.ok and len(build.ptx) + len(build.cubin) > 1 << 16  # more than a pipe holds


def test_close_ends_the_worker(own: NvrtcProcess) -> None:
    compile_cuda(source(1), process=own, cache=OFF)
    pid = own.pid
    assert pid is not None
    own.close()
    assert own.pid is None and gone(pid)


def test_worker_ends_when_its_owner_leaves_without_clean_up() -> None:
    code = (
        "import os\n"
        "from warpsight.toolchain.cache import Cache\n"
        "from warpsight.toolchain.compile import compile_cuda\n"
        "from warpsight.toolchain.nvrtc import NvrtcProcess\n"
        f"p = NvrtcProcess(); compile_cuda({source(1)!r}, process=p, cache=Cache(None)); print(p.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60).stdout
    assert gone(int(output))


def test_programs_know_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "xyzzy")
    monkeypatch.setenv("LD_PRELOAD_EXTRA", "1")
    output = run_to_end(["/usr/bin/env"], "env", deadline_s=10, cap_bytes=10_000).decode()
    assert dict(line.split("=", 1) for line in output.splitlines()) == {"LC_ALL": "C.UTF-8"}


def test_programs_start_in_an_empty_folder_with_their_file() -> None:
    output = run_to_end(["/bin/ls", "-a"], "ls", deadline_s=10, cap_bytes=10_000, file=("one.txt", b"1")).decode()
    assert output.split() == [".", "..", "one.txt"]


def test_programs_get_their_file_whole() -> None:
    content = bytes(range(256)) * 3000
    output = run_to_end(["/bin/cat", "f"], "cat", deadline_s=20, cap_bytes=1 << 20, file=("f", content))
    assert output == content


def test_programs_see_no_file_of_the_machine() -> None:
    with pytest.raises(ToolchainError, match="No such file"):
        run_to_end(["/bin/cat", "/etc/passwd"], "cat", deadline_s=10, cap_bytes=10_000)


def test_grandchildren_are_killed_too() -> None:
    marker = "31.41592653"
    with pytest.raises(DeadlinePassed):
        script = f"sleep {marker} & sleep {marker}"
        run_to_end(["/bin/sh", "-c", script], "sh", deadline_s=1, cap_bytes=1000, readable=[Path("/bin/sleep")])
    assert not [path for path in Path("/proc").glob("[0-9]*") if marker in command_of(path)]


def command_of(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_output_is_capped() -> None:
    with pytest.raises(ToolchainError, match="more than 100000 bytes"):
        run_to_end(["/bin/cat", "/dev/zero"], "cat", deadline_s=20, cap_bytes=100_000)


def test_failure_carries_the_message() -> None:
    with pytest.raises(ToolchainError, match="status 3: went wrong"):
        run_to_end(["/bin/sh", "-c", "echo went wrong >&2; exit 3"], "sh", deadline_s=10, cap_bytes=1000)


def test_program_that_is_not_there() -> None:
    with pytest.raises(ToolMissing, match="/nonexistent/program"):
        run_to_end(["/nonexistent/program"], "program", deadline_s=10, cap_bytes=1000)


def test_a_program_that_waits_is_no_fault_of_its_text_and_one_that_works_is() -> None:
    with pytest.raises(MachineTooBusy, match="did not finish"):
        run_to_end(["/bin/sleep", "30"], "sleep", deadline_s=0.4, cap_bytes=1000)
    with pytest.raises(DeadlinePassed, match="processor time") as stopped:
        run_to_end(["/bin/sh", "-c", "while :; do :; done"], "sh", deadline_s=1, cap_bytes=1000)
    assert not isinstance(stopped.value, MachineTooBusy)
