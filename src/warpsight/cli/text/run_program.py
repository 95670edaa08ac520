"""The account of a program's run, for people, on stderr: its own output has stdout to itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from warpsight.nouns import KernelLaunches, WholeRun

MOST_ROWS = 8
ENDED = {
    "signal": "crashed", "time_limit": "stopped: out of time", "too_much_memory": "stopped: too much memory",
    "bad_request": "stopped: it broke the rules of the channel", "lost": "lost", "interrupted": "interrupted",
}  # fmt: skip


def show_run(run: WholeRun) -> None:
    sys.stdout.flush()
    sys.stderr.write("\n".join(lines_of(run)) + "\n")


def lines_of(run: WholeRun) -> Iterator[str]:
    """Launches, kernels, time, what went wrong."""
    yield ""
    if run.end != "exited":
        yield f"warpsight: the program was {ENDED[run.end]}: {run.detail}"
    names = {row.kernel for row in run.kernels}
    skipped = f", {run.skipped:,} of them repeats that were not run again" if run.skipped else ""
    launches, kernels = counted(run.launches, "launch", "launches"), counted(len(names), "kernel", "kernels")
    yield f"warpsight: {launches} of {kernels}{skipped}; exit code {run.exit_code}"
    if not run.asked:
        yield "warpsight: it never asked for a GPU; a program that is built needs `nvcc -cudart=shared`"
    timed = [row for row in run.kernels if row.time_us is not None]
    if timed:
        whole = duration(run.kernel_us + run.copy_us)
        yield f"warpsight: {whole} simulated on {run.gpu}: kernels {duration(run.kernel_us)}{_copies(run)}"
    whole = run.kernel_us or 1.0
    for row in timed[:MOST_ROWS]:
        yield _row(row, whole)
    if len(timed) > MOST_ROWS:
        yield f"  and {len(timed) - MOST_ROWS} more sizes of launches (--json has all)"
    yield from _untimed(run)
    yield from _libraries(run)
    faults = [f for f in run.faults if not f.warning]
    if run.faults:
        where = [f"{(f.file or f.kernel).rpartition('/')[2]}:{f.fault.line}" for f in run.faults]
        warnings = counted(len(run.faults) - len(faults), "warning", "warnings")
        said = f"{counted(len(faults), 'fault', 'faults')}, {warnings}"
        yield f"warpsight: {said}: {', '.join(dict.fromkeys(where))}"
    if run.missing:
        yield f"warpsight: called, and not provided: {', '.join(run.missing)}"


def _copies(run: WholeRun) -> str:
    if not run.copies:
        return ""
    count = sum(row.count for row in run.copies)
    return f", {counted(count, 'copy or fill', 'copies and fills')} {duration(run.copy_us)} by data sheet ({run.link})"


def _libraries(run: WholeRun) -> Iterator[str]:
    """Calls that ran on the host."""
    if run.libraries:
        total = sum(row.time_us for row in run.libraries)
        yield f"warpsight: calls of libraries, computed on the host: {duration(total)} by roofline, a lower bound"
    for row in run.libraries[:MOST_ROWS]:
        yield f"  {row.count:7,} x {duration(row.time_us / max(1, row.count)):>9}  {row.function}"


def _row(row: KernelLaunches, whole: float) -> str:
    share = 100 * (row.time_us or 0.0) / whole
    each = (row.time_us or 0.0) / max(1, row.launches)
    size = f"{'x'.join(map(str, row.grid))} blocks of {'x'.join(map(str, row.block))}"
    return (
        f"  {share:5.1f} %  {row.launches:7,} x {duration(each):>9}  {plain(row.kernel)}  {size}, bound by {row.bound}"
    )


def _untimed(run: WholeRun) -> Iterator[str]:
    reasons: dict[str, int] = {}
    for row in run.kernels:
        if row.time_us is None and row.no_time != "not asked for":
            text = f"{plain(row.kernel)}: {row.no_time}"
            reasons[text] = reasons.get(text, 0) + row.launches
    for reason, count in list(reasons.items())[:MOST_ROWS]:
        yield f"  no time for {count:,} launches of {reason}"


def counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def duration(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}"
    return f"{us:.3g} us"


def plain(name: str) -> str:
    """A kernel's name as it stands in the source, with template arguments, so that instances can be told apart."""
    from warpsight.vgpu.symbols import kernel_title

    return kernel_title(name)
