"""How often the first finding, followed blindly, is the defect that matters: corpus tasks of one split, by family.

`causes:train` looks at the training families, `causes:test` at the held-out ones; `causes:train,60` takes 60 tasks
spread over the file, `causes:train,,mistakes` lists what went wrong. The truth is measured anew with today's time
model, as `corpus build` measures it but without the gate's check, which the tasks passed when the corpus was made.
Profiles and times are kept by content, so a change of the findings alone is judged in seconds. All times are simulated:
this judges findings against the time model, not against hardware.
"""

from __future__ import annotations

import functools
import gzip
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from warpsight.bench.rivals import answer_of
from warpsight.corpus.build import CorpusRow, read_rows
from warpsight.corpus.specs import plain_of, task_of
from warpsight.corpus.truth import BelowRoof, measure
from warpsight.lens.findings import find
from warpsight.nouns import Finding, Profile
from warpsight.session.parts import parts_digest
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.packages import compiler_identity
from warpsight.tools.open import open_box

RESULTS = Path(__file__).parents[1] / "results"
SEED = 1  # of the contents that are profiled, as the bench does


class Judged(NamedTuple):
    """One task: what the first finding says, what is right now, and what was right when the corpus was made."""

    row: CorpusRow
    findings: tuple[Finding, ...]
    said: str
    right: tuple[str, ...]

    @property
    def hit(self) -> bool:
        return self.said in self.right


@functools.cache
def _store() -> Cache:
    folder = cache_folder()
    return Cache(folder / "causes" if folder else None)


def profile_of(row: CorpusRow) -> Profile:
    """The counters of a task's kernel; kept while the simulator and the compiler are the same."""
    key = content_key(
        "profile", row.spec.key, plain_of(row.spec)[0], compiler_identity(), parts_digest("vgpu", "devices")
    )
    kept = _store().get(key)
    if kept is None:
        task = task_of(row.spec, plain_of(row.spec)[0])
        found = open_box(task, seed=SEED, cores=1).session.counters(task.kernel)
        kept = gzip.compress(found.model_dump_json().encode())
        _store().put(key, kept)
    return Profile.model_validate_json(gzip.decompress(kept))


def judge(row: CorpusRow) -> Judged | None:
    """None where today's time model contradicts the roofline: no corpus would have the task."""
    try:
        right = measure(row.spec, checked=True).right
    except BelowRoof:
        return None
    findings = find(profile_of(row))
    said = answer_of([finding.name for finding in findings], skip_unknown=False)
    return Judged(row, findings, said, right)


def main(argument: str = "train") -> None:
    split, count, word = (*argument.split(","), "", "")[:3]
    rows = read_rows(RESULTS / f"{split}.jsonl")
    wanted = rows[:: max(1, len(rows) // int(count))][: int(count)] if count else rows
    found: list[Judged] = []
    for done, row in enumerate(wanted, start=1):
        one = judge(row)
        found += [] if one is None else [one]
        if done % 60 == 0:
            print(f"  {done} of {len(wanted)} tasks looked at", flush=True)
    if word == "mistakes":
        _mistakes(found)
    _by("family", found, lambda one: (one.row.spec.family,))
    _by("right answer", found, lambda one: one.right)
    stale = sum(set(one.right) != set(one.row.truth.right) for one in found)
    old = sum(one.said in one.row.truth.right for one in found)
    print(f"  by the truth in the file: {_share(old, len(found))}; {stale} of {len(found)} answers have changed since")
    print(f"  {len(wanted) - len(found)} of {len(wanted)} tasks are left out: their time is below the roofline today")
    print(f"first finding is the right answer, families of split {split}: {_share(sum(map(_hit, found)), len(found))}")


def _hit(one: Judged) -> bool:
    return one.hit


def _by(what: str, found: list[Judged], keys: Callable[[Judged], Iterable[str]]) -> None:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in found:
        for key in keys(one):
            groups[key].append(one)
    print(f"  by {what}:")
    for key, some in sorted(groups.items()):
        wrong = Counter(one.said for one in some if not one.hit)
        said = ", ".join(f"{name} {count}" for name, count in wrong.most_common(4))
        print(f"    {key:20} {_share(sum(map(_hit, some)), len(some))}{'; else ' + said if said else ''}")


def _mistakes(found: list[Judged]) -> None:
    for one in found:
        if not one.hit:
            said = ", ".join(f"{f.name} {f.estimated_gain or 0:.2f}x" for f in one.findings) or "nothing"
            print(f"  {one.row.number} {one.row.spec.key}: right {', '.join(one.right)}; found {said}")


def _share(some: int, of: int) -> str:
    return f"{some} of {of} ({100 * some / max(1, of):.0f} %)"
