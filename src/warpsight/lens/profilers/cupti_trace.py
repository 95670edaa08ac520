"""Runs a Python program with CUPTI's kernel records on, and writes them: `cupti_trace.py RECORDS PROGRAM.py WORDS...`.

One line of JSON a launch, in the order they were given, then a closing line that counts them: a file without it is cut
short. Knows nothing of kernels. The program's own folder is not put where Python looks for packages: our workers bring
what they need, and a `cuda.py` lies beside them. Never imported by others. Written against cupti-python 13's documented
interface; not run on a GPU by us.
"""

from __future__ import annotations

import json
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).parent]  # cupti.py is there

BUFFER_BYTES = 8 << 20
FORCED = 1  # CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: records of launches that have not ended too


def main(records: Path, program: str, words: list[str]) -> None:
    cupti: Any = import_module("cupti").cupti
    kind = cupti.ActivityKind.CONCURRENT_KERNEL
    seen: list[dict[str, Any]] = []

    def completed(activities: list[Any]) -> None:
        seen.extend(record(one) for one in activities if int(one.kind) == int(kind))

    cupti.activity_register_callbacks(lambda: (BUFFER_BYTES, 0), completed)
    cupti.activity_enable(kind)
    sys.argv = [program, *words]
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        cupti.activity_flush_all(FORCED)
        cupti.activity_disable(kind)
    closing = {"end": True, "records": len(seen), "device": gpu_name()}
    records.write_text("".join(f"{json.dumps(line)}\n" for line in (*seen, closing)), encoding="utf-8")


def record(one: Any) -> dict[str, Any]:
    """What we keep of a kernel record."""
    return {
        "name": str(one.name),
        "start": int(one.start),
        "end_ns": int(one.end),
        "grid": [int(one.grid_x), int(one.grid_y), int(one.grid_z)],
        "block": [int(one.block_x), int(one.block_y), int(one.block_z)],
        "registers": int(one.registers_per_thread),
        "static_shared": int(one.static_shared_memory),
        "dynamic_shared": int(one.dynamic_shared_memory),
    }


def gpu_name() -> str:
    """The name of the one GPU that the program saw; empty where it cannot be asked."""
    try:
        return str(import_module("cuda.core").Device(0).name)
    except Exception:  # a name is not worth losing the records for
        return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
