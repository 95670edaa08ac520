"""The system calls a jailed worker may make, as programs for the kernel's filter (x86-64).

Covers: which calls, and some of their small arguments (clone flags, ioctl and prctl numbers). Does not cover what lies
behind a pointer, such as a path: that is for the mount namespace and landlock. Filters stack and the strictest wins, so
each level adds to the one before it and nothing can be taken back. Calls that only an attack makes end the process
(SIGSYS, told as `seccomp_violation`); calls that a library may try answer an error and the library goes on.
No well-kept package does this without a system library (`libseccomp`), so the few lines of assembler are ours.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Sequence

from warpsight.jail.records import Level
from warpsight.jail.syscalls import ATTACKS, BASE, COMPUTE, NUMBERS

AUDIT_ARCH_X86_64 = 0xC000003E
X32_BIT = 0x40000000

ALLOW = 0x7FFF0000
KILL = 0x80000000
NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag that clone takes
CLONE_THREAD = 0x00010000

# isatty and friends, close-on-exec, bytes waiting, non-blocking
IOCTL_ALLOWED: tuple[int, ...] = (0x5401, 0x5413, 0x5450, 0x5451, 0x541B, 0x5421)
IOCTL_ATTACKS: tuple[int, ...] = (0x5412, 0x541C, 0x5423)  # type into a terminal, terminal paste, line discipline
# death signal, dumpable, names, no-new-privileges, seccomp itself, read capabilities, name a mapping
PRCTL_ALLOWED: tuple[int, ...] = (1, 2, 3, 4, 15, 16, 21, 22, 23, 38, 39, 0x53564D41)

_LOAD_WORD, _JUMP_EQUAL, _JUMP_ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_NUMBER_AT, _ARCH_AT, _FIRST_ARGUMENT_AT = 0, 4, 16

Instruction = tuple[int, int, int, int]


def refuse(code: int) -> int:
    """The action that answers an errno."""
    return 0x00050000 | code


def _only(name: str, body: Sequence[Instruction]) -> list[Instruction]:
    """`body` for this call; it must return on every path, or fall through to what follows with the number lost."""
    return [(_JUMP_EQUAL, 0, len(body), NUMBERS[name]), *body]


def _returns(names: Iterable[str], action: int) -> list[Instruction]:
    return [step for name in names for step in _only(name, [(_RETURN, 0, 0, action)])]


def _by_argument(name: str, at: int, values: dict[int, int], otherwise: int) -> list[Instruction]:
    """Decide by the low word of argument `at`, which is all that these calls look at."""
    body: list[Instruction] = [(_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_AT + 8 * at)]
    for value, action in values.items():
        body += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, action)]
    return _only(name, [*body, (_RETURN, 0, 0, otherwise)])


def _clone(any_of: int, if_set: int, otherwise: int) -> list[Instruction]:
    load: Instruction = (_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_AT)
    test: Instruction = (_JUMP_ANY_BIT, 0, 1, any_of)
    return _only("clone", [load, test, (_RETURN, 0, 0, if_set), (_RETURN, 0, 0, otherwise)])


def _program(rules: Sequence[Instruction], otherwise: int) -> bytes:
    head: list[Instruction] = [
        (_LOAD_WORD, 0, 0, _ARCH_AT),
        (_JUMP_EQUAL, 1, 0, AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, KILL),
        (_LOAD_WORD, 0, 0, _NUMBER_AT),
        (_JUMP_ANY_BIT, 0, 1, X32_BIT),
        (_RETURN, 0, 0, KILL),
    ]
    steps = [*head, *rules, (_RETURN, 0, 0, otherwise)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def base_filter() -> bytes:
    """In force before the worker's first instruction: an allow-list, threads and programs still possible."""
    ioctl = dict.fromkeys(IOCTL_ATTACKS, KILL) | dict.fromkeys(IOCTL_ALLOWED, ALLOW)
    rules = [
        *_returns(ATTACKS, KILL),
        *_clone(NEW_NAMESPACES, KILL, ALLOW),
        *_returns(["clone3"], refuse(errno.ENOSYS)),  # its flags lie behind a pointer; libraries fall back to clone
        *_by_argument("ioctl", 1, ioctl, refuse(errno.ENOTTY)),
        *_by_argument("prctl", 0, dict.fromkeys(PRCTL_ALLOWED, ALLOW), refuse(errno.EPERM)),
        *_returns(["socket", "socketpair"], refuse(errno.EPERM)),
        *_returns(BASE, ALLOW),
    ]
    return _program(rules, refuse(errno.ENOSYS))


def level_filter(level: Level) -> bytes:
    """What one level takes away from the level before it."""
    if level == "tools":
        links = ("symlink", "symlinkat", "mknod", "mknodat")
        return _program([*_returns(["socket", "socketpair"], KILL), *_returns(links, refuse(errno.EPERM))], ALLOW)
    if level == "serve":
        return _program(
            [*_returns(["execve", "execveat"], KILL), *_returns(["memfd_create"], refuse(errno.EPERM))], ALLOW
        )
    if level == "work":
        return _program([*_returns(["fork", "vfork"], KILL), *_clone(CLONE_THREAD, ALLOW, KILL)], ALLOW)
    rules = [*_returns(["clone3"], refuse(errno.ENOSYS)), *_clone(CLONE_THREAD, ALLOW, KILL), *_returns(COMPUTE, ALLOW)]
    return _program(rules, KILL)
