"""`warpsight optimize --model trained`: the model that comes with the package. The weights here are random."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Ran

from warpsight.short import shipped
from warpsight.short.prompting import SYSTEM
from warpsight.short.trained import write_trained

pytestmark = pytest.mark.filterwarnings("default")


def test_it_is_asked_as_it_was_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Ran]
) -> None:
    for name in ("torch", "transformers", "gguf"):
        pytest.importorskip(name)
    from tests.models.fabricated import SHAPES, bytes_vocabulary, fabricate

    from warpsight.models.weights import load_pair

    folder = tmp_path / "embedded"
    for part in load_pair(fabricate(tmp_path / "tiny.gguf", SHAPES["tiny"], bytes_vocabulary()), "float32"):
        part.save_pretrained(str(folder))
    write_trained(folder, listed=False, suites=["optimize"])
    monkeypatch.setattr(shipped, "PLACE", folder)
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    done = command("optimize", "transpose", "--model", "trained", "--max-tokens", "16", "--json")
    found = done.document()
    assert done.code == 1 and "no --model was given" not in done.err
    assert found["run"]["model"] == f"local:{folder}" and found["run"]["outcome"] == "gave_up", found["run"]
    said = command("show", "last", "--json").document()
    assert said["steps"][0]["content"] == SYSTEM["optimize"] and found["run"]["spent"]["output_tokens"] == 32
    refused = command("optimize", "transpose", "--model", "trained", "--tools", "rewrite")
    assert refused.code == 2 and "its own prompt and tools" in refused.err
