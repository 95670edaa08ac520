"""A program's timeline as a trace file that Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) open.

The form is Chrome's JSON of trace events: complete events with begin and length in microseconds, a row for kernels,
launch gaps and the ways of copies. Times are simulated; the host's own are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from warpsight.lens.whole_program import ProgramProfile
from warpsight.nouns import TimelineEvent
from warpsight.vgpu.symbols import kernel_title

ROWS = {
    "launch": 1, "host to device": 3, "device to host": 4, "within the device": 5, "fill": 6,
}  # fmt: skip
GAPS = 2


def chrome_trace(found: ProgramProfile) -> str:
    """The whole file."""
    run = found.run
    about = {
        "program": run.program, "gpu": run.gpu, "source": "simulated by Warpsight", "copies": f"data sheet, {run.link}",
        "left_out": found.left_out, "kernel_us": run.kernel_us, "copy_us": run.copy_us, "launch_gap_us": found.gap_us,
    }  # fmt: skip
    events = [*_names(run.program, run.gpu, run.link), *(one for event in found.timeline for one in _events(event))]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": about})


def _names(program: str, gpu: str, link: str) -> Iterator[dict[str, Any]]:
    yield _meta("process_name", 0, f"{program} on {gpu} (simulated)")
    titles = {1: "kernels", GAPS: "launch gaps", 3: f"host to device, {link}", 4: f"device to host, {link}",
              5: "copies within the device", 6: "fills"}  # fmt: skip
    for row, title in titles.items():
        yield _meta("thread_name", row, title)
        yield {"ph": "M", "pid": 1, "tid": row, "name": "thread_sort_index", "args": {"sort_index": row}}


def _meta(name: str, row: int, value: str) -> dict[str, Any]:
    return {"ph": "M", "pid": 1, "tid": row, "name": name, "args": {"name": value}}


def _events(event: TimelineEvent) -> Iterator[dict[str, Any]]:
    common = {"pid": 1, "cat": event.way}
    begin = event.start_us + event.gap_us
    if event.way != "launch":
        yield {
            **common, "ph": "X", "tid": ROWS[event.way], "name": event.way, "ts": event.start_us, "dur": event.time_us,
            "args": {"bytes": event.size_bytes},
        }  # fmt: skip
        return
    facts = {"grid": list(event.grid), "block": list(event.block), "repeated": event.repeated}
    name = kernel_title(event.name)
    if not event.timed:
        yield {**common, "ph": "i", "s": "t", "tid": 1, "name": f"{name} (no time)", "ts": begin, "args": facts}
        return
    if event.gap_us:
        yield {**common, "ph": "X", "tid": GAPS, "name": "launch", "ts": event.start_us, "dur": event.gap_us}
    yield {**common, "ph": "X", "tid": 1, "name": name, "ts": begin, "dur": event.time_us, "args": facts}
