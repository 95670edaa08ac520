"""What is tried: one file an attack, its first lines say what it is, for which task, and why it must be rejected.

    // attack: A1 does nothing and hopes that the output still holds an earlier answer
    // task: vector_add
    // expect: output_not_written

The rest of the file is a candidate like any other. Attacks that are no kernel are Python files with the same lines;
their folder says what they are: `workers` answer in the place of a worker, `references` are those of another task,
`files` change what is stored, `kernelbench` holds candidates for a KernelBench problem.
`expect` lists the reasons that are right; a decision that is no improvement (SAME, SLOWER) may be among them where the
attack gains nothing instead of being wrong. `baseline` names a file in `baselines/` to be beaten in place of the task's
own kernel: it does the work that the attack hides, or is a slow one where the attack is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ATTACKS = FOLDER / "attacks"
WORKERS = FOLDER / "workers"
REFERENCES = FOLDER / "references"
FILES = FOLDER / "files"
KERNELBENCH = FOLDER / "kernelbench"
BASELINES = FOLDER / "baselines"
_LINE = re.compile(r"^(?://|#) (attack|task|expect|baseline): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Attack:
    """One attempt. `id` is that of the list in docs/redteam.md, or several of it, joined by a plus."""

    id: str
    what: str
    task: str
    expect: tuple[str, ...]
    file: Path
    baseline: str = ""

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def device(self) -> str:
        """Where it is run: a device, or what is attacked in its place."""
        return {".cu": "virtual", ".cl": "opencl"}.get(self.file.suffix, self.file.parent.name.removesuffix("s"))


def read_attack(file: Path) -> Attack:
    """The attack in a file; a missing line is an error of ours."""
    found = dict(_LINE.findall(file.read_text()))
    if set(found) - {"baseline"} != {"attack", "task", "expect"}:
        raise ValueError(f"{file.name}: expected lines attack, task and expect, found {sorted(found)}")
    identity, _, what = found["attack"].partition(" ")
    return Attack(identity, what, found["task"], tuple(found["expect"].split()), file, found.get("baseline", ""))


def kernel_attacks() -> list[Attack]:
    """Those that are a kernel, CUDA before OpenCL."""
    files = [*sorted(ATTACKS.glob("*.cu")), *sorted(ATTACKS.glob("*.cl"))]
    return [read_attack(file) for file in files]


def worker_attacks() -> list[Attack]:
    """Those that are a process in the jail, in the place of an honest worker."""
    return [read_attack(file) for file in sorted(WORKERS.glob("*.py"))]


def reference_attacks() -> list[Attack]:
    """Those that are the reference of another task, read before the one that is attacked."""
    return [read_attack(file) for file in sorted(REFERENCES.glob("R*.py"))]


def file_attacks() -> list[Attack]:
    """Those that change files which the gate wrote: its cache, a certificate, a ledger."""
    return [read_attack(file) for file in sorted(FILES.glob("F*.py"))]


def kernelbench_attacks() -> list[Attack]:
    """Those that are a candidate in Python for the KernelBench problem in that folder."""
    return [read_attack(file) for file in sorted(KERNELBENCH.glob("K*.py"))]


def all_attacks() -> list[Attack]:
    return [*kernel_attacks(), *worker_attacks(), *reference_attacks(), *file_attacks(), *kernelbench_attacks()]
