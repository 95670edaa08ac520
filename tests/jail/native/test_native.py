"""Attempts to get out of the jail from inside a native OpenCL kernel. None works; each leaves an error or a fault.

The kernel makes system calls by inline assembly, in the process that runs it. What it can do is forge its own outputs
and its own time: the last tests say so, and that the parent's clock and the values it never had are what counts.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from warpsight.devices.device import Value
from warpsight.devices.opencl_build import compile_opencl
from warpsight.devices.opencl_lane import LaneRun, LaneSettings, OpenClLane
from warpsight.jail import wire
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize

pytest.importorskip("pyopencl", reason="the extra `opencl` is not installed")

ONCE = LaunchSize((1, 1, 1), (1, 1, 1), 0)
TEXT = -7777  # stands for the address of the text
POISON = -6510615555426900571
SETTINGS = LaneSettings(threads=2, deadline_s=10.0, memory_bytes=2 << 30)


@pytest.fixture(scope="module")
def build() -> Build:
    source = (Path(__file__).parent / "probe.cl").read_text()
    built = compile_opencl(source, entry="probe", blocks=[(1, 1, 1)])
    assert built.ok, built.diagnostics
    return built


@pytest.fixture
def lane(build: Build) -> Iterator[OpenClLane]:
    opened = OpenClLane(build, "probe", SETTINGS)
    yield opened
    opened.close()


def attempt(lane: OpenClLane, *ask: int, text: bytes = b"") -> LaneRun:
    """What came of one try."""
    words = np.zeros(8, np.int64)
    words[: len(ask)] = ask
    values = (
        Value("out", np.full(4, POISON, np.int64), writable=True, initialised=False),
        Value("ask", words, writable=False),
        Value("text", np.frombuffer(text + bytes(64), np.uint8), writable=False),
    )
    return lane.run(values, ONCE)


def result_of(ran: LaneRun) -> int:
    assert not ran.faults and not ran.refused, ran
    return int(ran.arrays["out"][0])


def path(name: str | Path) -> bytes:
    return str(name).encode() + b"\0"


def test_the_probe_really_makes_system_calls(lane: OpenClLane) -> None:
    assert result_of(attempt(lane, 0, 39)) > 0  # getpid
    ran = attempt(lane, 0, 1, 2, TEXT, 5, text=b"hello")
    assert result_of(ran) == 5 and ran.printed == "hello"


# Calls that no honest kernel makes: the process is ended, and the fault says by what. Numbers are those of x86-64.
ENDED = {
    "a TCP socket": (41, 2, 1, 0),
    "a unix socket": (41, 1, 1, 0),
    "fork": (57,),
    "vfork": (58,),
    "clone a process": (56, 17),
    "a new user namespace": (56, 0x10000011),
    "start a program": (59, TEXT, 0, 0),
    "start a program by descriptor": (322, 3, TEXT, 0, 0, 0x1000),
    "ptrace": (101, 16, 1, 0, 0),
    "read another process": (310, 1, 0, 0, 0, 0, 0),
    "write another process": (311, 1, 0, 0, 0, 0, 0),
    "take a descriptor of another process": (438, 3, 1, 0),
    "mount": (165, TEXT, TEXT, TEXT, 0, 0),
    "unshare": (272, 0x10000000),
    "become root": (105, 0),
    "bpf": (321, 0, 0, 0),
    "io_uring": (425, 8, 0),
    "kernel keys": (250, 0, -3, 0),
    "userfaultfd": (323, 0),
    "32-bit calls (x32)": (0x40000000 + 39,),
}


# The jail's own tests try these from Python too: here they only take longer.
SLOW = {
    "vfork", "a new user namespace", "start a program by descriptor", "write another process", "unshare", "bpf",
    "become root", "io_uring", "kernel keys", "userfaultfd", "take a descriptor of another process",
}  # fmt: skip


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, call in ENDED.items()]
)
def test_attacks_end_the_worker(lane: OpenClLane, call: tuple[int, ...]) -> None:
    ran = attempt(lane, 0, *call, text=path("/bin/sh"))
    assert [fault.kind for fault in ran.faults] == ["forbidden_call"], ran
    assert not ran.arrays and lane.ended
    assert attempt(lane, 0, 39).faults == ran.faults  # lost once, lost for good


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "/etc/shadow",
        "/root/.bashrc",
        "/proc/self/mem",
        "/proc/1/environ",
        "/proc/self/exe",
        "/sys/class",
    ],
)
def test_files_of_the_machine_are_not_there(lane: OpenClLane, name: str) -> None:
    assert result_of(attempt(lane, 0, 2, TEXT, 0, 0, text=path(name))) == -errno.ENOENT


def test_a_ledger_can_be_neither_read_nor_written(lane: OpenClLane, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    ledger.write_text("true\n")
    ledger.chmod(0o666)
    assert result_of(attempt(lane, 0, 2, TEXT, 0, 0, text=path(ledger))) < 0
    assert result_of(attempt(lane, 7, text=path(ledger))) < 0
    assert ledger.read_text() == "true\n"


def test_what_is_shown_cannot_be_written(lane: OpenClLane) -> None:
    shown = Path(np.__file__)
    before = shown.read_bytes()
    assert result_of(attempt(lane, 7, text=path(shown))) in (-errno.EROFS, -errno.EACCES, -errno.EPERM)
    assert shown.read_bytes() == before


def test_a_link_leads_nowhere(lane: OpenClLane) -> None:
    target = path("/etc/passwd")
    assert result_of(attempt(lane, 9, len(target), text=target + path("/warpsight-scratch/link"))) < 0


def test_the_parent_cannot_be_signalled(lane: OpenClLane) -> None:
    for pid in (os.getpid(), os.getppid()):
        for call in ((62, pid, 9), (200, pid, 9), (234, pid, pid, 9)):
            assert result_of(attempt(lane, 0, *call)) < 0, call


def test_a_socket_of_the_machine_is_out_of_reach(lane: OpenClLane) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.2)
        ran = attempt(lane, 0, 42, 3, TEXT, 16)  # connect, on a descriptor that it has
        assert ran.faults and ran.faults[0].kind == "forbidden_call"
        with pytest.raises(TimeoutError):
            listening.accept()


def test_another_workers_files_are_not_there(build: Build, lane: OpenClLane) -> None:
    mine = path("/warpsight-scratch/mine")
    assert result_of(attempt(lane, 0, 2, TEXT, 0o102, 0o600, text=mine)) >= 0
    assert result_of(attempt(lane, 0, 2, TEXT, 0, 0, text=mine)) >= 0
    other = OpenClLane(build, "probe", SETTINGS)
    try:
        assert result_of(attempt(other, 0, 2, TEXT, 0, 0, text=mine)) == -errno.ENOENT
    finally:
        other.close()


def test_the_environment_holds_no_key(lane: OpenClLane, monkeypatch: pytest.MonkeyPatch) -> None:
    key = os.urandom(8).hex().encode()[:8]
    monkeypatch.setenv("OPENAI_API_KEY", f"{key.decode()}rest")
    assert scan(lane, key) == 0


def test_values_the_parent_keeps_are_not_in_the_process(lane: OpenClLane) -> None:
    expected = np.frombuffer(os.urandom(8), np.uint64)
    assert scan(lane, expected.tobytes()) == 0
    assert scan(lane, expected.tobytes(), given=expected.tobytes()) > 0  # where it is given, the same look finds it


def scan(lane: OpenClLane, wanted: bytes, given: bytes = b"") -> int:
    """How often the kernel sees eight bytes in its process, which it is told in two halves."""
    mask = int.from_bytes(os.urandom(7), "little")
    half = int.from_bytes(wanted, "little") ^ mask
    ran = attempt(lane, 4, struct.unpack("<q", half.to_bytes(8, "little"))[0], mask, text=given)
    return result_of(ran)


def test_a_gigabyte_is_not_written(lane: OpenClLane) -> None:
    ran = attempt(lane, 8, text=path("/warpsight-scratch/large"))
    refused = (-errno.ENOSPC, -errno.EFBIG)
    assert (ran.faults and ran.faults[0].kind == "crash") or result_of(ran) in refused


def test_ten_thousand_threads_are_not_to_be_had(lane: OpenClLane) -> None:
    ran = attempt(lane, 3)
    assert result_of(ran) == -errno.EAGAIN
    assert 0 <= int(ran.arrays["out"][1]) < 64


def test_memory_has_an_end(build: Build) -> None:
    lane = OpenClLane(build, "probe", LaneSettings(threads=1, deadline_s=30.0, memory_bytes=1 << 30))
    try:
        ran = attempt(lane, 2)
        assert result_of(ran) == -errno.ENOMEM
        assert int(ran.arrays["out"][1]) * (64 << 20) < 1 << 30
    finally:
        lane.close()


def test_an_endless_loop_ends_at_its_deadline(build: Build) -> None:
    lane = OpenClLane(build, "probe", LaneSettings(threads=1, deadline_s=1.0))
    try:
        result_of(attempt(lane, 0, 39))
        assert [fault.kind for fault in attempt(lane, 1).faults] == ["deadline"]
    finally:
        lane.close()


def test_a_flood_of_output_ends_the_worker(lane: OpenClLane) -> None:
    ran = attempt(lane, 6, 4096, text=b"x" * 4096)
    assert [fault.kind for fault in ran.faults] == ["too_much_output"]


LEAVES = {
    "exit at once": ((0, 231, 0), {"exited_early"}),
    "close the channel of answers": ((0, 3, 4), {"exited_early", "bad_frame", "crash"}),
    "close the channel of requests": ((0, 3, 3), {"exited_early", "bad_frame", "crash"}),
    "put the log in place of the answers": ((0, 33, 1, 4), {"bad_frame", "deadline", "exited_early"}),
}


@pytest.mark.parametrize(("ask", "kinds"), LEAVES.values(), ids=LEAVES.keys())
def test_leaving_early_is_a_fault(build: Build, ask: tuple[int, ...], kinds: set[str]) -> None:
    lane = OpenClLane(build, "probe", LaneSettings(threads=1, deadline_s=2.0))
    try:
        ran = attempt(lane, *ask)
        if not ran.faults:  # the answer was already on its way: then the next question has none
            ran = attempt(lane, 0, 39)
        assert ran.faults and ran.faults[0].kind in kinds, ran
    finally:
        lane.close()


def frame(header: dict[str, object], *blobs: bytes) -> bytes:
    body = wire.pack(header, blobs)
    return struct.pack(">I", len(body)) + body


FORGED = {
    "no message": b"\0\0\0\4abcd",
    "a time that is none": frame({"device_us": "fast"}),
    "a time below zero": frame({"device_us": -1.0}),
    "not a number": struct.pack(">I", 4 + 18 + 13) + struct.pack(">I", 18 + 13) + b'{"device_us": NaN, "sizes": []}',
    "more than was asked": frame({"device_us": 1.0}) + frame({}, b"x"),
    "a length without end": b"\xff\xff\xff\xff",
}


@pytest.mark.parametrize("message", FORGED.values(), ids=FORGED.keys())
def test_a_forged_answer_is_a_fault(lane: OpenClLane, message: bytes) -> None:
    ran = attempt(lane, 5, len(message), text=message)
    assert ran.faults, ran
    assert ran.faults[0].kind in ("bad_answer", "bad_frame", "exited_early", "too_much_output"), ran
    assert not ran.arrays


def test_a_forged_time_is_seen_as_told_by_the_device_only(lane: OpenClLane) -> None:
    """A kernel owns its process: it can claim any device time. The wall time is the parent's all the same."""
    honest = attempt(lane, 0, 39)
    assert 0 < honest.device_us < honest.wall_us < honest.total_us


def test_the_next_honest_kernel_is_as_before(build: Build) -> None:
    for ask in ((1,), (0, 41, 2, 1, 0), (0, 231, 0)):
        hostile = OpenClLane(build, "probe", LaneSettings(threads=1, deadline_s=1.0))
        assert attempt(hostile, *ask).faults
        hostile.close()
    honest = OpenClLane(build, "probe", SETTINGS)
    try:
        assert result_of(attempt(honest, 0, 39)) > 0
    finally:
        honest.close()
