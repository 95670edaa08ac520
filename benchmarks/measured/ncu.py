"""Our counts beside those that Nsight Compute took on the card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from benchmarks.measured.predicted import Outcome
from benchmarks.measured.sets import Row
from benchmarks.measured.statistics import quantiles

Ncu = Mapping[str, float]
LEAST = 1000.0  # fewer of a thing say nothing of a ratio


def _sum(*names: str) -> Callable[[Ncu], float]:
    return lambda ncu: sum(ncu[name] for name in names)


PAIRS: dict[str, tuple[str, Callable[[Ncu], float]]] = {
    "DRAM sectors": ("dram_sectors", _sum("dram__sectors_read.sum", "dram__sectors_write.sum")),
    "DRAM read sectors": ("dram_read_sectors", _sum("dram__sectors_read.sum")),
    "DRAM write sectors": ("dram_write_sectors", _sum("dram__sectors_write.sum")),
    "L2 sectors": ("l2_sectors", _sum("lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum")),
    "L2 read sectors": ("l2_read_sectors", _sum("lts__t_sectors_op_read.sum")),
    "L2 write sectors": ("l2_write_sectors", _sum("lts__t_sectors_op_write.sum")),
    "shared wavefronts": (
        "shared_wavefronts",
        _sum(
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        ),
    ),
    "global load requests": (
        "global_load_requests",
        _sum("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    ),
    "local store sectors": ("local_store_sectors", _sum("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")),
    "instructions": ("instructions", _sum("smsp__inst_executed.sum")),
}


def ratios(rows: Iterable[tuple[Row, Outcome]]) -> dict[str, tuple[int, float, float, float]]:
    """Of each counter that both have: n, and ours over theirs at 10, 50 and 90 %."""
    found: dict[str, list[float]] = {}
    for row, outcome in rows:
        for name, (ours, theirs) in PAIRS.items():
            if row.ncu and ours in outcome.counts and (real := theirs(row.ncu)) >= LEAST:
                found.setdefault(name, []).append(outcome.counts[ours] / real)
    return {name: (len(values), *quantiles(values)) for name, values in found.items()}
