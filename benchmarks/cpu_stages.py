"""Runs one `warpsight` command in this process and writes how many CPU seconds each stage of it took.

Stages of this process are measured around the calls that do them, those of jailed processes when they have ended. An
import inside a stage counts as import alone. Used by `cpu_seconds.py`; CPU_STAGES names the file to write.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import json
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

seconds: dict[str, float] = defaultdict(float)
counts: dict[str, int] = defaultdict(int)
stack: list[list[Any]] = []  # the stages that are open: name, and CPU seconds of stages inside
unseen = 0.0  # CPU seconds of children that no wait tells
WORKERS = {
    "worker.py": "NVRTC process",
    "tool_worker.py": "nvdisasm process",
    "listing_worker.py": "nvdisasm process",
    "oracle_worker.py": "reference process",
    "probe_worker.py": "probe of the jail",
}


def timed(stage: str | Callable[..., str], call: Callable[..., Any]) -> Callable[..., Any]:
    """The same call, whose CPU seconds in this process count for the stage, but for those of stages inside it."""

    def measured(*args: Any, **more: Any) -> Any:
        stack.append([stage if isinstance(stage, str) else stage(**more), 0.0])
        began = time.process_time()
        try:
            return call(*args, **more)
        finally:
            spent = time.process_time() - began
            name, inside = stack.pop()
            seconds[name] += spent - inside
            counts[name] += 1
            if stack:
                stack[-1][1] += spent

    return measured


def launched(*, check: bool, count: bool, **_more: Any) -> str:
    return "core, checked" if check else "core, counting" if count else "core, plain"


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def below_s(pid: int) -> float:
    """CPU seconds of a process and of all below it. The kernel forgets those of a process namespace that is ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    return own + sum(below_s(int(child)) for child in children)


def watch_imports() -> None:
    plain = builtins.__import__

    def measured(name: str, *args: Any, **more: Any) -> Any:
        if name in sys.modules or (stack and stack[-1][0] == "imports"):
            return plain(name, *args, **more)
        return importing(name, *args, **more)

    importing = timed("imports", plain)
    builtins.__import__ = measured


def watch_workers() -> None:
    """Which program each jail ran, and its CPU seconds when it was waited for."""
    jail: Any = importlib.import_module("warpsight.jail.worker")
    kinds = dict[int, str]()
    start, end = jail._start_stage, jail._end

    def started(config: dict[str, Any], fds: Any) -> Any:
        stage = start(config, fds)
        files = [Path(word).name for word in config["argv"]]
        kinds[stage.pid] = next((WORKERS[name] for name in files if name in WORKERS), "other jailed processes")
        return stage

    def ended(stage: Any, *args: Any) -> None:
        global unseen
        before, shown = children_s(), below_s(stage.pid)
        end(stage, *args)
        waited = children_s() - before
        unseen += max(0.0, shown - waited)
        seconds[kinds[stage.pid]] += max(shown, waited)
        counts[kinds[stage.pid]] += 1

    jail._start_stage, jail._end = started, ended


def watch_calls() -> None:
    from warpsight.vgpu import _core, machine  # noqa: F401

    core: Any = _core
    core.launch = timed(launched, core.launch)
    for name in ("simulate", "simulate_sm"):
        if hasattr(core, name):
            setattr(core, name, timed("SM simulation", getattr(core, name)))
    cache: Any = importlib.import_module("warpsight.toolchain.cache")
    for name in ("get", "put"):
        setattr(cache.Cache, name, timed("cache files", getattr(cache.Cache, name)))


def report() -> None:
    own = resource.getrusage(resource.RUSAGE_SELF)
    total = own.ru_utime + own.ru_stime + children_s() + unseen
    stages = {name: (round(spent, 4), counts[name]) for name, spent in seconds.items()}
    Path(os.environ["CPU_STAGES"]).write_text(json.dumps({"total_s": round(total, 4), "stages": stages}))


if __name__ == "__main__":
    atexit.register(report)
    watch_imports()
    from warpsight.cli.app import main  # timed

    watch_workers()
    watch_calls()
    sys.argv[0] = "warpsight"
    main()
