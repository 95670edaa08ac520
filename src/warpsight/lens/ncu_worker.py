"""Reads a report of Nsight Compute with NVIDIA's reader, in the jail. Never imported by others; serves one file.

The reader is native code that trusts the file: a damaged one crashes it, hangs it or makes it ask for all memory.
Request 1 is the file; the answer names its kernels. Request 2 is the number of one; the answer is all that is said of
it, as plain JSON. Whatever the reader raises is an answer with a problem. Nothing is interpreted here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parents[1] / "jail"))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

FOLDER = "--folder="  # where the reader lies
FILE = "report.ncu-rep"


def action_rows(action: Any, measures: dict[str, str]) -> dict[str, Any]:
    """Everything that a profile needs, in JSON."""
    names = [str(name) for name in action.metric_names()]
    metrics: dict[str, Any] = {}
    for name in names:
        value, unit = action[name].value(), str(action[name].unit())
        if isinstance(value, int | float | str):
            metrics[name] = [value, unit]
    columns = {ours: by_address(action[theirs]) for ours, theirs in measures.items() if theirs in names}
    addresses = sorted(int(address) for address, _ in columns.get("warps", []))
    return {
        "kernel": str(action.name()), "names": names, "metrics": metrics, "columns": columns,
        "places": [place_of(action, address) for address in addresses],
        "sources": {str(file): str(text) for file, text in dict(action.source_files()).items()},
    }  # fmt: skip


def place_of(action: Any, address: int) -> list[Any]:
    """Address, instruction, file and line."""
    place = action.source_info(address)
    where = [None, None] if place is None else [str(place.file_name()), int(place.line())]
    return [address, str(action.sass_by_pc(address)), *where]


def by_address(metric: Any) -> list[list[float]]:
    """The values of single instructions, each with its address."""
    if not metric.num_instances() or not metric.has_correlation_ids():
        return []
    ids = metric.correlation_ids()
    return [[int(ids.value(k)), metric.value(k)] for k in range(metric.num_instances())]


def answered(make: Any) -> Any:
    """What came of it, or the problem in words."""
    try:
        answer, result = make()
    except MemoryError:
        raise
    except Exception as problem:
        answer, result = {"problem": f"{type(problem).__name__}: {problem}"}, None
    worker_io.write_frame(json.dumps(answer).encode())
    return result


def main() -> None:
    """Load the reader, lock the door, answer twice."""
    sys.path.extend(word.removeprefix(FOLDER) for word in sys.argv[1:] if word.startswith(FOLDER))
    import ncu_report  # pyright: ignore[reportMissingImports]

    reader: Any = ncu_report
    worker_io.lock_down("work")
    content = worker_io.read_frame()
    if content is None:
        return

    def open_report() -> tuple[dict[str, Any], Any]:
        Path(FILE).write_bytes(content)
        context = reader.load_report(FILE)
        actions = [part.action_by_idx(k) for part in context for k in range(part.num_actions())]
        return {"kernels": [str(action.name()) for action in actions]}, (context, actions)

    opened = answered(open_report)
    asked = worker_io.read_frame()
    if opened is None or asked is None:
        return
    chosen = json.loads(asked)
    answered(lambda: (action_rows(opened[1][chosen["index"]], chosen["measures"]), None))


if __name__ == "__main__":
    main()
