"""`tune`: what plain autotuning gives: launch and named constants searched through the gate, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpsight.errors import UsageError
from warpsight.folders import data_folder
from warpsight.session.opening import given_kernel, open_task
from warpsight.session.session import KernelLike
from warpsight.tuning.declared import space_of
from warpsight.tuning.journal import TuningJournal
from warpsight.tuning.run import LEDGER, Tuned, plan
from warpsight.tuning.run import tune as search
from warpsight.verbs.ask import TaskLike, meant


def tune(
    task: TaskLike,
    kernel: KernelLike = None,
    *,
    values: Mapping[str, Sequence[int]] | None = None,
    space: Path | None = None,
    device: str = "virtual",
    top: int = 0,
    **asked: Any,
) -> Tuned:
    """Search the launch and the named constants; `values` sets what is tried of a constant, `top` lists the best few.

    `asked` is `gpu`, `strategy`, `tries`, `seconds`, `search_seed`, `unsafe`.
    """
    found = open_task(task) if isinstance(task, (str, Path)) else task
    given = given_kernel(found, device, meant(kernel))
    searched = space_of(found, given, space, {name: tuple(one) for name, one in (values or {}).items()})
    journal = TuningJournal.create(plan(found, given, searched, device=device, **asked))
    return search(journal, data_folder() / LEDGER, top=top)


def write_kernels(
    found: Tuned, out: Path | None, ending: str, *, to_folder: bool
) -> tuple[Path | None, list[Path | None]]:
    """Write the winner, and where `out` is a folder the listed kernels too; gives the files of both."""
    folder = out if to_folder and out is not None and (out.is_dir() or not out.suffix) else None
    file = (folder / f"best{ending}" if folder else out or Path(f"{found.asked.id}{ending}")).resolve()
    listed = [None if folder is None else (folder / f"top-{n}{ending}").resolve() for n in range(1, len(found.top) + 1)]
    wanted = [(file, found.kernel), *((path, one.kernel) for path, one in zip(listed, found.top, strict=True))]
    for path, text in wanted:
        if path is not None and text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return None if found.kernel is None else file, listed


def values(word: str) -> tuple[str, tuple[int, ...]]:
    name, _, listed = word.partition("=")
    parts = [part.strip() for part in listed.split(",")]
    if not name or not all(part.isdecimal() for part in parts):
        raise UsageError(f"expected NAME=A,B,C with whole numbers, found --set {word!r}", hint="--set TILE=8,16,32")
    return name.strip(), tuple(int(part) for part in parts)
