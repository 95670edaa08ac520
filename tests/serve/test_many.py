"""Many conversations at once: each ends with its own kernel and certificate, and nothing of it is another's."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.serving import GIVEN, MINE, Place, many

from warpsight.serve.conversations import Conversations
from warpsight.serve.inside import ToolServer
from warpsight.serve.settings import ServeSettings
from warpsight.tools.memory import KernelMemory


def test_a_small_load_over_http(tmp_path: Path) -> None:
    """The bench in small; the whole one has 200 clients: `python -m benchmarks serving`."""
    place = Place(tmp_path).make()
    with place.served() as (address, server):
        load = asyncio.run(many(address, server, clients=4, rate=40, seconds=0.5))
    assert load.lost == [] and load.mixed == []
    assert len(load.seconds) == 20
    assert len(list((place.data / "ledger" / "certificates").glob("*.json"))) == 4


def test_conversations_inside_a_process_do_not_meet(tmp_path: Path) -> None:
    place = Place(tmp_path).make()
    root = place.folder / "root"
    with ToolServer(ServeSettings((root,), place.data)) as server:
        one, other = server.talk("one"), server.talk()
        mine = MINE.format(number=1)
        timed = one.call("time", {"task": "twice", "kernel": mine})
        assert timed.data is not None and timed.data["kernel"] != "c000000"
        own = {"task": "twice", "base": str(timed.data["kernel"])}
        assert not one.call("compile", own).is_error
        refused = other.call("compile", own)
        assert refused.is_error and "no kernel is called" in refused.text
        best = {"task": "twice", "base": "best"}
        assert one.call("compile", best).data["kernel"] == timed.data["kernel"]  # type: ignore[index]
        assert other.call("compile", best).data["kernel"] != timed.data["kernel"]  # type: ignore[index]
        again = other.call("time", {"task": "twice", "kernel": mine})
        assert again == timed, "results are kept by content, for all"
        assert other.call("nonsense", {}).is_error and server.talk("one").call("compile", own).data is not None


def test_the_few_for_small_models_work_and_no_other_is_there(tmp_path: Path) -> None:
    place = Place(tmp_path).make()
    with ToolServer(ServeSettings((place.folder / "root",), place.data, few=True)) as server:
        agent = server.talk("agent")
        shown = {tool.name: tool.parameters["properties"] for tool in server.service.tools.values()}
        assert set(shown["rewrite"]) == {"task", "cause", "base"}  # type: ignore[call-overload]
        assert not agent.call("list_tasks", {}).is_error and not agent.call("profile", {"task": "twice"}).is_error
        refused = agent.call("inspect", {"task": "twice"})
        assert refused.is_error and "the tools are list_tasks, profile, rewrite, time, submit, job" in refused.text


def test_calls_without_a_conversation_have_no_best_kernel(tmp_path: Path) -> None:
    place = Place(tmp_path).make()
    with ToolServer(ServeSettings((place.folder / "root",), place.data)) as server:
        job = server.service.start("compile", {"task": "twice", "base": "best"})
        while not job.ended:
            pass
        assert job.result is not None and job.result.is_error and "Warpsight-Conversation" in job.result.text


def test_two_kernels_with_one_id_have_none() -> None:
    memory = KernelMemory(GIVEN)
    texts, seen = ["a", "b"], dict[str, str]()
    for number in range(40_000):  # an id has 24 bits
        text = f"kernel {number}"
        name = KernelMemory(text).kernels().keys() - {"current", "best", "given"}
        (first,) = name
        if first in seen:
            texts = [seen[first], text]
            break
        seen[first] = text
    memory.note(texts[0], None, None)
    before = len(memory.kernels())
    memory.note(texts[1], None, None)
    assert len(memory.kernels()) == before - 1 and memory.kernels()["current"] == texts[1]


def test_room_is_bounded() -> None:
    memory = KernelMemory("given", most_characters=1000)
    for number in range(100):
        memory.note(f"{number:0100}", None, None)
    assert memory.characters <= 1000 and len(memory.kernels()) <= 3 + 10
    known = Conversations(most=10, most_characters=10_000)
    for number in range(100):
        known.of(f"c{number}").memory("task", "x" * 2000)
        known.trim(lambda name: name == "c0")
    assert len(known) <= 6 and known.of("c0").characters == 2000
