"""One question of one kernel: `check`, `profile`, `diagnose`, `time`, `compare`, `rewrite`. Each opens a Session.

    ws.check("saxpy")                                # the task in ./tasks/saxpy, its own kernel
    ws.profile("tasks/saxpy", "mine.cu", gpu="h100") # another kernel, on another GPU
    ws.compare(task, text)                           # a Task and a kernel text work too

`settings` are those of a Session: `device`, `gpu`, `seed`, `cores`, `unsafe` and so on. Several questions of one task:
open a Session and ask it, it keeps what it has computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpsight.lens.diagnosis import Diagnosis
from warpsight.nouns import Candidate, Check, Evaluation, Finding, Task, Timing
from warpsight.session.search import RewriteSearch
from warpsight.session.session import KernelLike, Session

TaskLike = Task | str | Path


def check(task: TaskLike, kernel: KernelLike = None, **settings: Any) -> Check:
    """Is the kernel right? Every workload of the task, hidden and drawn ones too."""
    with Session(task, **settings) as session:
        return session.check(meant(kernel))


def profile(task: TaskLike, kernel: KernelLike = None, **settings: Any) -> Diagnosis:
    """What does it do, how long does it take, and why?"""
    with Session(task, **settings) as session:
        return session.profile(meant(kernel))


def diagnose(task: TaskLike, kernel: KernelLike = None, **settings: Any) -> tuple[Finding, ...]:
    """Why is it slow? Findings, most gain first."""
    with Session(task, **settings) as session:
        return session.diagnose(meant(kernel))


def time(task: TaskLike, kernel: KernelLike = None, **settings: Any) -> Timing:
    """How long does it take?"""
    with Session(task, **settings) as session:
        return session.time(meant(kernel))


def compare(
    task: TaskLike, kernel: KernelLike, *, baseline: KernelLike = None, seed: int | None = None, **settings: Any
) -> Evaluation:
    """Is it right, and faster than the baseline? The whole gate; its seed is secret unless one is given."""
    with Session(task, kernel=meant(baseline), **settings) as session:
        return session.compare(meant(kernel), seed=seed)


def rewrite(task: TaskLike, cause: str, kernel: KernelLike = None, **settings: Any) -> RewriteSearch:
    """The known rewrites for a cause, tried; the best that is right and faster, or none."""
    with Session(task, kernel=meant(kernel), **settings) as session:
        return session.rewrite(cause)


def meant(kernel: KernelLike) -> Candidate | str | Path | None:
    """A string of one line is the name of a file: whoever calls the library is trusted to say which."""
    return Path(kernel) if isinstance(kernel, str) and "\n" not in kernel else kernel
