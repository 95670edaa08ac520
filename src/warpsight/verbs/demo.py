"""`demo`: the job that makes the example transpose faster, with the script that ships as its model."""

from __future__ import annotations

from pathlib import Path

from warpsight.bundled import find_bundled
from warpsight.errors import ToolMissing
from warpsight.folders import data_folder
from warpsight.reason.job import Job
from warpsight.verbs.optimize import plan_job

TASK = "transpose"
MODEL = "scripted:demo"


def demo_job() -> Job:
    """Always of the example that ships, whatever tasks the folder has that the command is run in."""
    task = find_bundled("tasks", TASK)
    if task is None:
        raise ToolMissing("expected the example tasks beside the package, they are not there", hint="install it again")
    return plan_job(task, model=MODEL).job


def kernel_place() -> Path:
    """Where the new kernel goes if nobody says."""
    return data_folder() / "demo" / "faster.cu"
