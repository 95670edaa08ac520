"""A server stays warm: the second call, of another kernel, starts neither a compiler nor a reference process."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.serve.inside import ToolServer
from warpsight.serve.settings import ServeSettings
from warpsight.session.session import Session
from warpsight.tasks.oracle import default_oracle
from warpsight.toolchain.compile import shared_process

ROOT = Path(__file__).parents[2]


def live() -> tuple[int | None, int, tuple[int, ...]]:
    """The compiler process, how many there were, and the reference processes."""
    compiler = shared_process()
    return compiler.pid, compiler.starts, default_oracle().process_ids


@pytest.fixture(autouse=True)
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is found on disk, so that each call has work for the processes."""
    monkeypatch.setenv("WARPSIGHT_CACHE", "off")


def other(number: int) -> str:
    return (ROOT / "tasks/saxpy/kernel.cu").read_text().replace("{", f"{{ /* {number} */", 1)


def test_the_second_session_of_a_process_starts_nothing() -> None:
    with Session("saxpy") as first:
        assert first.quick_check(other(1)).verdict == "right"
    before = live()
    with Session("saxpy") as second:
        assert second.quick_check(other(2)).verdict == "right"
    assert live() == before and before[0] is not None


def test_the_second_call_of_a_server_starts_nothing(tmp_path: Path) -> None:
    with ToolServer(ServeSettings((ROOT,), tmp_path)) as server:
        talk = server.talk()
        asked = {"task": str(ROOT / "tasks" / "saxpy"), "wait_seconds": 0}
        assert not talk.call("check", {**asked, "kernel": other(3)}).is_error
        before = live()
        assert not talk.call("check", {**asked, "kernel": other(4)}).is_error
        assert live() == before
