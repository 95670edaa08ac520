"""Several configurations at once: the trials, and so the winner, are those of one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tuning.conftest import example

from warpsight.errors import UsageError
from warpsight.processes.executor import Executor, Here, Processes
from warpsight.tuning.ahead import order_ahead
from warpsight.tuning.declared import space_of
from warpsight.tuning.journal import TuningJournal
from warpsight.tuning.records import TuneRequest
from warpsight.tuning.run import Tuned, plan, tune
from warpsight.tuning.search import EXHAUSTIVE, RANDOM, chosen_strategy
from warpsight.tuning.space import Configurations

VALUES = {"TILE": (8, 16, 32), "ROWS": (2, 8)}


def planned(strategy: str, tries: int = 60) -> TuneRequest:
    task, kernel = example("transpose_tiled")
    return plan(task, kernel, space_of(task, kernel, None, VALUES), tries=tries, secret_seed=7, strategy=strategy)


def tuned(asked: TuneRequest, folder: Path, executor: Executor | None) -> Tuned:
    return tune(TuningJournal.create(asked, folder), folder / "ledger", executor=executor)


@pytest.mark.parametrize(("strategy", "tries"), [(EXHAUSTIVE, 60), (RANDOM, 3)])
def test_the_trials_are_those_of_one_after_the_other(strategy: str, tries: int, tmp_path: Path) -> None:
    asked = planned(strategy, tries)
    one = tuned(asked, tmp_path / "one", None)
    many = tuned(asked, tmp_path / "many", Processes(2))

    def lines(found: Tuned) -> list[dict[str, object]]:
        return [trial.model_dump(exclude={"seconds"}) for trial in found.trials]

    assert lines(many) == lines(one) and len(one.trials) == min(tries, one.configurations)
    assert many.kernel == one.kernel and many.stopped == one.stopped


def test_an_interrupted_one_goes_on_with_several(tmp_path: Path) -> None:
    asked = planned(EXHAUSTIVE)
    journal = TuningJournal.create(asked, tmp_path / "tuning")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    first = tune(journal, tmp_path / "ledger", watch=stop, executor=Here())
    assert first.stopped == "interrupted" and len(first.trials) == 1
    whole = tune(journal, tmp_path / "ledger", executor=Here())
    assert whole.stopped == "all_tried" and whole.trials[0] == first.trials[0]


def test_what_looks_at_results_cannot_be_tried_at_once() -> None:
    task, kernel = example("transpose_tiled")
    space = Configurations(task, kernel, space_of(task, kernel, None, VALUES))
    with pytest.raises(UsageError, match="tpe chooses each configuration by the results before it"):
        order_ahead(planned("tpe"), space)
    with pytest.raises(UsageError, match="times on opencl are measured one after another"):
        order_ahead(planned(RANDOM).model_copy(update={"device": "opencl"}), space)
    assert chosen_strategy("auto", "virtual", 50, 20, at_once=True)[0] == RANDOM
    assert chosen_strategy("auto", "virtual", 20, 20, at_once=True)[0] == EXHAUSTIVE
