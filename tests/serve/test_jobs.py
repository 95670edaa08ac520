"""Jobs that need a worker: turns between conversations, the same work done once, a full server, a cancelled call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from warpsight.errors import UsageError
from warpsight.serve import jobs as module
from warpsight.serve.jobs import Jobs, Later, ServedCall

Work = Callable[[ServedCall[Any], int], Any]


def ended(job: ServedCall[Any]) -> Any:
    done = threading.Event()
    with job.watched(done.set):
        while not job.ended:
            assert done.wait(20), job.doing
            done.clear()
    return job.result


def later(work: Work, key: str) -> Callable[[Any], Later[Any]]:
    return lambda _say: Later(key, work)


def test_conversations_take_turns() -> None:
    """One that asks for much does not come before one that asks for little."""
    jobs: Jobs[str] = Jobs(workers=1)
    go, order = threading.Event(), list[str]()

    def work(name: str) -> Work:
        def run(_job: ServedCall[Any], _number: int) -> str:
            go.wait(20)
            order.append(name)
            return name

        return run

    many = [jobs.start(later(work(f"much {n}"), f"m{n}"), "much") for n in range(6)]
    few = jobs.start(later(work("little"), "l"), "little")
    go.set()
    assert [ended(job) for job in many] == [f"much {n}" for n in range(6)] and ended(few) == "little"
    assert order.index("little") <= 1


def test_workers_work_at_the_same_time_and_a_conversation_has_one_call_under_way() -> None:
    jobs: Jobs[int] = Jobs(workers=2)
    both = threading.Barrier(2, timeout=20)

    def meet(_job: ServedCall[Any], number: int) -> int:
        both.wait()
        return number

    one, other = (jobs.start(later(meet, name), name) for name in "ab")
    assert {ended(one), ended(other)} == {0, 1}
    at_once, most = [0], [0]

    def alone(_job: ServedCall[Any], _number: int) -> int:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        time.sleep(0.01)
        at_once[0] -= 1
        return 1

    same = [jobs.start(later(alone, f"k{n}"), "same") for n in range(5)]
    assert [ended(job) for job in same] == [1] * 5 and most == [1]


def test_the_same_work_is_done_once() -> None:
    jobs: Jobs[int] = Jobs(workers=2)
    go, kept, done = threading.Event(), dict[str, int](), list[int]()

    def run(_job: ServedCall[Any], number: int) -> int:
        go.wait(20)
        done.append(number)
        kept["same"] = 7
        return 7

    def begin(_say: Any) -> int | Later[int]:
        return kept.get("same") or Later("same", run)

    asked = [jobs.start(begin, f"conversation {n}") for n in range(10)]
    go.set()
    assert [ended(job) for job in asked] == [7] * 10 and len(done) == 1


def test_where_the_first_is_cancelled_the_next_does_the_work() -> None:
    jobs: Jobs[str] = Jobs(workers=1)
    begun, go = threading.Event(), threading.Event()

    def run(job: ServedCall[Any], _number: int) -> str:
        begun.set()
        go.wait(20)
        job.say("more")
        return job.conversation

    first = jobs.start(later(run, "same"), "first")
    assert begun.wait(20)
    second = jobs.start(later(run, "same"), "second")
    first.cancel()
    go.set()
    assert ended(first) is None and first.cancelled and ended(second) == "second" and not jobs.busy


def test_a_cancelled_job_that_waits_has_ended_at_once_and_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_IN_ALL", 3)
    jobs: Jobs[int] = Jobs(workers=1)
    go = threading.Event()

    def wait(_job: ServedCall[Any], _number: int) -> int:
        return int(go.wait(20))

    asked = [jobs.start(later(wait, f"k{n}"), f"c{n}") for n in range(3)]
    with pytest.raises(UsageError, match=r"the server is full: 3 calls wait already\n  try: call again in \d+ seconds"):
        jobs.start(later(wait, "more"), "more")
    asked[2].cancel()
    until = time.monotonic() + 20
    while not asked[2].ended and time.monotonic() < until:
        time.sleep(0.01)
    assert asked[2].ended and asked[2].result is None
    more = jobs.start(later(wait, "more"), "more")
    go.set()
    assert [ended(job) for job in (asked[0], asked[1], more)] == [1, 1, 1] and not jobs.busy
