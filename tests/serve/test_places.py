"""What a client may name: everything below the roots, nothing else, by whatever way."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.serve.places import MOST_KERNEL_BYTES, Places


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("root/tasks/one", "root/two", "outside/three"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "task.toml").write_text("name = 'x'")
        (tmp_path / folder / "kernel.cu").write_text("// a kernel")
    (tmp_path / "root" / "secret.txt").write_text("secret")
    return tmp_path / "root"


@pytest.mark.parametrize("word", ["one", "tasks/one", "tasks/one/task.toml", "two", "./two", "tasks/../two"])
def test_tasks_are_found_by_name_and_path(root: Path, word: str) -> None:
    found = Places([root]).task_folder(word)
    assert found == root / ("two" if "two" in word else "tasks/one")
    assert Places([root]).task_folder(str(found)) == found


@pytest.mark.parametrize(
    "word", ["../outside/three", "tasks/../../outside/three", "link", "", " ", "\0", "a" * 5000, "loop", "nowhere", "~"]
)
def test_nothing_outside_is_found(root: Path, word: str) -> None:
    (root / "link").symlink_to(root.parent / "outside" / "three")
    (root / "loop").symlink_to(root / "loop")
    for given in (word, str(root / word) if "\0" not in word and word.strip() else word):
        with pytest.raises(UsageError, match=r"^no task"):
            Places([root]).task_folder(given)


def test_outside_is_refused_alike_whether_it_exists(root: Path) -> None:
    said: list[str] = []
    for name in ("three", "four"):
        with pytest.raises(UsageError) as refused:
            Places([root]).task_folder(str(root.parent / "outside" / name))
        said.append(str(refused.value).replace(name, ""))
    assert said[0] == said[1]


def test_a_task_whose_file_leads_out_is_refused(root: Path) -> None:
    (root / "two" / "reference.py").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match=r"reference\.py is a link that leads out"):
        Places([root]).task_folder("two")


def test_kernel_files(root: Path) -> None:
    places = Places([root])
    assert places.kernel_text("two/kernel.cu") == places.kernel_text(str(root / "two" / "kernel.cu")) == "// a kernel"
    (root / "large.cu").write_bytes(b" " * (MOST_KERNEL_BYTES + 1))
    (root / "bytes.cu").write_bytes(b"\xff\xfe")
    (root / "link.cu").symlink_to(root.parent / "outside" / "three" / "kernel.cu")
    (root / "disguised.cu").symlink_to(root / "secret.txt")
    for word, said in {
        "secret.txt": "expected a kernel file", "disguised.cu": "expected a kernel file", "large.cu": "at most",
        "bytes.cu": "UTF-8", "link.cu": "no kernel file", "../outside/three/kernel.cu": "no kernel file",
        "two": "no kernel file",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=said):
            places.kernel_text(word)


def test_tasks_are_listed_once_each(root: Path) -> None:
    assert [folder.name for folder in Places([root, root / "tasks"]).tasks()] == ["two", "one"]


def test_a_root_must_be_a_folder(root: Path) -> None:
    with pytest.raises(UsageError, match="expected a folder to serve"):
        Places([root / "secret.txt"])
