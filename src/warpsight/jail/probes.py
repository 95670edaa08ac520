"""Which walls of the jail stand on this machine: asked of the kernel, and tried by a worker from inside.

A wall counts as present only if the stage could build it, the kernel shows it from outside where it can be shown, and
the worker's try from inside failed. Looked at once per process: a kernel does not change under a running program.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

from warpsight.errors import BrokenMachine
from warpsight.jail import kernel, sight
from warpsight.jail.records import Limits, Protection, WorkerLost
from warpsight.jail.worker import JailedWorker, told_unsafe

PROBE = Path(__file__).with_name("probe_worker.py")
LIMITS = Limits(wall_s=20, cpu_s=20, memory_bytes=1 << 30, threads=32, scratch_bytes=1 << 20, open_files=64)

_NAMESPACES = (
    "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces>0; in a container: --privileged"
)
_LANDLOCK = "Linux {} or newer with landlock in CONFIG_LSM (boot option lsm=landlock,...)"
# name: what it stops, how to get it, whether a run needs it
KNOWN: dict[str, tuple[str, str, bool]] = {
    "user namespace": ("any right over the machine, even for root in the jail", _NAMESPACES, True),
    "mount namespace": ("files outside the compiler's and Python's, and any lasting write", _NAMESPACES, True),
    "network namespace": ("the network, loopback and abstract sockets included", _NAMESPACES, True),
    "process namespace": ("seeing or signalling other processes, and outliving the deadline", _NAMESPACES, True),
    "ipc namespace": ("shared memory and queues of other programs", _NAMESPACES, True),
    "landlock files": ("the same files once more, and starting what was written", _LANDLOCK.format("5.13"), True),
    "seccomp": (
        "system calls that honest work does not make",
        "x86-64 or aarch64, with CONFIG_SECCOMP_FILTER",
        True,
    ),
    "no capabilities": ("rights of root", "no known Linux lacks it; run under a plain user", True),
    "no new privileges": ("set-user-id programs", "Linux 3.5 or newer", True),
    "limits": ("taking all memory, processor, files or processes", "raise the hard limits (ulimit -H)", True),
    "empty environment": ("reading keys from the environment", "a fault of Warpsight if it is missing", True),
    "landlock network": ("TCP once more", _LANDLOCK.format("6.7"), False),
    "landlock scope": ("signals and abstract sockets once more", _LANDLOCK.format("6.12"), False),
    "host name namespace": ("learning or changing the host's name", _NAMESPACES, False),
    "cgroup namespace": ("learning the names of control groups", _NAMESPACES, False),
}
_SPACE_FILES = {
    "user namespace": "user", "mount namespace": "mnt", "network namespace": "net", "process namespace": "pid",
    "ipc namespace": "ipc", "host name namespace": "uts", "cgroup namespace": "cgroup",
}  # fmt: skip


@functools.cache
def protections() -> tuple[Protection, ...]:
    """Every wall, tried for real by a tiny worker."""
    missing = _missing()
    return tuple(
        Protection(
            name, name not in missing, stops, remedy if name not in missing else f"{remedy} ({missing[name]})", needed
        )
        for name, (stops, remedy, needed) in KNOWN.items()
    )


def require_protections(unsafe: bool = False) -> tuple[str, ...]:
    """The names of the walls that are missing, to be written on every result; BrokenMachine unless `unsafe`."""
    missing = [wall for wall in protections() if wall.required and not wall.present]
    if missing and not (unsafe or told_unsafe()):
        raise BrokenMachine(
            "expected every protection of the jail, these are missing: " + ", ".join(wall.name for wall in missing),
            hint=f"{missing[0].remedy}; or --unsafe, which is then written on every result",
        )
    return tuple(wall.name for wall in missing)


def _missing() -> dict[str, str]:
    """Name and reason of each wall that does not stand."""
    with tempfile.NamedTemporaryFile(prefix="warpsight-canary-") as canary:
        try:
            with JailedWorker(
                [sys.executable, "-I", str(PROBE)], limits=LIMITS, unsafe=True, name="the probe", level="tools"
            ) as worker:
                return _tried(worker, canary.name)
        except (WorkerLost, BrokenMachine, OSError) as problem:
            return dict.fromkeys(KNOWN, f"the probe failed: {problem}")


def _tried(worker: JailedWorker, canary: str) -> dict[str, str]:
    worker.start(LIMITS.wall_s)
    missing = {name: why for name, why in worker.reasons().items() if name in KNOWN}
    limits = {"RLIMIT_NPROC": LIMITS.threads, "RLIMIT_NOFILE": LIMITS.open_files, "RLIMIT_CORE": 0}
    request: dict[str, Any] = {
        "parent": os.getpid(), "canary": canary, "limits": limits, "scratch_bytes": LIMITS.scratch_bytes,
        "host_name": kernel.HOST_NAME,
    }  # fmt: skip
    for name, why in _seen_from_outside(worker.worker_pid()).items():
        missing.setdefault(name, why)
    held = cast("dict[str, bool]", json.loads(worker.ask(json.dumps(request).encode(), LIMITS.wall_s)))
    for name, standing in held.items():
        if not standing:
            missing.setdefault(name, "a worker got past it")
    return missing


def _seen_from_outside(pid: int | None) -> dict[str, str]:
    """What /proc shows to be missing; a link that may not be read shows nothing."""
    status = sight.status_of(pid)
    found: dict[str, str] = {}
    for name, file in _SPACE_FILES.items():
        if sight.same_namespace(pid, file):
            found[name] = "the kernel shows the worker in our own"
    if any(int(status.get(field, "1"), 16) for field in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")):
        found["no capabilities"] = "the kernel shows some on the worker"
    if status.get("NoNewPrivs") != "1":
        found["no new privileges"] = "the kernel does not show it"
    if status.get("Seccomp") != "2":
        found["seccomp"] = "the kernel shows no filter on the worker"
    return found
