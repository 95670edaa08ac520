"""The short tools in workers: what they give is what they give here, and the same call is made once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.learn.rows import small_row

from warpsight.corpus.specs import plain_of, task_of
from warpsight.processes.executor import Executor, Here, Processes
from warpsight.short.box import SmallBox, store
from warpsight.short.box_elsewhere import BoxElsewhere, BoxPlace
from warpsight.tools.box import ToolResult

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("profile", {}),
    ("rewrite", {"causes": ["any"]}),
    ("submit", {"cause": "nothing"}),
]


def place() -> BoxPlace:
    row = small_row(0, "saxpy", ("uncoalesced",))
    return BoxPlace(task_of(row.spec), "optimize", "curated", False, plain_of(row.spec), True, False)


@pytest.mark.parametrize("executor", [Here(), Processes(2)], ids=["here", "processes"])
def test_calls_elsewhere_give_what_calls_here_give(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = place()
    with executor.calls() as at:
        box = BoxElsewhere(at, made)
        with ThreadPoolExecutor(6) as threads:
            asked = [threads.submit(box.call, *one) for one in (*ASKED, *ASKED)]
            found = [one.result() for one in asked]
    here = made.open()
    for result, again, one in zip(found[:3], found[3:], ASKED, strict=True):
        assert result == again
        assert _seen(result) == _seen(here.call(*one)), one[0]


def _seen(result: ToolResult) -> tuple[Any, ...]:
    """What a model sees, and what its reward is made of."""
    return result.text, result.is_error, result.submitted, result.made, result.evaluation and result.evaluation.timing


def test_the_same_call_is_made_once_and_a_failure_is_not_kept() -> None:
    calls: list[str] = []

    def at(_work: Any, unit: Any) -> ToolResult:
        calls.append(unit.name)
        if len(calls) == 1:
            raise RuntimeError("a node ended")
        return ToolResult(text="done")

    box = BoxElsewhere(at, place())
    with pytest.raises(RuntimeError, match="a node ended"):
        box.call("profile", {})
    assert box.call("profile", {}).text == box.call("profile", {}).text == "done"
    assert calls == ["profile", "profile"]
    assert isinstance(box, SmallBox) and store() is not None
