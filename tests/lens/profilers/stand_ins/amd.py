"""rocprofv3, as far as our command lines go: it runs a program of the HIP device's stand-in and writes AMD's tables.

The launches are those that the program really made; their times and counters are made up, since nothing simulates AMD's
GPUs here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.lens.profilers.stand_ins.ways import Way, end_early, hang, number

TIMES = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
)
COUNTERS = (
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
    '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n'
)
COUNTS = {"FETCH_SIZE": 8192.5, "WRITE_SIZE": 4096.0, "SQ_INSTS_VMEM_RD": 1024.0, "SQ_INSTS_VMEM_WR": 512.0}
"""What this GPU counts; of the others rocprofv3 leaves no file, and ends with status 0."""
STARTED, TOOK_NS = 1551401624448706, 10520


def rocprofv3(words: Sequence[str], way: Way, gpu: str, marks: str) -> int:
    at = list(words).index("--")
    parser = argparse.ArgumentParser(prog="rocprofv3", allow_abbrev=False)
    parser.add_argument("--kernel-trace", action="store_true", required=True)
    parser.add_argument("--pmc", nargs="+", default=[])
    parser.add_argument("--kernel-include-regex", default="")
    parser.add_argument("--output-format", choices=["csv", "json", "pftrace"], required=True)
    parser.add_argument("-d", dest="folder", type=Path, required=True)
    parser.add_argument("-o", dest="name", required=True)
    asked = parser.parse_args(words[:at])
    if way == "hangs":
        hang(marks)
    with tempfile.NamedTemporaryFile() as file:
        environment = {**os.environ, "STAND_IN_LAUNCHES": file.name}
        status = subprocess.run(words[at + 1 :], env=environment, check=False).returncode
        launches = [json.loads(line) for line in Path(file.name).read_text().splitlines()]
    launches = [one for one in launches if re.search(asked.kernel_include_regex, one["name"])]
    if way == "sees nothing" or not launches:
        return status
    table = _times(launches) if not asked.pmc else _counts(launches, asked.pmc, way)
    if table:
        ending = "counter_collection" if asked.pmc else "kernel_trace"
        asked.folder.mkdir(parents=True, exist_ok=True)
        text = table[: -len(table) // 4] if way == "ends early" else table
        (asked.folder / f"{asked.name}_{ending}.csv").write_text(text)
    if way == "ends early":
        end_early()
    return status


def _times(launches: Sequence[dict[str, list[int]]]) -> str:
    rows = [
        f'"KERNEL_DISPATCH","Agent 4",1,0,4711,{at},10,"{one["name"]}",{at},{STARTED + 20000 * at},'
        f"{STARTED + 20000 * at + TOOK_NS},0,0,8,0,16,{','.join(map(str, one['block']))},"
        f"{','.join(str(g * b) for g, b in zip(one['grid'], one['block'], strict=True))}\n"
        for at, one in enumerate(launches, start=1)
    ]
    return TIMES + "".join(rows)


def _counts(launches: Sequence[dict[str, list[int]]], wanted: Sequence[str], way: Way) -> str:
    rows = [
        f'{at},{at},"Agent 4",1,4711,4711,{one["grid"][0] * one["block"][0]},10,"{one["name"]}",{one["block"][0]},0,0,'
        f'8,0,16,"{name}","{number(COUNTS[name], way)}",{STARTED},{STARTED + TOOK_NS}\n'
        for at, one in enumerate(launches, start=1)
        for name in wanted
        if name in COUNTS
    ]
    return COUNTERS + "".join(rows) if rows else ""


TOOLS: dict[str, Callable[[Sequence[str], Way, str, str], int]] = {"rocprofv3": rocprofv3}
