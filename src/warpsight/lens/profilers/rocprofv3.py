"""rocprofv3 and its forerunner rocprof: counters and times on AMD GPUs, from their CSV files.

An AMD wavefront has 64 lanes and its units are not NVIDIA's, so only counters that mean the same are put into our
vocabulary; all others stand in the notes under AMD's names. Written from AMD's documentation and tried on output
re-created from published samples; not run on a GPU by us.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpsight.lens.measured import plain_name
from warpsight.lens.profilers.availability import Availability, look
from warpsight.lens.profilers.failures import BrokenOutput, NothingProfiled, refusal
from warpsight.lens.profilers.process import run_tool
from warpsight.lens.profilers.tables import Row, Table, read_table
from warpsight.lens.profilers.times import KernelTime, of_kernel, profile_from, profile_of
from warpsight.lens.vocabulary import tidy
from warpsight.nouns import Dim3, Profile

NAME = "rocprofv3"
OLD = "rocprof"
HOW = "install ROCm's profiler (package rocprofiler-sdk); rocprofv3 then lies in /opt/rocm/bin"
PLACES = ("/opt/rocm/bin", "/opt/rocm-*/bin")
AGAIN = "run it again with --output-format csv; a counter that the GPU does not have leaves no file and exit status 0"
SAME: Mapping[str, tuple[tuple[float, str], ...]] = {
    "dram_bytes": ((1024, "FETCH_SIZE"), (1024, "WRITE_SIZE")),
    "global_load_requests": ((1, "SQ_INSTS_VMEM_RD"),),
    "global_store_requests": ((1, "SQ_INSTS_VMEM_WR"),),
    "branches": ((1, "SQ_INSTS_BRANCH"),),
    "mix_tensor": ((1, "SQ_INSTS_MFMA"),),
    "busy_alu": ((1, "VALUBusy"),),
}
"""Our counters as weighted sums of AMD's; FETCH_SIZE and WRITE_SIZE are in KiB."""
SPELLED = {"FetchSize": "FETCH_SIZE", "WriteSize": "WRITE_SIZE"}
GROUPS = (("FETCH_SIZE",), ("WRITE_SIZE",), ("SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_BRANCH"), ("VALUBusy",))
"""What to collect, one run each: the hardware cannot count all of them at once."""
_DISPATCH = ("Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value")
_OLD_COLUMNS = frozenset((
    "Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr", "lds", "scr", "arch_vgpr",
    "accum_vgpr", "vgpr", "sgpr", "wave_size", "fbar", "sig", "obj", "DispatchNs", "BeginNs", "EndNs", "CompleteNs",
    "DurationNs",
))  # fmt: skip


def available() -> Availability:
    return look(NAME, how=HOW, places=PLACES)


def old_available() -> Availability:
    return look(OLD, how=HOW, places=PLACES)


def argv(
    program: Sequence[str], *, folder: Path, path: str = NAME, kernel: str | None = None, counters: Sequence[str] = ()
) -> list[str]:
    """The command for one group of counters, or for the times alone; files go to `folder`, their names begin `out`."""
    words = [path, "--kernel-trace"]
    if counters:
        words += ["--pmc", *counters]
    if kernel is not None:
        words += ["--kernel-include-regex", re.escape(kernel)]
    return [*words, "--output-format", "csv", "-d", str(folder), "-o", "out", "--", *program]


def old_argv(program: Sequence[str], *, request: Path, output: Path, path: str = OLD) -> list[str]:
    """The command of the old rocprof; `request` holds what `old_request` makes."""
    return [path, "-i", str(request), "-o", str(output), "--timestamp", "on", *program]


def old_request(groups: Sequence[Sequence[str]], kernel: str | None = None) -> str:
    """The input file of the old rocprof: it runs the program once for each group."""
    lines = [f"pmc: {' '.join(group)}" for group in groups]
    return "\n".join([*lines, *([f"kernel: {kernel}"] if kernel else [])]) + "\n"


def parse_trace(text: str) -> tuple[KernelTime, ...]:
    """Every dispatch of a `_kernel_trace.csv`."""
    columns = ("Kernel_Name", "Start_Timestamp", "End_Timestamp")
    table = read_table(text, columns, tool=NAME, numeric=(), again=AGAIN)
    return tuple(_dispatch(table, row) for row in table.rows)


def parse(text: str, kernel: str | None = None) -> Profile:
    """A `_counter_collection.csv` (a row for each counter of each dispatch), to a Profile: the first dispatch."""
    table = read_table(text, _DISPATCH, tool=NAME, numeric=("Counter_Value",), again=AGAIN)
    rows = _rows_of(table, "Kernel_Name", kernel)
    first, values = rows[0]["Dispatch_Id"], _of_first(table, rows)
    if not values:
        raise BrokenOutput(NAME, "its counters have no values", AGAIN)
    dispatches = len({row["Dispatch_Id"] for row in rows})
    whole, group = table.number(rows[0], "Grid_Size"), table.number(rows[0], "Workgroup_Size")
    more = _resources(table, rows[0]) | ({"threads_per_block": int(group)} if group else {})
    blocks = int(whole // group) if whole and group else None
    note = f"counters: dispatch {first} of {dispatches} of this kernel, by rocprofv3"
    return _profile(plain_name(rows[0]["Kernel_Name"]), rows[0].get("Agent_Id", ""), values, more, blocks, note)


def parse_old(text: str, kernel: str | None = None) -> Profile:
    """The `results.csv` of the old rocprof (a row for each dispatch, a column for each counter): the first dispatch."""
    table = read_table(text, ("Index", "KernelName", "grd", "wgr"), tool=OLD, numeric=(), again=AGAIN)
    row = _rows_of(table, "KernelName", kernel, OLD)[0]
    values = {
        SPELLED.get(name, name): value
        for name in table.header
        if name not in _OLD_COLUMNS and (value := table.number(row, name)) is not None
    }
    more: dict[str, int | float] = {}
    begin, end = table.number(row, "BeginNs"), table.number(row, "EndNs")
    if begin is not None and end is not None:
        more["duration_us"] = (end - begin) / 1000
    whole, group = table.number(row, "grd"), table.number(row, "wgr")
    more |= {"threads_per_block": int(group)} if group else {}
    blocks = int(whole // group) if whole and group else None
    device = f"AMD GPU {row.get('gpu-id', '')}".strip()
    return _profile(
        _old_name(row["KernelName"]), device, values, more, blocks, "counters: the first dispatch, by rocprof"
    )


def measure(
    program: Sequence[str],
    kernel: str,
    *,
    folder: Path,
    deadline_s: float,
    groups: Sequence[Sequence[str]] = GROUPS,
) -> Profile:
    """The times from one run and each group of counters from another, as one Profile."""
    path = available().required()
    times = of_kernel(parse_trace(_run(program, kernel, (), folder / "times", path, deadline_s)), kernel, NAME)
    profile = profile_of(times, tool=NAME)
    counters, notes = dict(profile.counters), list(profile.notes)
    values: dict[str, float] = {}
    for at, group in enumerate(groups):
        try:
            values |= _values(_run(program, kernel, group, folder / f"group{at}", path, deadline_s), kernel)
        except (BrokenOutput, NothingProfiled) as problem:
            notes.append(f"not measured: {', '.join(group)} ({problem.message})")
    counters |= _same(values)
    blocks = profile.total_blocks if "blocks" in counters else None
    return profile_from(profile.kernel, profile.device, counters, blocks=blocks, notes=(*notes, *_others(values)))


def measure_old(program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float) -> Profile:
    """The same with the old rocprof, for systems that have only that."""
    path = old_available().required()
    request, output = folder / "rocprof.txt", folder / "rocprof.csv"
    output.unlink(missing_ok=True)
    request.write_text(old_request(GROUPS, kernel))
    command = old_argv(program, request=request, output=output, path=path)
    said = run_tool(command, tool=OLD, deadline_s=deadline_s, folder=folder)
    if not output.exists():
        text = said.stdout + said.stderr
        gave = f"exit status {said.status} and no {output.name}: {text.strip()[-300:]}"
        raise refusal(OLD, text) or NothingProfiled(OLD, gave, AGAIN)
    return parse_old(output.read_text(errors="replace"), kernel)


def _run(
    program: Sequence[str], kernel: str, counters: Sequence[str], folder: Path, path: str, deadline_s: float
) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.rglob("*.csv"):
        old.unlink()
    command = argv(program, folder=folder, path=path, kernel=kernel, counters=counters)
    said = run_tool(command, tool=NAME, deadline_s=deadline_s)
    ending = "counter_collection.csv" if counters else "kernel_trace.csv"
    found = next(iter(sorted(folder.rglob(f"*{ending}"))), None)
    if found is None:
        text = said.stdout + said.stderr
        gave = f"exit status {said.status} and no {ending}: {text.strip()[-300:]}"
        raise refusal(NAME, text) or NothingProfiled(NAME, gave, AGAIN)
    return found.read_text(errors="replace")


def _values(text: str, kernel: str) -> dict[str, float]:
    table = read_table(text, _DISPATCH, tool=NAME, numeric=("Counter_Value",), again=AGAIN)
    return _of_first(table, _rows_of(table, "Kernel_Name", kernel))


def _of_first(table: Table, rows: Sequence[Row]) -> dict[str, float]:
    """The counters of the first dispatch, by the names we use."""
    return {
        SPELLED.get(row["Counter_Name"], row["Counter_Name"]): value
        for row in rows
        if row["Dispatch_Id"] == rows[0]["Dispatch_Id"] and (value := table.number(row, "Counter_Value")) is not None
    }


def _rows_of(table: Table, column: str, kernel: str | None, tool: str = NAME) -> list[Row]:
    names = list(dict.fromkeys(row[column] for row in table.rows))
    if kernel is None and len(names) == 1:
        return list(table.rows)
    rows = [row for row in table.rows if kernel in (row[column], _old_name(row[column]))]
    if not rows:
        wanted = "which kernel is meant was not said" if kernel is None else f"no dispatch of `{kernel}`"
        raise NothingProfiled(tool, f"{wanted}; kernels: {'; '.join(names[:20])}", "give one of these names")
    return rows


def _dispatch(table: Table, row: Row) -> KernelTime:
    start, end = table.number(row, "Start_Timestamp"), table.number(row, "End_Timestamp")
    if start is None or end is None or end < start:
        raise BrokenOutput(NAME, f"a dispatch of {row['Kernel_Name'][:80]} has no start and end", AGAIN)
    block = _dim(table, row, "Workgroup_Size")
    items = _dim(table, row, "Grid_Size")  # AMD counts work items, CUDA blocks
    grid = tuple(-(-n // b) for n, b in zip(items, block, strict=True)) if items and block and all(block) else None
    agent = row.get("Agent_Id", "").strip()
    device = f"AMD {agent if agent.startswith('Agent') else f'agent {agent}'}".strip()
    blocks = (grid[0], grid[1], grid[2]) if grid else None
    return KernelTime(row["Kernel_Name"], device, (end - start) / 1000, blocks, block, _resources(table, row))


def _resources(table: Table, row: Row) -> dict[str, int | float]:
    named = {"registers_per_thread": "VGPR_Count", "static_shared_bytes": "LDS_Block_Size"}  # AMD tells all LDS in one
    return {ours: int(n) for ours, theirs in named.items() if (n := table.number(row, theirs)) is not None}


def _dim(table: Table, row: Row, side: str) -> Dim3 | None:
    x, y, z = (table.number(row, f"{side}_{axis}") for axis in "XYZ")
    return None if x is None or y is None or z is None else (int(x), int(y), int(z))


def _profile(
    kernel: str,
    agent: str,
    values: Mapping[str, float],
    more: Mapping[str, int | float],
    blocks: int | None,
    note: str,
) -> Profile:
    counters = _same(values) | dict(more) | ({"blocks": blocks} if blocks else {})
    device = agent if agent.startswith("AMD") else f"AMD {agent}".strip()
    return profile_from(kernel, device, counters, blocks=blocks, notes=(note, *_others(values)))


def _same(values: Mapping[str, float]) -> dict[str, int | float]:
    return {
        ours: tidy(sum(weight * values[name] for weight, name in parts))
        for ours, parts in SAME.items()
        if all(name in values for _, name in parts)
    }


def _others(values: Mapping[str, float]) -> tuple[str, ...]:
    used = {name for ours, parts in SAME.items() if ours in _same(values) for _, name in parts}
    told = ", ".join(f"{name} {tidy(value)}" for name, value in sorted(values.items()) if name not in used)
    return (f"AMD's counters that our vocabulary has no word for: {told}",) if told else ()


def _old_name(kernel: str) -> str:
    return plain_name(re.sub(r"( \[clone \.kd\]|\.kd)$", "", kernel))
