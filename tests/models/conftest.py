"""A model of each wire format in front of a loopback server, with short waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.models.server import Answer, Server

from warpsight.models.http import HttpModel
from warpsight.models.open import open_model
from warpsight.models.retry import Patience

KEY = "sk-test-0123456789abcdef-secret"
QUICK = Patience(attempts=3, first_wait_s=0.01, longest_wait_s=0.02, connect_s=5, read_s=5, total_s=30)


class Wired:
    """Opens servers and models that are closed when the test ends."""

    def __init__(self) -> None:
        self.stack = ExitStack()

    def __call__(self, kind: str, *answers: Answer, **more: Any) -> tuple[HttpModel, Server]:
        server = self.stack.enter_context(Server(answers))
        more.setdefault("patience", QUICK)
        model = open_model(f"{kind}:test-model", base_url=server.url, **more)
        assert isinstance(model, HttpModel)
        self.stack.callback(model.close)
        return model, server


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wired]:
    monkeypatch.setenv("WARPSIGHT_API_KEY", KEY)
    wired = Wired()
    with wired.stack:
        yield wired
