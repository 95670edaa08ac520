"""The list of guarded kernels: what it says, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.guard.config import new_list, read_list, share_of

KERNEL = '[[kernel]]\ntask = "k"\n'


def listed(folder: Path, text: str) -> Path:
    (folder / "warpsight.toml").write_text(text)
    return folder


def test_a_list_and_its_defaults(tmp_path: Path) -> None:
    found = read_list(listed(tmp_path, KERNEL + 'gpus = ["a100", "t4"]\n'))
    assert found.max_regression == 0.03
    assert found.baseline_file == tmp_path / "warpsight-baseline.json"
    assert found.kernels[0].gpus == ("a100", "t4")


@pytest.mark.parametrize(("given", "share"), [("3%", 0.03), ("12.5 %", 0.125), (0.1, 0.1), (0, 0.0)])
def test_shares(given: object, share: float) -> None:
    assert share_of(given) == share


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "kernels"),
        ("[guard\n", "warpsight.toml"),
        ('[guard]\nmax_regression = "much"\n' + KERNEL, '"3%"'),
        ("[guard]\nmax_regression = -1\n" + KERNEL, "max_regression"),
        ("[other]\n" + KERNEL, "[guard], [[kernel]] and [[program]]"),
        ('[[kernel]]\ntask = "k"\ngpu = "a100"\n', "gpu"),
        ('[[kernel]]\ntask = "../elsewhere"\n', "inside its folder"),
        ('[[kernel]]\ntask = "k"\nfile = "/etc/passwd"\n', "inside its folder"),
        ('[guard]\nbaseline = "../b.json"\n' + KERNEL, "inside its folder"),
        (KERNEL + KERNEL, "twice"),
    ],
)
def test_what_is_wrong_is_said(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as problem:
        read_list(listed(tmp_path, text))
    assert told in str(problem.value)


def test_a_missing_list_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as problem:
        read_list(tmp_path)
    assert "guard init" in str(problem.value)


def test_a_new_list_has_every_task_below(tmp_path: Path) -> None:
    for name in ("a/one", "b", ".hidden/two"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "task.toml").touch()
    assert [one.task for one in read_list(listed(tmp_path, new_list(tmp_path))).kernels] == ["a/one", "b"]
    with pytest.raises(UsageError):
        new_list(tmp_path / "b" / "none")
