"""`tune`: what plain autotuning gives: launch and named constants searched through the gate, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpsight.folders import data_folder
from warpsight.session.opening import given_kernel, open_task
from warpsight.session.session import KernelLike
from warpsight.tuning.declared import space_of
from warpsight.tuning.journal import Journal
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
    journal = Journal.create(plan(found, given, searched, device=device, **asked))
    return search(journal, data_folder() / LEDGER, top=top)
