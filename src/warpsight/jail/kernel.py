"""Thin wrappers over the kernel calls that build a jail. Imports nothing of the project: it runs in the bare stage.

Each wrapper does one call and raises OSError when the kernel says no; what that means is for the stage to decide.
Landlock is driven here by its three calls: the one package for it is a pre-release behind the kernel's interface.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH112

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

LIBC = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

CAP_SYS_ADMIN, CAP_SETUID = 21, 7
HOST_NAME = "jail"  # what a jail is told in place of the machine's name

# Calls that the C library has no function for; the later ones have one number on every machine.
_NUMBERS = {"x86_64": {"pivot_root": 155, "seccomp": 317}, "aarch64": {"pivot_root": 41, "seccomp": 277}}
_LATER = {
    "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
}  # fmt: skip
_AT_RECURSIVE = 0x8000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION = 0x20080522

# Landlock rights over files, by the version of the interface that brought them.
FS_EXECUTE, FS_WRITE_FILE, FS_READ_FILE, FS_READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
FS_REMOVE_DIR, FS_REMOVE_FILE, FS_MAKE_DIR, FS_MAKE_REG, FS_MAKE_FIFO = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 10
FS_REFER, FS_TRUNCATE = 1 << 13, 1 << 14
FS_READ = FS_READ_FILE | FS_READ_DIR
# In the scratch folder: files, folders and pipes; no links, sockets or devices, and no starting of programs.
FS_SCRATCH = (
    FS_READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_FIFO
    | FS_REFER | FS_TRUNCATE
)  # fmt: skip
_FS_OF_A_FILE = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE


def check(result: int, what: str) -> int:
    """The result, or OSError that names the call."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def number_of(name: str, machine: str = os.uname().machine) -> int:
    """The number of a system call here; OSError on a machine whose numbers we do not know."""
    found = _LATER.get(name) or _NUMBERS.get(machine, {}).get(name)
    if found is None:
        raise OSError(errno.ENOSYS, f"{name}: expected {' or '.join(_NUMBERS)}, this machine is {machine}")
    return found


def unshare(flags: int) -> None:
    """Leave some of our namespaces for new ones."""
    check(LIBC.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2)."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    options = None if data is None else data.encode()
    check(LIBC.mount(*texts, ctypes.c_ulong(flags), options), f"mount on {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and hang the old one below `old`."""
    check(LIBC.syscall(number_of("pivot_root"), os.fsencode(new), os.fsencode(old)), "pivot_root")


def detach(target: str) -> None:
    """Take a mount and everything below it out of the tree."""
    check(LIBC.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def set_attributes(target: str, attributes: int) -> None:
    """Set mount attributes on a tree of mounts, which can only be made stricter this way."""
    record = struct.pack("=QQQQ", attributes, 0, 0, 0)
    arguments = (-100, os.fsencode(target), _AT_RECURSIVE, record, ctypes.c_size_t(len(record)))
    check(LIBC.syscall(number_of("mount_setattr"), *arguments), f"mount_setattr {target}")


def die_with_parent() -> None:
    """SIGKILL for us when the thread that forked us ends; call it only below a single-threaded process."""
    check(LIBC.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl(PDEATHSIG)")


def set_host_name(name: str) -> None:
    """The names that programs here are told, of the machine and of its domain."""
    check(LIBC.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")
    check(LIBC.setdomainname(name.encode(), ctypes.c_size_t(len(name))), "setdomainname")


def hide_memory() -> None:
    """No core dumps, no tracing, no reading of our memory by others of the same user."""
    check(LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(DUMPABLE)")


def show_memory() -> None:
    """Undo `hide_memory`: a change of user hides us even from ourselves, and id maps are written through /proc."""
    check(LIBC.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl(DUMPABLE)")


def no_new_privileges() -> None:
    """Programs started from here on never gain rights."""
    check(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(NO_NEW_PRIVS)")


def has_capabilities(*numbers: int) -> bool:
    """Whether all of these are effective now."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    data = ctypes.create_string_buffer(24)
    check(LIBC.capget(header, data), "capget")
    low, _, _, high, _, _ = struct.unpack("=6I", data.raw)
    return all((high << 32 | low) >> number & 1 for number in numbers)


def drop_capabilities() -> None:
    """Give up every capability, also those a program could bring back."""
    for number in range(64):
        LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)  # numbers this kernel does not know answer EINVAL
    LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    check(LIBC.capset(header, ctypes.create_string_buffer(24)), "capset")


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter(code: bytes) -> None:
    """One seccomp filter on top of those in force."""
    program = _FilterProgram(len(code) // 8, code)
    check(LIBC.syscall(number_of("seccomp"), 1, 0, ctypes.byref(program)), "seccomp")


def landlock_version() -> int:
    """The version of landlock's interface, 0 where there is none."""
    return max(0, LIBC.syscall(number_of("landlock_create_ruleset"), None, ctypes.c_size_t(0), 1))


def landlock(rules: Sequence[tuple[str, int]], *, network: bool, scope: bool) -> None:
    """Deny every right over files but those in `rules` and, as asked, all TCP and all signals out of the domain."""
    version = landlock_version()
    handled = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    attributes = struct.pack("=QQQ", handled, 3 if network else 0, 3 if scope else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = check(
        LIBC.syscall(number_of("landlock_create_ruleset"), attributes, ctypes.c_size_t(size), 0), "landlock"
    )
    try:
        for path, rights in rules:
            _add_rule(ruleset, path, rights & handled)
        check(LIBC.syscall(number_of("landlock_restrict_self"), ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _add_rule(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _FS_OF_A_FILE
        rule = struct.pack("=Qi", rights, folder)
        check(LIBC.syscall(number_of("landlock_add_rule"), ruleset, 1, rule, 0), f"landlock rule for {path}")
    finally:
        os.close(folder)
