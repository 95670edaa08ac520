"""A corpus, one task of it and trials of defects, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.corpus.build import CorpusRow
    from warpsight.corpus.stats import Stats
    from warpsight.corpus.trial import DefectTrial


def show_trials(console: Console, found: Sequence[DefectTrial]) -> None:
    for number, where in enumerate(found[0].ratios, start=1):
        console.print(f"({number}) {where}", markup=False)
    console.print("time with the defect over the fast kernel's (simulated):")
    for trial in found:
        ratios = " ".join(f"{ratio:6.2f}" for ratio in trial.ratios.values())
        console.print(f"  {' + '.join(trial.defects):36} {ratios}  {trial.says}".rstrip(), markup=False)


def show_row(console: Console, row: CorpusRow, kernel: str) -> None:
    size = ", ".join(f"{axis} = {value}" for axis, value in row.spec.size.items())
    console.print(f"task {row.number}: {row.spec.family}, {size}, on {row.spec.gpu}\n", markup=False)
    console.print(kernel, markup=False)
    console.print(f"{row.truth.time_us:.2f} us (simulated); the family's fast kernel {row.truth.fast_us:.2f} us")
    for defect, time in sorted(row.truth.without_us.items(), key=lambda item: item[1]):
        console.print(f"  without {defect:18} {time:8.2f} us  {row.truth.time_us / time:.2f}x", markup=False)
    console.print(f"right to recommend: {', '.join(row.truth.right)}", markup=False)


def show_built(console: Console, found: Stats, unfit: Path) -> None:
    show_stats(console, found)
    if unfit.exists():
        console.print(f"some draws were left out as unfit: see {unfit}", markup=False)


def show_stats(console: Console, found: Stats) -> None:
    console.print(f"{found.tasks} tasks of {len(found.families)} families on {', '.join(found.gpus)}", markup=False)
    console.print(
        f"best single removal: {found.median_gain:.2f}x (median), {found.geomean_gain:.2f}x (geometric mean), simulated"
    )
    console.print(f"all defects removed: {found.geomean_gain_of_all:.2f}x (geometric mean, simulated)")
    console.print(f"with a defect in the text that does not matter: {found.with_trap:.0%}")
    console.print(f"where nothing helps: {found.nothing:.0%}")
    console.print(f"always the most common answer is right: {found.most_common_answer:.0%}")
    if found.text_decides is not None:
        console.print(
            f"the best guess from the text alone is right: {found.text_decides:.0%}"
            f" (of {found.texts_seen_twice} tasks whose text occurs more than once)"
        )
    if found.text_carries is not None:
        console.print(f"the answer of one task is right for another of the same text: {found.text_carries:.0%}")
    for kind, many in found.answers.items():
        console.print(f"  {kind:20} {many}", markup=False)


def show_outcomes(console: Console, found: Mapping[str, Any], file: Path) -> None:
    console.print(f"{found['tries']} tries of {found['tasks']} tasks, in {file} ({found['lines']} lines)", markup=False)
    console.print(
        f"the fastest known kernel: {found['best_speedup']:.2f}x (geometric mean, simulated); "
        f"a single rewrite: {found['single_speedup']:.2f}x",
        markup=False,
    )
    if found["without_tries"]:
        console.print(f"lines without tries: {found['without_tries']}; `reason` says why", markup=False)
    console.print("version: " + ", ".join(f"{name} {value}" for name, value in found["version"].items()), markup=False)
