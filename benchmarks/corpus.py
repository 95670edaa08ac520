"""Corpus tasks built per minute, cold and warm, and where the time of a cold one goes. The truth is simulated; the
seconds are this machine's."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from warpsight.corpus.build import build_corpus
from warpsight.corpus.families import families
from warpsight.corpus.looks import Spent, store
from warpsight.corpus.specs import draw_specs
from warpsight.corpus.truth import BelowRoof, measure

TASKS = int(os.environ.get("WARPSIGHT_BENCH_TASKS", "40"))
ALONE = 12
SEED = 20_26


@contextlib.contextmanager
def empty_cache(folder: Path) -> Iterator[None]:
    """Nothing that was compiled or looked at before is found."""
    before = os.environ.get("WARPSIGHT_CACHE")
    os.environ["WARPSIGHT_CACHE"] = str(folder)
    store.cache_clear()
    try:
        yield
    finally:
        os.environ.pop("WARPSIGHT_CACHE")
        if before is not None:
            os.environ["WARPSIGHT_CACHE"] = before
        store.cache_clear()


def per_minute(file: Path, cores: int) -> float:
    start, before = time.perf_counter(), cpu_s()
    rows = build_corpus(file, seed=SEED, split="train", count=TASKS, cores=cores)
    seconds, used = time.perf_counter() - start, cpu_s() - before
    drawn = rows[-1].draw + 1
    print(f"  {len(rows)} tasks of {drawn} drawn in {seconds:.1f} s; {used / drawn:.2f} CPU seconds a draw", flush=True)
    return 60 * len(rows) / seconds


def cpu_s() -> float:
    """CPU seconds of this process and of those it waited for: unlike the clock, they do not depend on the load."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def where_it_goes(folder: Path) -> None:
    """One process, the same draws, no cache: seconds by what they went into."""
    spent: Spent = {}
    start = time.perf_counter()
    with empty_cache(folder):
        for spec in itertools.islice(draw_specs(SEED, "train"), ALONE):
            with contextlib.suppress(BelowRoof):
                measure(spec, spent)
    whole = time.perf_counter() - start
    spent["the rest"] = whole - sum(spent.values())
    print(f"{ALONE} tasks in one process, cold: {whole:.1f} s")
    for what, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"  {what:14} {seconds:6.1f} s  {seconds / whole:5.0%}")


def main() -> dict[str, float]:
    cores = os.cpu_count() or 1
    print(f"load average {os.getloadavg()[0]:.1f}, {len(families())} families")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with empty_cache(folder / "cache"):
            cold = per_minute(folder / "cold.jsonl", cores)
            print(f"cold, {cores} cores: {cold:.0f} tasks a minute")
            print(f"warm, {cores} cores: {per_minute(folder / 'warm.jsonl', cores):.0f} tasks a minute")
        where_it_goes(folder / "alone")
    return {"corpus": cold}
