"""Attempts to get out of the jail, each by a real worker in it. None works, each leaves an event or an error."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.jail.conftest import said

from warpsight.jail import WorkerAnswer

Hostile = Callable[..., WorkerAnswer]
PARENT = os.getpid()

# Calls that no honest worker makes: the kernel ends the process. Numbers are those of x86-64.
KILLED = {
    "ptrace the parent": f"syscall(101, 16, {PARENT}, 0, 0)",
    "ptrace the first process": "syscall(101, 16, 1, 0, 0)",
    "read the parent's memory": f"syscall(310, {PARENT}, 0, 0, 0, 0, 0)",
    "write the parent's memory": f"syscall(311, {PARENT}, 0, 0, 0, 0, 0)",
    "take a descriptor of another process": "syscall(438, 3, 1, 0)",
    "mount": "syscall(165, b'none', b'/warpsight-scratch', b'tmpfs', 0, 0)",
    "unmount": "syscall(166, b'/warpsight-scratch', 2)",
    "new mount interface": "syscall(430, b'tmpfs', 0)",
    "another user namespace": "syscall(272, 0x10000000)",
    "another user namespace by clone": "syscall(56, 0x10000011, 0, 0, 0, 0)",
    "enter a namespace": "syscall(308, 0, 0)",
    "chroot": "syscall(161, b'/warpsight-scratch')",
    "pivot_root": "syscall(155, b'/warpsight-scratch', b'/warpsight-scratch')",
    "open by handle": "syscall(304, 3, 0, 0)",
    "io_uring": "syscall(425, 8, 0)",
    "bpf": "syscall(321, 0, 0, 0)",
    "kernel keys": "syscall(250, 0, -3, 0)",
    "userfaultfd": "syscall(323, 0)",
    "perf events": "syscall(298, 0, 0, -1, -1, 0)",
    "become root": "syscall(105, 0)",
    "set capabilities": "syscall(126, 0, 0)",
    "load a kernel module": "syscall(175, 0, 0, b'')",
    "type into a terminal": "syscall(16, 0, 0x5412, b'x')",
    "shared memory": "syscall(29, 1, 4096, 0o1600)",
    "TCP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix socket": "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "32-bit calls (x32)": "syscall(0x40000000 + 39)",
    "fork": "os.fork()",
    "start a program": "os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
    "personality": "syscall(135, 0x0040000)",
    "change the clock": "syscall(227, 0, b'0' * 16)",
}


@pytest.mark.parametrize("attempt", KILLED.values(), ids=KILLED.keys())
def test_attacks_end_the_worker(hostile: Hostile, attempt: str) -> None:
    answer = hostile(f"print('trying', flush=True)\n{attempt}\nanswer('it went through')")
    assert answer.body is None and answer.event is not None, answer
    assert answer.event.kind == "seccomp_violation" and answer.log == b"trying\n"


def test_int_0x80_is_refused(hostile: Hostile) -> None:
    body = """
    import mmap
    # mov eax, 20 (getpid of 32 bits); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    answer(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
    """
    event = hostile(body).event
    assert event is not None and event.kind == "seccomp_violation"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/etc/hostname", "/root/.bashrc", "/home", "/proc/self/environ", "/proc/PARENT/mem",
     "/proc/PARENT/environ", "/proc/self/exe", "/proc/1/root", "/sys/kernel", "/dev/kmsg", "/dev/tty", "/dev/mem",
     "/run", "/var/tmp", "/usr/bin", str(Path(__file__).parents[2] / "pyproject.toml"),
     str(Path(__file__).parents[2] / "tasks")],
)  # fmt: skip
def test_files_outside_do_not_exist(hostile: Hostile, path: str) -> None:
    path = path.replace("PARENT", str(PARENT))
    found = said(hostile(f"answer([error_of(open, {path!r}), error_of(os.stat, {path!r})])"))
    assert found == ["ENOENT", "ENOENT"]


def test_a_file_of_the_parent_is_out_of_reach_by_every_way(hostile: Hostile, tmp_path: Path) -> None:
    secret = tmp_path / "ledger" / "secret.txt"
    secret.parent.mkdir()
    secret.write_text("the expected values")
    body = f"""
    secret = {str(secret)!r}
    found = [error_of(open, secret), error_of(open, "/warpsight-scratch/../" + secret)]
    found.append(error_of(os.listdir, os.path.dirname(secret)))
    found.append(error_of(os.link, secret, "mine"))
    found.append(error_of(os.open, ".." + secret, os.O_RDONLY, dir_fd=os.open("/", os.O_RDONLY)))
    found.append(error_of(os.symlink, secret, "link"))
    answer(found)
    """
    assert said(hostile(body)) == ["ENOENT", "ENOENT", "ENOENT", "ENOENT", "ENOENT", "EPERM"]
    assert secret.read_text() == "the expected values"


def test_what_is_shown_cannot_be_changed(hostile: Hostile, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "file").write_text("as it was")
    body = f"""
    shown = {str(shown)!r}
    file = shown + "/file"
    found = [open(file).read(), error_of(open, file, "a"), error_of(open, shown + "/new", "w")]
    found.append(error_of(os.unlink, file))
    found += [error_of(os.chmod, file, 0o777), error_of(os.rename, file, "/warpsight-scratch/mine")]
    found.append(error_of(os.link, file, "/warpsight-scratch/mine"))
    found += [error_of(os.truncate, file, 0), error_of(os.utime, file), error_of(open, "/new", "w")]
    answer(found)
    """
    first, *rest = said(hostile(body, readable=[shown]))  # type: ignore[misc]
    assert first == "as it was" and set(rest) <= {"EROFS", "EACCES", "EXDEV", "EPERM", "EBUSY"}
    assert (shown / "file").read_text() == "as it was" and [path.name for path in shown.iterdir()] == ["file"]


def test_nothing_of_a_worker_is_left_for_the_next(hostile: Hostile) -> None:
    said(hostile("open('note', 'w').write('for you'); os.mkdir('d'); answer(os.listdir('.'))"))
    assert said(hostile("answer([n for n in os.listdir('/warpsight-scratch') if n in ('note', 'd')])")) == []


def test_two_workers_do_not_see_each_other(hostile: Hostile) -> None:
    body = "open('mine', 'w').write('x'); time.sleep(1); answer([os.listdir('.').count('mine'), os.getpid()])"
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(said(hostile(body))))
    thread.start()
    other = said(hostile("time.sleep(0.5); answer([error_of(os.stat, 'mine'), error_of(os.kill, 3, 0)])"))
    thread.join()
    assert other == ["ENOENT", "ESRCH"] and found == [[1, 2]]


def test_signals_reach_nobody_outside(hostile: Hostile) -> None:
    body = f"""
    found = [error_of(os.kill, {PARENT}, 9), error_of(os.kill, os.getppid(), 9), error_of(os.kill, 1, 9)]
    found += [error_of(os.kill, {os.getppid()}, 9), error_of(os.killpg, {os.getpgid(0)}, 9), error_of(os.kill, -1, 9)]
    answer(found)
    """
    found = said(hostile(body))
    assert isinstance(found, list) and set(found) <= {"ESRCH", "EPERM"}, found


@pytest.fixture
def listening() -> Iterator[tuple[int, str]]:
    """A TCP port on loopback and an abstract unix socket, both of this process."""
    name = f"warpsight-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + name)
        unix.listen()
        yield tcp.getsockname()[1], name


@pytest.mark.parametrize(
    ("without", "tcp", "abstract"),
    [
        (["seccomp", "landlock network", "landlock scope"], {"ENETUNREACH", "ECONNREFUSED"}, {"ECONNREFUSED"}),
        (["seccomp", "network namespace"], {"EACCES"}, {"EPERM"}),
    ],
    ids=["the namespace alone", "landlock alone"],
)
def test_each_wall_to_the_network_holds_alone(
    hostile: Hostile, listening: tuple[int, str], without: list[str], tcp: set[str], abstract: set[str]
) -> None:
    port, name = listening
    body = f"""
    unix = socket.socket(socket.AF_UNIX)
    answer([error_of(socket.create_connection, ("127.0.0.1", {port}), 2), error_of(unix.connect, "\\0{name}")])
    """
    found = said(hostile(body, without=without))
    assert isinstance(found, list) and found[0] in tcp and found[1] in abstract, found


def test_landlock_alone_keeps_files_away(hostile: Hostile, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    body = f"answer([error_of(open, {str(secret)!r}), error_of(open, '/etc/hostname'), error_of(open, '/tmp/x', 'w')])"
    assert said(hostile(body, without=["seccomp", "mount namespace"])) == ["EACCES", "EACCES", "EACCES"]


def test_the_process_namespace_alone_keeps_signals_in(hostile: Hostile) -> None:
    body = f"answer([error_of(os.kill, {PARENT}, 0), os.getpid()])"
    assert said(hostile(body, without=["seccomp", "landlock scope"])) == ["ESRCH", 2]


def test_links_and_devices_cannot_be_made(hostile: Hostile) -> None:
    body = """
    found = [error_of(os.symlink, "/etc/passwd", "s"), error_of(os.mknod, "d", 0o600 | stat.S_IFCHR, os.makedev(1, 1))]
    answer(found + [error_of(os.mknod, "b", 0o600 | stat.S_IFBLK, os.makedev(254, 0))])
    """
    assert said(hostile(body)) == ["EPERM"] * 3
    without = said(hostile(body, without=["seccomp"]))
    assert isinstance(without, list) and set(without) <= {"EPERM", "EACCES"}  # landlock and missing rights alone


def test_written_programs_do_not_start(hostile: Hostile) -> None:
    body = """
    with open("program", "wb") as file:
        file.write(open(sys.executable, "rb").read(4000))
    os.chmod("program", 0o4755)
    answer(error_of(os.execv, "./program", ["program"]))
    """
    assert said(hostile(body, level="tools")) == "EACCES"


def test_environment_and_descriptors_are_empty(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "xyzzy")
    leak = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(leak, True)
    body = """
    opened = [fd for fd in range(3, 256) if error_of(os.fstat, fd) != "EBADF"]
    known = sorted(set(os.environ) - {"LC_CTYPE"})
    answer([known, opened, os.read(0, 1).decode(), os.getuid() != 0, libc.getenv(b"HOME")])
    """
    assert said(hostile(body)) == [[], [3, 4], "", True, 0]
    os.close(leak)


def test_own_memory_may_be_written_and_nothing_comes_of_it(hostile: Hostile) -> None:
    assert said(hostile("answer(error_of(open, '/proc/self/mem', 'r+b'))")) == "ENOENT"
    code = "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC); answer('a page of code')"
    assert said(hostile(code)) == "a page of code"  # compilers that run what they make need it


def test_filters_cannot_be_taken_back(hostile: Hostile) -> None:
    body = (
        "found = [syscall(157, 22, 0, 0), syscall(317, 1, 0, 0)]; libc.prctl(4, 1, 0, 0, 0); syscall(101, 0, 0, 0, 0)"
    )
    event = hostile(body + "\nanswer(found)").event
    assert event is not None and event.kind == "seccomp_violation"
    assert said(hostile("answer(error_of(os.setresuid, *os.getresuid()))", without=["seccomp"])) == "None"


@pytest.mark.parametrize("call", ["open('/dev/null')", "os.kill(1, 0)", "os.listdir('.')", "os.getuid()", "os.dup(4)"])
def test_a_computing_worker_has_only_memory_time_and_its_channels(hostile: Hostile, call: str) -> None:
    event = hostile(f"{call}\nanswer(1)", level="compute").event
    assert event is not None and event.kind == "seccomp_violation"


def test_a_computing_worker_can_compute(hostile: Hostile) -> None:
    body = """
    total = []
    threads = [threading.Thread(target=lambda: total.append(sum(range(10000)))) for _ in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]
    time.sleep(0.01)
    answer([total, len(bytearray(50 << 20))])
    """
    assert said(hostile(body, level="compute")) == [[49995000] * 4, 50 << 20]
