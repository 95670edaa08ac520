"""One configuration of a tuning, tried in a worker before its turn comes; and how any configuration is tried.

A worker opens the task as the tuning asks, once for each process. What must stay true: a try depends on the tuning and
the kernel alone, so it is the same wherever it is made; a worker writes nothing of the tuning.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns import Candidate, Evaluation
from warpsight.session.session import Session
from warpsight.tasks import read_task
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox
from warpsight.tuning.records import TuneRequest
from warpsight.tuning.search import known_order
from warpsight.tuning.space import Configurations, Key

KERNELS_FAULT = (1, 2)  # exit codes that mean the kernel or the request, not the machine
MOST_OPEN = 2
_boxes: OrderedDict[str, TaskBox] = OrderedDict()  # of this process, where it is a worker


@dataclass(frozen=True)
class AheadUnit:
    """A kernel to try; `least` is the best time so far as a share of the given kernel's."""

    asked: TuneRequest
    kernel: str
    least: float


@dataclass(frozen=True)
class TriedAhead:
    """`share` is the simulated time as a share of the given kernel's; `found` is None for one that is too slow."""

    share: float | None
    found: Evaluation | WarpsightError | None
    seconds: float


def order_ahead(asked: TuneRequest, space: Configurations) -> list[Key]:
    """The order of tries; UsageError where several cannot be tried at once."""
    if asked.device != "virtual":
        told = f"times on {asked.device} are measured one after another"
        raise UsageError(told, hint="leave out --on and --processes")
    return known_order(asked.strategy, space, asked.search_seed)


def try_ahead(unit: AheadUnit) -> TriedAhead:
    """In a worker."""
    started = time.monotonic()
    session = _box_of(unit.asked).session
    candidate = session.candidate(unit.kernel)
    share = foretold_share(session, candidate)
    found = None if share is not None and is_too_slow(share, unit.least) else judged(session, candidate)
    return TriedAhead(share, found, round(time.monotonic() - started, 3))


def foretold_share(session: Session, candidate: Candidate) -> float | None:
    """The simulated time over the given kernel's, where there is one before a check."""
    given, own = session.foretold_us(session.given), session.foretold_us(candidate)
    return own / given if given and own else None


def is_too_slow(share: float, least: float) -> bool:
    return share > least * (1 + 1e-9)


def judged(session: Session, candidate: Candidate) -> Evaluation | WarpsightError:
    """What the gate says, or why such a kernel is not run."""
    try:
        return session.evaluation(candidate)
    except WarpsightError as problem:
        if problem.exit_code not in KERNELS_FAULT:
            raise
        return problem


def _box_of(asked: TuneRequest) -> TaskBox:
    box = _boxes.get(asked.id)
    if box is None:
        task = read_task(Path(asked.folder))
        box = _boxes[asked.id] = open_box(
            task, device=asked.device, gpu=asked.gpu, kernel=asked.kernel, secret=asked.secret_seed,
            unsafe=asked.unsafe, cores=1,
        )  # fmt: skip
        if len(_boxes) > MOST_OPEN:
            _boxes.popitem(last=False)[1].close()
    return box
