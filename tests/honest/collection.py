"""The honest kernels: the text files beside this one, each with several tasks in a short form.

    #### name
    axes N=1:4096 C=4:64:4        least : most : multiple of
    in x float32 N,C fill=uniform low=0 high=1
    scalar N int32 N
    tol 1e-5 1e-6                 rtol atol
    arch sm_90                    where it is not sm_80
    sizes N=100,C=8 | N=7,C=4 hidden | N=512,C=64 profile
    ---- reference
    ---- kernel                   Triton where it begins with `#`

Each becomes a task folder that the ordinary reader reads. The kernels were written as people write them, before any of
them was run here, and must stay so: one that is refused shows a fault of the check.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warpsight.nouns import Task
from warpsight.tasks import read_task

FOLDER = Path(__file__).parent
_HEADER = re.compile(r"#include <(c?(?:math|stdint|float|limits|assert|stdio|stdlib)(?:\.h)?|algorithm|limits)>")


@dataclass(frozen=True)
class Entry:
    """One kernel with its task, as text."""

    name: str
    declared: str
    reference: str
    kernel: str

    @property
    def is_triton(self) -> bool:
        return self.kernel.startswith("#") and not self.kernel.startswith("#include")

    @property
    def needs_headers(self) -> bool:
        """Whether it includes headers of the C or C++ standard library."""
        return not self.is_triton and _HEADER.search(self.kernel) is not None

    def task(self, folder: Path) -> Task:
        """The task, written into `folder` and read back."""
        home = folder / self.name
        home.mkdir(parents=True)
        kernel = "kernel.py" if self.is_triton else "kernel.cu"
        (home / "task.toml").write_text(toml_of(self.name, kernel, self.declared))
        (home / kernel).write_text(self.kernel)
        (home / "reference.py").write_text(self.reference)
        return read_task(home)


def entries() -> list[Entry]:
    found: list[Entry] = []
    for file in sorted(FOLDER.glob("*.txt")):
        for part in file.read_text().split("#### ")[1:]:
            head, _, rest = part.partition("---- reference\n")
            name, _, declared = head.partition("\n")
            reference, _, kernel = rest.partition("---- kernel\n")
            found.append(Entry(name.strip(), declared, reference, kernel))
    return found


def toml_of(name: str, kernel: str, declared: str) -> str:
    lines = [line.split() for line in declared.splitlines() if line.strip()]
    arch = next((line[1] for line in lines if line[0] == "arch"), "sm_80")
    gpu = {"sm_80": "a100", "sm_89": "l4", "sm_90": "h100"}[arch]
    out = [
        f'name = "{name}"', f'description = "{name.replace("_", " ")}"', f'kernel = "{kernel}"', f'entry = "{name}"',
        "[target]", f'gpu = "{gpu}"', f'arch = "{arch}"', "[axes]",
    ]  # fmt: skip
    for word, *rest in lines:
        if word == "axes":
            out += [_axis(text) for text in rest]
        elif word in ("in", "out", "inout", "scratch", "scalar"):
            out += _argument(word, rest)
        elif word == "tol":
            out += ["[tolerance]", f"rtol = {rest[0]}", f"atol = {rest[1]}"]
        elif word == "sizes":
            for at, size in enumerate(" ".join(rest).split("|")):
                out += _workload(at, size.split())
    return "\n".join(out) + "\n"


def _axis(text: str) -> str:
    name, _, bounds = text.partition("=")
    least, most, *multiple = bounds.split(":")
    return f"{name} = {{ min = {least}, max = {most}, multiple_of = {multiple[0] if multiple else 1} }}"


def _argument(role: str, words: list[str]) -> list[str]:
    name, dtype, shape, *more = words
    out = ["[[arguments]]", f'name = "{name}"', f'dtype = "{dtype}"', f'role = "{role}"']
    if role == "scalar":
        return [*out, f"value = {_value(shape)}"]
    out.append("shape = [" + ", ".join(f'"{part}"' for part in shape.split(",")) + "]")
    for one in more:
        key, _, value = one.partition("=")
        out.append(f'{key} = "{value}"' if key == "fill" else f"{key} = {_value(value)}")
    return out


def _value(text: str) -> str:
    return text if re.fullmatch(r"[-+]?([0-9.]+(e-?[0-9]+)?|inf|nan)", text) else f'"{text}"'


def _workload(at: int, words: list[str]) -> list[str]:
    axes = ", ".join(pair.replace("=", " = ") for pair in words[0].split(","))
    return ["[[workloads]]", f'name = "w{at}"', f"axes = {{ {axes} }}", *(f"{flag} = true" for flag in words[1:])]
