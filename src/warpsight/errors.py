"""The errors that end a command, one tree, each with the exit code it means.

A bad kernel is a result and never an error here; these say that a request, a file, a tool or the machine is wrong.
Every message says what was expected and what came; `hint` says what to try.
Exit codes: 1 the kernel cannot be run, 2 the request is wrong, 3 a tool is missing, 5 the machine is broken,
6 a language model gave no usable answer. (4 is no error: a certificate that nobody known vouches for.)
"""

from __future__ import annotations

from typing import ClassVar


class WarpsightError(Exception):
    """The root: `message` for the person, `hint` for what to try, `exit_code` for the shell."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  try: {self.hint}"


class UsageError(WarpsightError):
    """The command or the call was asked for something it cannot do."""

    exit_code: ClassVar[int] = 2


class TaskError(WarpsightError):
    """A task file, a candidate or a launch is not what the format allows."""

    exit_code: ClassVar[int] = 2

    def __init__(
        self, *, file: str, key: str, expected: str, found: str, line: int | None = None, hint: str | None = None
    ) -> None:
        where = file if line is None else f"{file}:{line}"
        super().__init__(f"{where}: {key}: expected {expected}, found {found}", hint)
        self.file = file
        self.key = key
        self.expected = expected
        self.found = found
        self.line = line


class ToolMissing(WarpsightError):
    """A program or package this step needs is not installed; the hint is how to get it."""

    exit_code: ClassVar[int] = 3


class GpuPackageMissing(ToolMissing):
    """A vendor's package that reaches a real GPU is not installed."""


class ToolchainError(WarpsightError):
    """The compiler or disassembler crashed, hung or answered nonsense (a failed compile is a Build, not this)."""

    exit_code: ClassVar[int] = 5


class DeviceError(WarpsightError):
    """A device could not be opened or did not do what its contract says."""

    exit_code: ClassVar[int] = 5


class BrokenMachine(WarpsightError):
    """The machine under us fails: no memory, no disk, a protection that should be there and is not."""

    exit_code: ClassVar[int] = 5


class ParameterMismatch(WarpsightError):
    """The kernel's parameters are not the task's arguments: it cannot be launched."""

    exit_code: ClassVar[int] = 1


class UnsupportedInstruction(WarpsightError):
    """The kernel uses an instruction that the virtual GPU does not run; refused by name, never guessed."""

    exit_code: ClassVar[int] = 1

    def __init__(
        self, instruction: str, line: int | None = None, message: str | None = None, hint: str | None = None
    ) -> None:
        where = "" if line is None else f" (source line {line})"
        super().__init__(message or f"the virtual GPU does not run `{instruction}`{where}", hint)
        self.instruction = instruction
        self.line = line
