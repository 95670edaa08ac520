"""Rivals of the suite `budget`: scripts that try changes in some order, with the same tools and as many tries.

`findings` goes by the findings' estimated gains, `what-if` by what a simulation without each cause says, `ranker` by
boosted trees on the same look, `most-common` by how often a change is best in training, `random` by chance; `oracle`
knows the table. Each tries its first choice that has a rewrite, goes on with the next, and says what gave most; where
nothing did, what it would try next. What must stay true: all but `oracle` know of a task what a look shows, and which
rewrites exist.
"""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from warpsight.causes import NOTHING, TIE, with_behind
from warpsight.corpus.outcomes import OutcomeLine, OutcomeTable, change_values, is_within
from warpsight.errors import UsageError
from warpsight.learn.ranker import Ranker, train_ranker
from warpsight.models.model import Model, Request
from warpsight.models.scripted import ScriptedModel
from warpsight.models.text_calls import CLOSE, OPEN
from warpsight.short.budget_box import BudgetBox
from warpsight.short.prompting import CAUSE, TRY, WHICH, changes
from warpsight.tools.box import SUBMIT

BUDGET_RIVALS = ("findings", "what-if", "ranker", "most-common", "random", "oracle")
LEARN = ("ranker", "most-common")


def play_in_order(name: str, order: Sequence[str], box: BudgetBox) -> Model:
    """Try these in turn, the first rewrite for each, then again from the start where tries are left."""
    todo = list(order)
    asked: list[str] = []

    def play(_request: Request) -> str:
        while box.left and todo:
            cause = todo.pop(0)
            if cause == NOTHING:  # a word to say; a try that is left costs nothing more
                continue
            if box.next_for(cause) is not None:
                asked.append(cause)
                if cause not in todo:
                    todo.append(cause)
                return call(TRY, {CAUSE: cause})
        return call(SUBMIT, {CAUSE: said(box, order, asked)})

    return ScriptedModel(play, name=name)


def said(box: BudgetBox, order: Sequence[str], asked: Sequence[str]) -> str:
    """What gave most of what was tried; where nothing helped, the next of the order that was not tried."""
    steps: list[tuple[float, str]] = []
    before = 1.0
    for one in box.log:
        steps.append((one.speed / before, one.cause))
        before = max(before, one.speed)
    best = max(steps, default=(1.0, ""), key=lambda step: step[0])
    if best[0] >= TIE:
        return best[1]
    return next((cause for cause in order if cause not in asked), NOTHING)


def play_oracle(name: str, line: OutcomeLine, table: OutcomeTable, box: BudgetBox) -> Model:
    """The shortest way to the fastest kernel that the table knows within these tries, and the best change's name."""
    ways = [(one.speed, -len(way.way), (*way.way, one.name)) for way in table.ways(line.task) for one in way.tries]
    within = [found for found in ways if len(found[2]) <= box.tries and found[0] > 1]
    todo = list(max(within)[2]) if within else []
    values = change_values(line)
    best = max(sorted(values), key=lambda answer: values[answer])
    named = next((answer for answer in line.truth.right if is_within(line, answer)), best) if line.truth else best

    def play(_request: Request) -> str:
        if not todo:
            return call(SUBMIT, {CAUSE: named})
        cause, _, number = todo.pop(0).partition("#")
        return call(TRY, {CAUSE: cause, WHICH: int(number) + 1})

    return ScriptedModel(play, name=name)


def open_budget_rival(
    name: str, box: BudgetBox, *, task: str, family: str, table: OutcomeTable | None, train: Path | None
) -> Model:
    """The rival of that name for one conversation. UsageError where the table does not have the task."""
    line = table.line(task) if table is not None else None
    if name not in BUDGET_RIVALS:
        raise UsageError(f"expected a rival of {', '.join(BUDGET_RIVALS)} in the suite budget, got {name!r}")
    if name in LEARN and train is None:
        raise UsageError(f"rival {name} needs a table of training tasks", hint="--train TABLE")
    if name != "random" and (table is None or line is None or line.look is None):
        raise UsageError(
            f"rival {name} needs {task} in a table of outcomes", hint="warpsight corpus outcomes TASKS OUT"
        )
    if name == "oracle" and line is not None and table is not None:
        return play_oracle(f"rival:{name}", line, table, box)
    order = _order_of(name, line, box, family=family, task=task, train=train)
    return play_in_order(f"rival:{name}", order, box)


def _order_of(
    name: str, line: OutcomeLine | None, box: BudgetBox, *, family: str, task: str, train: Path | None
) -> list[str]:
    """The causes in the order of this rival; what it has no word on comes last, as rewrites are known."""
    first: list[str] = []
    if name == "random" or line is None or line.look is None:
        shuffled = [*box.can_try, NOTHING]
        random.Random(f"budget {task}").shuffle(shuffled)
        return shuffled
    if name == "findings":
        first = _pointed_at(one for one, _ in (*line.look.findings, *line.look.smaller))
    elif name == "what-if":
        first = _pointed_at(one for one, gain in sorted(line.look.what_if, key=lambda item: -item[1]) if gain >= TIE)
    elif train is not None and name == "most-common":
        first = list(_most_common(train, family))
    elif train is not None:
        return _ranker(train, family).order(line)
    return list(dict.fromkeys((*first, *box.can_try)))


def _pointed_at(names: Iterable[str]) -> list[str]:
    """The causes that findings point at, each finding's most likely ones in turn."""
    known = set(changes())
    return list(dict.fromkeys(cause for name in names for cause in with_behind(name) if cause in known))


@functools.lru_cache(maxsize=2)
def _given(train: Path) -> tuple[OutcomeLine, ...]:
    lines = OutcomeTable.read(train).given()
    if any(line.split != "train" for line in lines):
        raise UsageError(f"{train} has tasks that nobody learns from", hint="a table of --split train")
    return tuple(lines)


@functools.lru_cache(maxsize=64)
def _ranker(train: Path, family: str) -> Ranker:
    return train_ranker(_given(train), without=family)


@functools.lru_cache(maxsize=64)
def _most_common(train: Path, family: str) -> tuple[str, ...]:
    """Answers by how often they are as good as the best, in other families."""
    count: Counter[str] = Counter()
    for line in _given(train):
        if line.family != family:
            count.update(answer for answer in change_values(line) if is_within(line, answer))
    return tuple(sorted(count, key=lambda answer: (-count[answer], answer)))


def call(tool: str, arguments: dict[str, object]) -> str:
    return f"{OPEN}{json.dumps({'name': tool, 'arguments': arguments})}{CLOSE}"
