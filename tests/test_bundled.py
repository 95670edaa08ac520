"""Example tasks, configurations and pages are found from any folder: in a checkout, and in what a wheel carries."""

from __future__ import annotations

from pathlib import Path

import pytest

import warpsight as ws
from warpsight import bundled as place
from warpsight.bundled import bundled, find_bundled
from warpsight.errors import UsageError
from warpsight.learn.config import Sft, read_config

ROOT = Path(__file__).parents[1]


def test_a_checkout_uses_its_own_files() -> None:
    assert bundled("tasks") == ROOT / "tasks" and bundled("docs") == ROOT / "docs"
    assert find_bundled("tasks", "saxpy") == find_bundled("tasks", "tasks/saxpy") == ROOT / "tasks" / "saxpy"


@pytest.mark.parametrize("word", ["", ".", "..", "no_such", "../tasks", "tasks/../docs", "/", "/etc", "a/saxpy"])
def test_only_a_plain_name_is_found(word: str) -> None:
    assert find_bundled("tasks", word) is None


def test_what_a_wheel_carries_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_PACKAGE", tmp_path / "warpsight")
    monkeypatch.setattr(place, "_CHECKOUT", tmp_path)
    (tmp_path / "tasks").mkdir()
    assert bundled("tasks") is None  # a folder of that name beside an installed package is somebody else's
    (tmp_path / "warpsight" / "share" / "tasks" / "mine").mkdir(parents=True)
    assert find_bundled("tasks", "mine") == tmp_path / "warpsight" / "share" / "tasks" / "mine"


def test_an_example_opens_from_any_folder_and_gives_way_to_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ws.open_task("saxpy").folder == ws.open_task("tasks/saxpy").folder == ROOT / "tasks" / "saxpy"
    from warpsight.tasks.scaffold import new_task

    own = new_task(tmp_path / "tasks" / "saxpy", "saxpy")
    assert ws.open_task("saxpy").folder.samefile(own)
    with pytest.raises(UsageError, match="no task 'softmx'") as problem:
        ws.open_task("softmx")
    assert "softmax" in (problem.value.hint or "")


def test_a_configuration_that_ships_is_read_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = read_config(Path("sft-tools.toml"), "sft")
    assert isinstance(shipped, Sft) and shipped.output == "results/sft-tools"
    assert read_config(Path("configs/sft-tools.toml"), "sft") == shipped
    with pytest.raises(UsageError, match="could not read none"):
        read_config(Path("none.toml"), "sft")
