"""`make redteam`: run every attack, print what was tried and what was caught, by name. Exit 1 if anything got through.

ARGS are words: only attacks whose file name has one of them in it are run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from redteam.elsewhere import ELSEWHERE
from redteam.entries import all_attacks
from redteam.kernels import Outcome
from redteam.run import run_all

WANTED_SHARE = 0.95


def main(words: list[str]) -> int:
    attacks = [a for a in all_attacks() if not words or any(w in a.name for w in words)]
    outcomes: list[Outcome] = []
    for outcome in run_all(attacks):
        outcomes.append(outcome)
        print(line_of(outcome), flush=True)
    print("\n".join(summary(outcomes, everything=not words)))
    improved = any(o.improved for o in outcomes)
    return int(improved or sum(o.caught for o in outcomes) < WANTED_SHARE * len(outcomes))


def line_of(o: Outcome) -> str:
    verdict = "IMPROVED" if o.improved else "caught" if o.caught else "other reason"
    wanted = "" if o.caught else f" (expected {' or '.join(o.attack.expect)}) {o.detail}"
    return f"{o.attack.id:9} {o.attack.device:8} {verdict:13} {o.found:22} {o.seconds:5.1f} s  {o.attack.name}{wanted}"


def summary(outcomes: list[Outcome], everything: bool) -> Iterator[str]:
    caught, improved = sum(o.caught for o in outcomes), sum(o.improved for o in outcomes)
    yield f"\ntried {len(outcomes)}, rejected for the right reason {caught}, scored as an improvement {improved}"
    if everything:
        yield "\nentries of the list that have no meaning here:"
        yield from (f"  {identity:5} {why}" for identity, why in ELSEWHERE.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
