"""What Ray can do here: whether it is new enough, whether the cluster that is named answers. Starts nothing."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Mapping
from importlib import metadata

from warpsight.verbs.doctor_probe import Probe

NAME = "extra scale"
OLDEST = (2, 49)
USES = "corpus build, train traces, bench run, bench apply, tune, optimize (best-of-n and beam)"
INSTALL = "pip install 'warpsight[scale]'"
ANSWER_S = 2.0


def ray_probe(environment: Mapping[str, str] = os.environ) -> Probe:
    """One line: what `--on ray` would do now."""
    if importlib.util.find_spec("ray") is None:
        return Probe(NAME, "absent", f"optional: `--on ray` on many machines, for {USES}", INSTALL)
    version = metadata.version("ray")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < OLDEST:
        return Probe(NAME, "absent", f"ray {version} is installed and too old", INSTALL)
    found = f'ray {version} is installed; `--on ray` for {USES}; `on = "ray"` in a file of train rl'
    address = environment.get("RAY_ADDRESS", "")
    if address and not _answers(address):
        return Probe(NAME, "absent", f"{found}; nothing answers at RAY_ADDRESS={address}", "ray status")
    where = f"joins the cluster at {address}" if address else f"starts a cluster of this machine's {_cores()} cores"
    client = "" if importlib.util.find_spec("grpc") else "; ray://HOST:PORT needs pip install 'ray[client]'"
    return Probe(NAME, "ok", f"{found}; without an address it {where}{client}")


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _answers(address: str) -> bool:
    """Whether a program listens there; `auto` and `local` are not looked up."""
    host, _, port = address.partition("://")[2].rpartition(":") if "://" in address else address.rpartition(":")
    if not port.isdecimal():
        return True
    try:
        with socket.create_connection((host, int(port)), timeout=ANSWER_S):
            return True
    except OSError:
        return False
