"""Which CUDA line is used: found by what is installed, of CUDA 12 or 13; else an error says what to install."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpsight.errors import ToolMissing, UsageError
from warpsight.toolchain import packages
from warpsight.toolchain.packages import CHOICE, LINES, cuda_line, nvrtc_library


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages that is all that this Python sees."""
    monkeypatch.delenv(CHOICE, raising=False)
    packages._line_for.cache_clear()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    yield tmp_path
    monkeypatch.undo()
    packages._line_for.cache_clear()


def install(site: Path, major: int, version: str, *, without: str = "") -> None:
    """The packages of a line as their wheels lay them out, with empty files."""
    for package, folders in LINES[major].packages.items():
        if package == without:
            continue
        info = site / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        for folder in folders:
            (site / folder).mkdir(parents=True, exist_ok=True)
    library = site / LINES[major].library
    library.mkdir(parents=True, exist_ok=True)
    (library / f"libnvrtc.so.{major}").touch()
    (library / f"libnvrtc.alt.so.{major}").touch()


def test_the_line_that_is_installed_here_is_whole() -> None:
    line = cuda_line()
    assert line.major in LINES and line.release >= (12, 8)
    assert line.library == nvrtc_library() and line.library.is_file()
    assert any((folder / "cuda_fp16.h").is_file() for folder in line.headers)
    assert f"={line.compiler} " in packages.compiler_identity()


@pytest.mark.parametrize(("major", "version"), [(12, "12.8.93"), (13, "13.0.88"), (13, "13.2.86")])
def test_any_version_of_either_line_will_do(site: Path, major: int, version: str) -> None:
    install(site, major, version)
    line = cuda_line()
    assert (line.major, line.compiler) == (major, version)
    assert line.library == site / LINES[major].library / f"libnvrtc.so.{major}"
    assert line.headers and all(folder.is_dir() for folder in line.headers)
    assert len(set(line.headers)) == len(line.headers)


def test_the_newer_line_is_used_unless_the_older_is_asked_for(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, 12, "12.9.86")
    install(site, 13, "13.4.92")
    assert cuda_line().major == 13
    monkeypatch.setenv(CHOICE, "12")
    assert cuda_line().major == 12
    monkeypatch.setenv(CHOICE, "11")
    with pytest.raises(UsageError, match="expected 12 or 13, '11' came"):
        cuda_line()


def test_headers_newer_than_their_compiler_are_told(site: Path) -> None:
    install(site, 13, "13.2.86")
    assert cuda_line().misfit == ""
    old, new = (site / f"nvidia_cuda_runtime-{version}.dist-info" for version in ("13.2.86", "13.4.92"))
    old.rename(new)
    (new / "METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cuda-runtime\nVersion: 13.4.92\n")
    packages._line_for.cache_clear()
    assert cuda_line().misfit == (
        "nvidia-cuda-runtime 13.4.92 is newer than the compiler: pip install 'nvidia-cuda-runtime==13.2.*'"
    )


def test_a_line_that_is_not_whole_is_passed_over(site: Path) -> None:
    install(site, 13, "13.2.86", without="nvidia-cuda-crt")
    install(site, 12, "12.9.86")
    assert cuda_line().major == 12


def test_what_is_missing_is_named_and_how_to_get_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolMissing, match="nvidia-cuda-nvrtc is not installed") as nothing:
        cuda_line()
    assert nothing.value.hint == "pip install warpsight"
    monkeypatch.setenv(CHOICE, "12")
    install(site, 12, "12.9.86", without="nvidia-cuda-nvcc-cu12")
    with pytest.raises(ToolMissing, match="of CUDA 12: nvidia-cuda-nvcc-cu12 is not installed") as part:
        cuda_line()
    assert part.value.hint == "pip install 'warpsight[cu12]'"


def test_a_line_that_is_not_known_is_refused_by_its_version(site: Path) -> None:
    install(site, 13, "14.0.1")
    with pytest.raises(ToolMissing, match=r"nvidia-cuda-nvrtc is 14\.0\.1"):
        cuda_line()


def test_packages_whose_files_are_gone_are_refused(site: Path) -> None:
    install(site, 13, "13.4.92")
    (site / LINES[13].library / "libnvrtc.so.13").unlink()
    with pytest.raises(ToolMissing, match="their files are not there"):
        cuda_line()


def test_a_program_that_is_not_there_is_named_with_its_package() -> None:
    with pytest.raises(ToolMissing, match="expected the program no_such of nvidia-cuda-nvdisasm"):
        packages.program("no_such", packages.DISASSEMBLER)
    with pytest.raises(ToolMissing, match="expected the package no-such-package") as problem:
        packages.program("nvdisasm", "no-such-package")
    assert problem.value.hint == "pip install no-such-package"
