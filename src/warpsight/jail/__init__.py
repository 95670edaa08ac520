"""The jail: untrusted work runs in a disposable process under limits, and only bytes come back."""

from __future__ import annotations

from warpsight.jail.ends import event_of
from warpsight.jail.probes import protections, require_protections
from warpsight.jail.records import Level, Limits, Protection, WorkerAnswer, WorkerEvent, WorkerLost
from warpsight.jail.scrub import scrubbed
from warpsight.jail.view import package_files
from warpsight.jail.worker import JailedWorker, run_jailed

__all__ = [
    "JailedWorker",
    "Level",
    "Limits",
    "Protection",
    "WorkerAnswer",
    "WorkerEvent",
    "WorkerLost",
    "event_of",
    "package_files",
    "protections",
    "require_protections",
    "run_jailed",
    "scrubbed",
]
