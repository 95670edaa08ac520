"""nvprof: times on NVIDIA GPUs before compute capability 8.0, and counters before 7.5, which ncu does not all support.

Reads `--metrics` and `--print-gpu-trace` in CSV. A metric over several launches is nvprof's own average. Written from
NVIDIA's documentation and tried on output re-created from published samples; not run on a GPU by us.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpsight.lens.measured import plain_name
from warpsight.lens.profilers.availability import Availability, look
from warpsight.lens.profilers.failures import BrokenOutput, NothingProfiled, NotSupported, refusal
from warpsight.lens.profilers.process import run_tool
from warpsight.lens.profilers.tables import Row, Table, read_table
from warpsight.lens.profilers.times import KernelTime, of_kernel, profile_from, profile_of
from warpsight.lens.vocabulary import tidy
from warpsight.nouns import Dim3, Profile

NAME = "nvprof"
HOW = "install a CUDA toolkit before 13 (nvprof was part of it); from compute capability 7.5 on only ncu counts"
PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda-1[0-2]*/bin")
AGAIN = "run nvprof with --csv again"
Sum = tuple[tuple[float, str], ...]
FORMULAS: Mapping[str, tuple[Sum, ...]] = {
    "instructions": (((1, "inst_executed"),),),
    "flops": (((1, "flop_count_sp"), (1, "flop_count_dp")),),
    "lanes_per_instruction": (((0.32, "warp_execution_efficiency"),),),
    "global_load_sectors": (((1, "gld_transactions"),),),
    "global_load_efficiency": (((1, "gld_efficiency"),),),
    "global_load_sectors_per_request": (((1, "gld_transactions_per_request"),),),
    "global_store_sectors": (((1, "gst_transactions"),),),
    "global_store_efficiency": (((1, "gst_efficiency"),),),
    "global_store_sectors_per_request": (((1, "gst_transactions_per_request"),),),
    "local_sectors": (((1, "local_load_transactions"), (1, "local_store_transactions")),),
    "shared_load_requests": (((1, "inst_executed_shared_loads"),),),
    "shared_store_requests": (((1, "inst_executed_shared_stores"),),),
    "shared_wavefronts": (((1, "shared_load_transactions"), (1, "shared_store_transactions")),),
    "branch_efficiency": (((1, "branch_efficiency"),),),
    "issued_per_cycle": (((1, "issued_ipc"),),),
    "busy_issue": (((1, "issue_slot_utilization"),),),
    "l2_bytes": (((32, "l2_tex_read_transactions"), (32, "l2_tex_write_transactions")),),
    "dram_bytes": (
        ((1, "dram_read_bytes"), (1, "dram_write_bytes")),
        ((32, "dram_read_transactions"), (32, "dram_write_transactions")),
    ),
}
"""Our counters as weighted sums of nvprof's metrics; the first sum that has all its parts is used."""
TRANSACTIONS = "transactions of nvprof stand for sectors of 32 bytes; before Maxwell some of them are of 128"
_TO_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def available() -> Availability:
    return look(NAME, how=HOW, places=PLACES)


def argv(
    program: Sequence[str], *, log: Path, path: str = NAME, kernel: str = "", metrics: Sequence[str] = ()
) -> list[str]:
    """The command for counters of one kernel; without metrics, for the time of every launch."""
    words = [path, "--csv", "--normalized-time-unit", "us", "--log-file", str(log)]
    if not metrics:
        return [*words, "--print-gpu-trace", *program]
    only = ["--kernels", f"^{re.escape(kernel)}$"] if kernel else []  # holds for the metrics named after it
    return [*words, *only, "--metrics", ",".join(metrics), *program]


def metrics_for(counters: Sequence[str]) -> tuple[str, ...]:
    """The metrics that these counters are made of, for `argv`."""
    wanted = [name for counter in counters if counter in FORMULAS for _, name in FORMULAS[counter][0]]
    return tuple(dict.fromkeys(wanted))


def parse(text: str, kernel: str | None = None) -> Profile:
    """The table of `--metrics`, to a Profile of one kernel."""
    columns = ("Device", "Kernel", "Invocations", "Metric Name", "Avg")
    table = read_table(text, columns, tool=NAME, numeric=("Min", "Max", "Avg"), again=AGAIN)
    names = list(dict.fromkeys(row["Kernel"] for row in table.rows))
    wanted = kernel or (plain_name(names[0]) if len(names) == 1 else None)
    rows = [row for row in table.rows if wanted in (row["Kernel"], plain_name(row["Kernel"]))]
    if not rows:
        raise NothingProfiled(NAME, f"no counters of `{wanted}`; kernels: {'; '.join(names[:20])}", "name one of these")
    values = {row["Metric Name"]: value for row in rows if (value := table.number(row, "Avg")) is not None}
    counters = {name: found for name, sums in FORMULAS.items() if (found := _value(sums, values)) is not None}
    if not counters:
        raise BrokenOutput(NAME, "none of its metrics has a name that we know", "ask for those of `metrics_for`")
    launches = f"counters: average of {rows[0]['Invocations']} launches by nvprof"
    notes = (launches, *((TRANSACTIONS,) if any("transactions" in name for name in values) else ()))
    return profile_from(plain_name(rows[0]["Kernel"]), rows[0]["Device"], counters, blocks=None, notes=notes)


def parse_trace(text: str) -> tuple[KernelTime, ...]:
    """The table of `--print-gpu-trace`: every kernel launch; the row under the header has the units."""
    columns = ("Start", "Duration", "Grid X", "Name")
    table = read_table(text, columns, tool=NAME, numeric=("Start", "Duration"), again=AGAIN)
    unit = table.rows[0]["Duration"]
    if unit not in _TO_US:
        raise BrokenOutput(NAME, f"expected the unit of the durations under the header, found {unit!r}", AGAIN)
    found = [_launch(table, row, _TO_US[unit]) for row in table.rows[1:] if row["Grid X"].strip()]
    if not found:
        raise NothingProfiled(NAME, "the trace has no kernel, only copies and fills", "profile a run that launches one")
    return tuple(found)


def measure(
    program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float, metrics: Sequence[str] | None = None
) -> Profile:
    """Counters of the kernel in one run, its time from another, as one Profile."""
    path = available().required()
    chosen = metrics_for(tuple(FORMULAS)) if metrics is None else metrics
    times = of_kernel(parse_trace(_run(program, folder, deadline_s, path, kernel, ())), kernel, NAME)
    timed = profile_of(times, tool=NAME)
    try:
        counted = parse(_run(program, folder, deadline_s, path, kernel, chosen), kernel)
    except NotSupported as problem:  # from compute capability 7.5 on it counts nothing, and times are worth having
        return timed.model_copy(update={"notes": (*timed.notes, f"no counters: {problem.message}")})
    both = dict(timed.counters) | dict(counted.counters)
    blocks = timed.total_blocks if "blocks" in timed.counters else None
    return profile_from(timed.kernel, timed.device, both, blocks=blocks, notes=(*timed.notes, *counted.notes))


def _run(
    program: Sequence[str], folder: Path, deadline_s: float, path: str, kernel: str, metrics: Sequence[str]
) -> str:
    log = folder / f"{kernel}.nvprof.csv"
    log.unlink(missing_ok=True)
    command = argv(program, log=log, path=path, kernel=kernel, metrics=metrics)
    said = run_tool(command, tool=NAME, deadline_s=deadline_s, folder=folder)
    text = log.read_text(errors="replace") if log.exists() else said.stdout + said.stderr
    if not log.exists() and said.status != 0:
        gave = f"exit status {said.status} and no output: {text.strip()[-300:]}"
        raise refusal(NAME, text) or NothingProfiled(NAME, gave, AGAIN)
    problem = refusal(NAME, "\n".join(line for line in text.splitlines() if line.startswith("==")))
    if isinstance(problem, NotSupported):
        raise problem
    return text


def _value(sums: Sequence[Sum], values: Mapping[str, float]) -> int | float | None:
    for parts in sums:
        if all(name in values for _, name in parts):
            return tidy(sum(weight * values[name] for weight, name in parts))
    return None


def _launch(table: Table, row: Row, to_us: float) -> KernelTime:
    duration, registers = table.number(row, "Duration"), table.number(row, "Registers Per Thread")
    if duration is None or duration < 0:
        raise BrokenOutput(NAME, f"a launch of {row['Name'][:80]} has no duration: {row['Duration']!r}", AGAIN)
    grid, block = (_dim(table, row, side) for side in ("Grid", "Block"))
    also = None if registers is None else {"registers_per_thread": int(registers)}
    return KernelTime(re.sub(r" \[\d+\]$", "", row["Name"]), row["Device"], duration * to_us, grid, block, also)


def _dim(table: Table, row: Row, side: str) -> Dim3 | None:
    x, y, z = (table.number(row, f"{side} {axis}") for axis in "XYZ")
    return None if x is None or y is None or z is None else (int(x), int(y), int(z))
