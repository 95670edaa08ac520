"""The filters for each machine: numbers against the kernel's own tables, decisions by running the programs here.

A filter for aarch64 cannot be installed on another machine, so a few lines do what the kernel does with it.
"""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from warpsight.errors import BrokenMachine
from warpsight.jail import kernel, worker
from warpsight.jail.records import LEVELS, Limits
from warpsight.jail.seccomp import ALLOW, AUDIT_ARCH, KILL, UnknownMachine, base_filter, level_filter, refuse
from warpsight.jail.syscalls import ATTACKS, BASE, COMPUTE, NUMBERS

TABLES = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
AS_NAMED_THERE = {"newfstatat": "fstatat"}  # only in the generic table
NOT_ON_AARCH64 = {
    "open",
    "fork",
    "vfork",
    "poll",
    "select",
    "stat",
    "dup2",
    "modify_ldt",
    "iopl",
    "ioperm",
    "arch_prctl",
}


def decided(code: bytes, machine: str, name: str | int, *arguments: int) -> int:
    """What the program answers for a call, as the kernel reads it: classic BPF over `struct seccomp_data`."""
    number = NUMBERS[machine][name] if isinstance(name, str) else name
    data = struct.pack("=IIQ6Q", number, AUDIT_ARCH[machine], 0, *arguments, *[0] * (6 - len(arguments)))
    steps = [struct.unpack_from("=HBBI", code, 8 * at) for at in range(len(code) // 8)]
    at = held = 0
    while True:
        what, then, otherwise, value = steps[at]
        at += 1
        if what == 0x20:
            held = struct.unpack_from("=I", data, value)[0]
        elif what in (0x15, 0x45):
            at += then if (held == value if what == 0x15 else bool(held & value)) else otherwise
        else:
            assert what == 0x06
            return value


@pytest.mark.parametrize("machine", list(NUMBERS))
def test_the_numbers_are_the_kernels(machine: str) -> None:
    if not TABLES[machine].is_file():
        pytest.skip("the kernel's headers are not installed")
    text = TABLES[machine].read_text()
    known = {name: int(number) for name, number in re.findall(r"#define\s+__NR(?:3264)?_(\w+)\s+(\d+)", text)}
    for name, number in NUMBERS[machine].items():
        assert known[AS_NAMED_THERE.get(name, name) if machine == "aarch64" else name] == number, name
    left_out = set(NUMBERS["x86_64"]) - set(NUMBERS[machine])
    assert not left_out & known.keys(), "a call that this machine has is without a rule"
    for name in ("pivot_root", "seccomp", "mount_setattr", "landlock_create_ruleset", "landlock_restrict_self"):
        assert kernel.number_of(name, machine) == known[name]


def test_the_lists_name_known_calls() -> None:
    assert {*ATTACKS, *BASE, *COMPUTE} <= set(NUMBERS["x86_64"])
    assert set(NUMBERS["x86_64"]) - set(NUMBERS["aarch64"]) >= NOT_ON_AARCH64
    assert set(NUMBERS["aarch64"]) <= set(NUMBERS["x86_64"])


@pytest.mark.parametrize("machine", list(NUMBERS))
def test_decisions_of_the_base_filter(machine: str) -> None:
    code = base_filter(machine)
    for name in NUMBERS[machine]:
        if name in ATTACKS:
            assert decided(code, machine, name) == KILL, name
        elif name in BASE:
            assert decided(code, machine, name) == ALLOW, name
    assert decided(code, machine, "clone", 0x10000) == ALLOW
    assert decided(code, machine, "clone", kernel.NEWUSER) == KILL
    assert decided(code, machine, "clone3") == refuse(errno.ENOSYS)
    assert decided(code, machine, "ioctl", 0, 0x5401) == ALLOW
    assert decided(code, machine, "ioctl", 0, 0x5412) == KILL
    assert decided(code, machine, "prctl", 38) == ALLOW and decided(code, machine, "prctl", 99) == refuse(errno.EPERM)
    assert decided(code, machine, "socket") == refuse(errno.EPERM)
    assert decided(code, machine, 4000) == refuse(errno.ENOSYS)


@pytest.mark.parametrize("machine", list(NUMBERS))
def test_decisions_of_the_levels(machine: str) -> None:
    filters = {level: level_filter(level, machine) for level in LEVELS}
    assert decided(filters["tools"], machine, "socket") == KILL
    assert decided(filters["serve"], machine, "execve") == KILL and decided(filters["serve"], machine, "read") == ALLOW
    assert decided(filters["work"], machine, "clone", 0) == KILL
    last = filters[LEVELS[-1]]
    for name in NUMBERS[machine]:
        wanted = refuse(errno.ENOSYS) if name == "clone3" else ALLOW if name in COMPUTE else KILL
        assert decided(last, machine, name) == wanted, name


def test_calls_of_another_machine_are_killed() -> None:
    code = base_filter("aarch64")
    changed = code.replace(struct.pack("=I", AUDIT_ARCH["aarch64"]), struct.pack("=I", AUDIT_ARCH["x86_64"]))
    assert decided(changed, "aarch64", "read") == KILL and decided(base_filter("x86_64"), "x86_64", 1 << 30) == KILL


def test_an_unknown_machine_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownMachine, match="riscv64: expected x86_64 or aarch64"):
        base_filter("riscv64")
    with pytest.raises(OSError, match="this machine is riscv64"):
        kernel.number_of("pivot_root", "riscv64")
    assert kernel.number_of("landlock_add_rule", "riscv64") == 445
    monkeypatch.setattr(worker.platform, "machine", lambda: "riscv64")
    with pytest.raises(BrokenMachine, match="no filter of system calls for riscv64"):
        worker._config(["/bin/true"], Limits(), (), (), True, "/tmp")
    assert "seccomp" in worker._config(["/bin/true"], Limits(), (), (), False, "/tmp")["without"]
