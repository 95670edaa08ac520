"""Jobs, replies and documents on their own."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import JsonValue

from warpsight.errors import UsageError
from warpsight.lens import tokens
from warpsight.runs.artefacts import Artefacts
from warpsight.serve.documents import Documents
from warpsight.serve.jobs import MOST_KEPT, MOST_WAITING, Jobs, Say, ServedCall
from warpsight.serve.reply import ServedReply, shortened
from warpsight.serve.service import told
from warpsight.tools.task_box import tools


def ended(job: ServedCall[Any]) -> Any:
    done = threading.Event()
    with job.watched(done.set):
        while not job.ended:
            done.wait(10)
            done.clear()
    return job.result


def test_jobs_run_in_order_one_at_a_time() -> None:
    jobs: Jobs[int] = Jobs()
    running, seen = threading.Lock(), list[int]()

    def work(number: int) -> int:
        assert running.acquire(blocking=False)
        seen.append(number)
        running.release()
        return number

    started = [jobs.start(lambda _say, number=number: work(number)) for number in range(20)]
    assert [ended(job) for job in started] == seen == list(range(20))
    assert jobs.find(started[0].handle) is started[0]


def test_a_job_says_what_it_does() -> None:
    jobs: Jobs[None] = Jobs()
    go, heard = threading.Event(), list[str]()

    def work(say: Say) -> None:
        go.wait(10)
        say("one")
        say("two")

    job = jobs.start(work)
    with job.watched(lambda: heard.append(job.doing)):
        go.set()
        ended(job)
    assert heard[-3:] == ["one", "two", "two"] and job.seconds > 0


def test_a_failed_job_does_not_stop_the_others() -> None:
    jobs: Jobs[int] = Jobs()

    def fail(_say: Say) -> int:
        raise ValueError("broken")

    first, second = jobs.start(fail), jobs.start(lambda _say: 2)
    assert ended(first) is None and ended(second) == 2


def test_a_job_that_is_cancelled_ends_at_its_next_word_or_never_begins() -> None:
    jobs: Jobs[str] = Jobs()
    at_work, go, begun = threading.Event(), threading.Event(), list[str]()

    def work(say: Say, name: str) -> str:
        begun.append(name)
        at_work.set()
        go.wait(10)
        say("more")
        return name

    first, second, third = (jobs.start(lambda say, name=name: work(say, name)) for name in "abc")
    assert at_work.wait(10)
    first.cancel()
    second.cancel()
    go.set()
    assert (ended(first), ended(second), ended(third)) == (None, None, "c")
    assert begun == ["a", "c"] and first.cancelled and second.cancelled and not third.cancelled
    third.cancel()
    assert not third.cancelled and third.result == "c", "one that has ended keeps its result"


def test_a_job_that_says_nothing_more_keeps_its_result() -> None:
    jobs: Jobs[int] = Jobs()
    at_work, go = threading.Event(), threading.Event()

    def work(_say: Say) -> int:
        at_work.set()
        go.wait(10)
        return 7

    job = jobs.start(work)
    assert at_work.wait(10)
    job.cancel()
    go.set()
    assert ended(job) == 7 and not job.cancelled


def test_too_many_jobs_are_refused_and_old_ones_forgotten() -> None:
    jobs: Jobs[int] = Jobs()
    go = threading.Event()
    first = jobs.start(lambda _say: int(go.wait(10)))
    while first.doing != "starting":
        pass
    waiting = [jobs.start(lambda _say: 0) for _ in range(MOST_WAITING)]
    with pytest.raises(UsageError, match="wait already"):
        jobs.start(lambda _say: 0)
    go.set()
    ended(waiting[-1])
    for _ in range(MOST_KEPT):
        ended(jobs.start(lambda _say: 0))
    with pytest.raises(UsageError, match="no job has the handle"):
        jobs.find(first.handle)


def test_a_record_that_is_too_long_is_cut_and_fits_its_schema() -> None:
    rows: list[JsonValue] = [
        {"line": line, "text": f"IMAD R{line}, R1, R2", "stall_percent": None, "executed": 7} for line in range(1, 400)
    ]
    data: dict[str, JsonValue] = {"kernel": "c000000", "view": "sass", "rows": rows, "reason": ""}
    short, cut = shortened(data, tools()["inspect"].output, 500)
    jsonschema.validate(short, tools()["inspect"].output)
    assert tokens(json.dumps(short)) <= 500 and short["rows"] == rows[: len(short["rows"])]  # type: ignore[arg-type]
    assert cut == (f"rows: {len(short['rows'])} of 399",)  # type: ignore[arg-type]
    assert shortened(short, tools()["inspect"].output, 500) == (short, ())


def test_open_tables_are_cut_and_records_are_not() -> None:
    counters: dict[str, JsonValue] = {f"counter_{number}": float(number) for number in range(400)}
    data: dict[str, JsonValue] = {"kernel": "c000000", "profiled": True, "counters": counters, "findings": []}
    short, cut = shortened(data, tools()["profile"].output, 300)
    assert cut and tokens(json.dumps(short)) <= 300
    fit: dict[str, JsonValue] = {"threads": 1, "limited_by": [], "said": "x" * 9000}
    assert shortened({"fit": fit}, tools()["device"].output, 10) == ({"fit": fit}, ())


def test_failures_become_words(capfd: pytest.CaptureFixture[str]) -> None:
    def wrong() -> ServedReply:
        raise UsageError("expected this, got that", hint="try this")

    def fault() -> ServedReply:
        raise KeyError("/a/secret/path")

    assert told(wrong).text == "error: expected this, got that\n  try: try this"
    assert told(fault).is_error and "secret" not in told(fault).text
    assert "KeyError" in capfd.readouterr().err


def test_only_profiles_and_results_can_be_read(tmp_path: Path) -> None:
    documents = Documents(tmp_path)
    uri = documents.put_result("inspect", {"rows": [1, 2]})
    assert json.loads(documents.read(uri)) == {"tool": "inspect", "result": {"rows": [1, 2]}}
    other = Artefacts(tmp_path / "artefacts").put(b'{"messages": "of a run"}')
    for address in (f"warpsight://profile/{other}", f"warpsight://result/{other}", uri.replace("result", "profile")):
        with pytest.raises(UsageError, match="it is something else"):
            documents.read(address)
    for address in (f"warpsight://run/{other}", "warpsight://result/../../x", f"warpsight://result/{other}/", ""):
        with pytest.raises(UsageError, match="no document"):
            documents.read(address)
