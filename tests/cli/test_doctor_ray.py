"""What `doctor` says of Ray, from what is really there."""

from __future__ import annotations

import importlib.util
import socket
from importlib import metadata

import pytest

from warpsight.verbs.doctor_ray import INSTALL, USES, ray_probe

HAS_RAY = importlib.util.find_spec("ray") is not None


@pytest.mark.skipif(not HAS_RAY, reason="pip install 'warpsight[scale]'")
def test_a_cluster_that_is_named_must_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        for named in (address, f"ray://{address}"):
            found = ray_probe({"RAY_ADDRESS": named})
            assert found.state == "ok" and f"joins the cluster at {named}" in found.detail
    gone = ray_probe({"RAY_ADDRESS": address})
    assert gone.state == "absent" and f"nothing answers at RAY_ADDRESS={address}" in gone.detail
    assert "starts a cluster of this machine's" in ray_probe({}).detail and USES in ray_probe({}).detail


@pytest.mark.skipif(not HAS_RAY, reason="pip install 'warpsight[scale]'")
def test_an_old_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _name: "2.9.3")
    found = ray_probe({})
    assert found.state == "absent" and found.detail == "ray 2.9.3 is installed and too old" and found.fix == INSTALL


def test_without_it_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    found = ray_probe({})
    assert found.state == "absent" and found.detail.startswith("optional: `--on ray`") and found.fix == INSTALL
