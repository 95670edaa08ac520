"""Work ahead: how often a call was foreseen, the CPU seconds that calls no longer take, and those spent for nothing.

A script plays a model that does what the profile says: profile, the rewrite for the first finding, the same of what
came of it, submit. Between two calls it "writes" for `reply=SECONDS` (8 by default). Each conversation runs in a
process of its own with an empty cache, once without work ahead and once with it. `force` works ahead on a busy machine
too, where nothing would be: seconds are CPU seconds, so the numbers stand. A model that asks otherwise has fewer hits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu_seconds import task_folders
from benchmarks.cpu_stages import below_s
from warpsight.rewrite import rewritten_for
from warpsight.tasks import read_task
from warpsight.tools import ahead
from warpsight.tools.box import ToolResult
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox

TASKS = ("transpose", "held-out-30", "held-out-90")
REPLY_S = 8.0


@dataclass
class Conversation:
    """What one took: `hits` of `foreseeable` calls were done ahead, `foreseen` is how many things were."""

    hits: int = 0
    foreseeable: int = 0
    foreseen: int = 0
    calls_s: float = 0.0
    total_s: float = 0.0


def cpu_s() -> float:
    return time.process_time() + sum(below_s(int(child)) for child in _children())


def _children() -> list[str]:
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()


def converse(folder: str, reply_s: float, works_ahead: bool, force: bool) -> None:
    """One conversation, in this process; prints what it took."""
    if force:
        ahead.is_idle = lambda: True
    box, took = open_box(read_task(Path(folder)), ahead=works_ahead), Conversation()
    first = ask(box, took, reply_s, "profile", base="given")
    made = ask(box, took, reply_s, "rewrite", base="given", cause=cause_of(first))
    base = made.made is not None
    again = ask(box, took, reply_s, "profile", base="current" if base else "given")
    ask(box, took, reply_s, "rewrite", base="current" if base else "given", cause=cause_of(again))
    ask(box, took, reply_s, "submit", base="current" if base else "given")
    took.foreseen = len(box.ahead.done) if box.ahead else 0
    took.total_s = cpu_s()
    print(json.dumps(asdict(took)))
    box.close()


def ask(box: TaskBox, took: Conversation, reply_s: float, name: str, **arguments: Any) -> ToolResult:
    if box.ahead is not None:
        time.sleep(reply_s)
    what = f"{name} {arguments['cause']}" if "cause" in arguments else name
    text = box.kernels()[arguments["base"]]
    took.foreseeable += name != "submit"
    took.hits += box.ahead is not None and any((one.kernel, one.what) == (text, what) for one in box.ahead.done)
    began = cpu_s()
    found = box.call(name, arguments)
    took.calls_s += cpu_s() - began
    return found


def cause_of(profile: ToolResult) -> str:
    findings: Any = profile.data.get("findings") or [{"name": "uncoalesced"}]
    return next(iter(rewritten_for(findings[0]["name"])), "uncoalesced")


def main(argument: str = "") -> None:
    words = [word for word in argument.split(",") if word]
    reply_s = next((float(word[6:]) for word in words if word.startswith("reply=")), REPLY_S)
    forced = "force" in words
    asked = [word[5:] for word in words if word.startswith("task=")] or TASKS
    found: dict[bool, list[Conversation]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="ahead-") as folder:
        tasks = task_folders(Path(folder))
        for name in asked:
            for works_ahead in (False, True):
                environment = {**os.environ, "WARPSIGHT_CACHE": str(Path(folder) / f"cache-{name}-{works_ahead}")}
                call = f"a.converse({str(tasks[name])!r}, {reply_s}, {works_ahead}, {forced})"
                code = [sys.executable, "-c", f"import benchmarks.ahead as a; {call}"]
                done = subprocess.run(code, capture_output=True, text=True, env=environment, check=False, timeout=900)
                if done.returncode:
                    raise SystemExit(done.stderr[-2000:])
                found[works_ahead].append(Conversation(**json.loads(done.stdout.splitlines()[-1])))
                print(f"  {name:14} {'ahead' if works_ahead else 'plain'}  {done.stdout.strip()}", flush=True)
    plain, with_it = found[False], found[True]
    n, hits, asked = len(plain), sum(c.hits for c in with_it), sum(c.foreseeable for c in with_it)
    saved = sum(c.calls_s for c in plain) - sum(c.calls_s for c in with_it)
    more = sum(c.total_s for c in with_it) - sum(c.total_s for c in plain)
    print(f"hits: {hits} of {asked} calls; things found out ahead: {sum(c.foreseen for c in with_it)}")
    print(f"CPU seconds a conversation: {saved / n:.2f} fewer in calls, {more / n:.2f} more in all (wasted); n = {n}")
