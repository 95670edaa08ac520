"""The story, told once over each transport and era of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest
from tests.serve.story import SLOW, Told, tell
from tests.serve.transports import Served, http_server, over_http, over_stdio, place


@dataclass(frozen=True)
class Story:
    """What came of a story, and where it took place."""

    told: Told
    served: Served


def by_stdio(served: Served) -> Told:
    async def run() -> Told:
        async with over_stdio(served) as client:
            return await tell(client, served.root)

    return anyio.run(run)


def by_http(served: Served) -> Told:
    async def run(address: str) -> Told:
        async with over_http(address, "legacy") as client:
            return await tell(client, served.root)

    with http_server(served) as address:
        return anyio.run(run, address)


TELLERS: dict[str, Callable[[Served], Told]] = {"stdio": by_stdio, "http": by_http}


@pytest.fixture(scope="session", params=list(TELLERS))
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Story:
    served = place(tmp_path_factory.mktemp(f"serve-{request.param}"))
    (served.root / "tasks" / "transpose" / "kernel.cu").write_text(SLOW)
    return Story(TELLERS[request.param](served), served)
