"""The system calls a jailed worker may make, as programs for the kernel's filter (x86-64 and aarch64).

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

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
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


class UnknownMachine(ValueError):
    """No table of system calls is known for this machine, so no filter can be made."""

    def __init__(self, machine: str) -> None:
        super().__init__(f"no filter of system calls for {machine}: expected {' or '.join(NUMBERS)}")


def refuse(code: int) -> int:
    """The action that answers an errno."""
    return 0x00050000 | code


class FilterAssembler:
    """Rules for the calls of one machine; a call that the machine does not have gets none."""

    def __init__(self, machine: str) -> None:
        if machine not in NUMBERS:
            raise UnknownMachine(machine)
        self._machine, self._numbers = machine, NUMBERS[machine]

    def only(self, name: str, body: Sequence[Instruction]) -> list[Instruction]:
        """`body` for this call; it must return on every path, or fall through to what follows with the number lost."""
        if name not in self._numbers:
            return []
        return [(_JUMP_EQUAL, 0, len(body), self._numbers[name]), *body]

    def returns(self, names: Iterable[str], action: int) -> list[Instruction]:
        return [step for name in names for step in self.only(name, [(_RETURN, 0, 0, action)])]

    def by_argument(self, name: str, at: int, values: dict[int, int], otherwise: int) -> list[Instruction]:
        """Decide by the low word of argument `at`, which is all that these calls look at."""
        body: list[Instruction] = [(_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_AT + 8 * at)]
        for value, action in values.items():
            body += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, action)]
        return self.only(name, [*body, (_RETURN, 0, 0, otherwise)])

    def clone(self, any_of: int, if_set: int, otherwise: int) -> list[Instruction]:
        """By the flags, which are the first argument on both machines."""
        load: Instruction = (_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_AT)
        test: Instruction = (_JUMP_ANY_BIT, 0, 1, any_of)
        return self.only("clone", [load, test, (_RETURN, 0, 0, if_set), (_RETURN, 0, 0, otherwise)])

    def program(self, rules: Sequence[Instruction], otherwise: int) -> bytes:
        head: list[Instruction] = [
            (_LOAD_WORD, 0, 0, _ARCH_AT),
            (_JUMP_EQUAL, 1, 0, AUDIT_ARCH[self._machine]),
            (_RETURN, 0, 0, KILL),
            (_LOAD_WORD, 0, 0, _NUMBER_AT),
        ]
        if self._machine == "x86_64":  # a second table of calls hides behind this bit
            head += [(_JUMP_ANY_BIT, 0, 1, X32_BIT), (_RETURN, 0, 0, KILL)]
        steps = [*head, *rules, (_RETURN, 0, 0, otherwise)]
        return b"".join(struct.pack("=HBBI", *step) for step in steps)


OWN_IDS = ("setresuid", "setresgid")  # make sets the ids of what it starts to those it has
NOTHING_DONE = 0x00050000  # the call is not made, and answers that all went well


def base_filter(machine: str, *, sets_ids: bool = False) -> bytes:
    """In force before the worker's first instruction: an allow-list, threads and programs still possible.

    With `sets_ids`, calls that give a process its own ids again answer that they were made; none is made.
    """
    of = FilterAssembler(machine)
    ioctl = dict.fromkeys(IOCTL_ATTACKS, KILL) | dict.fromkeys(IOCTL_ALLOWED, ALLOW)
    rules = [
        *of.returns(OWN_IDS if sets_ids else (), NOTHING_DONE),
        *of.returns(ATTACKS, KILL),
        *of.clone(NEW_NAMESPACES, KILL, ALLOW),
        *of.returns(["clone3"], refuse(errno.ENOSYS)),  # its flags lie behind a pointer; libraries fall back to clone
        *of.by_argument("ioctl", 1, ioctl, refuse(errno.ENOTTY)),
        *of.by_argument("prctl", 0, dict.fromkeys(PRCTL_ALLOWED, ALLOW), refuse(errno.EPERM)),
        *of.returns(["socket", "socketpair"], refuse(errno.EPERM)),
        *of.returns(BASE, ALLOW),
    ]
    return of.program(rules, refuse(errno.ENOSYS))


def level_filter(level: Level, machine: str) -> bytes:
    """What one level takes away from the level before it."""
    of = FilterAssembler(machine)
    if level == "tools":
        links = ("symlink", "symlinkat", "mknod", "mknodat")
        return of.program([*of.returns(["socket", "socketpair"], KILL), *of.returns(links, refuse(errno.EPERM))], ALLOW)
    if level == "serve":
        return of.program(
            [*of.returns(["execve", "execveat"], KILL), *of.returns(["memfd_create"], refuse(errno.EPERM))], ALLOW
        )
    if level == "work":
        return of.program([*of.returns(["fork", "vfork"], KILL), *of.clone(CLONE_THREAD, ALLOW, KILL)], ALLOW)
    rules = [
        *of.returns(["clone3"], refuse(errno.ENOSYS)),
        *of.clone(CLONE_THREAD, ALLOW, KILL),
        *of.returns(COMPUTE, ALLOW),
    ]
    return of.program(rules, KILL)
