"""What the package says of itself: one version, ranges that others can live with, files that are there."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import warpsight

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"] and PROJECT["project"]["dynamic"] == ["version"]
    assert metadata.version("warpsight") == warpsight.__version__
    assert (ROOT / PROJECT["tool"]["dynamic-metadata"][0]["input"]).is_file()


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_dependencies_are_ranges(extra: str) -> None:
    wanted = EXTRAS[extra] if extra else PROJECT["project"]["dependencies"]
    assert wanted and not [text for text in wanted if "==" in text]


def test_each_cuda_package_of_the_core_may_be_of_any_minor_version() -> None:
    wanted = {text for text in PROJECT["project"]["dependencies"] if text.startswith("nvidia-")}
    assert len(wanted) == 5 and all(re.fullmatch(r"nvidia-[a-z-]+>=13\.\d,<14", text) for text in wanted)


def test_our_own_versions_are_within_what_the_extras_take() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert pinned.keys() == {re.split("[<>=]", text)[0] for text in EXTRAS["train"]}
    for text in (*EXTRAS["train"], *EXTRAS["local"]):
        name, low, high = re.split(r">=|,<", text)
        assert version(low) <= version(pinned[name]) < version(high)


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def test_what_a_wheel_carries_is_there() -> None:
    (only,) = PROJECT["tool"]["scikit-build"]["overrides"]
    assert only["if"] == {"state": "wheel"}
    for source, place in only["wheel"]["force-include"].items():
        assert (ROOT / source).is_dir() and place == f"warpsight/share/{source}"


def test_the_package_has_its_own_folders_alone() -> None:
    """An editable install once had the folder above the checkout too, with whatever lies there."""
    for place in map(Path, warpsight.__path__):
        assert place.name == "warpsight" and not (place / ".git").exists(), place


def test_the_smoke_test_takes_the_commands_of_a_page_that_need_nothing() -> None:
    spec = importlib.util.spec_from_file_location("smoke", ROOT / "wheels" / "smoke.py")
    assert spec is not None and spec.loader is not None
    smoke = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(smoke)
    page = "warpsight outside\n```\nwarpsight new a   # makes it\nwarpsight time a  # (needs a GPU)\nmake demo\n```\n"
    assert list(smoke.commands_of(page)) == ["warpsight new a"]
    assert len(list(smoke.commands_of((ROOT / "README.md").read_text()))) > 2
