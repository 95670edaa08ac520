"""`warpsight check --device`: the right kernel of a task goes to the right device, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsight.cli.app import main

TASKS = Path(__file__).parents[2] / "tasks"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """A command's exit code, output and errors."""

    def command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(words)
        shown = capfd.readouterr()
        return int(end.value.code or 0), shown.out, shown.err

    return command


def test_check_on_opencl(run: Run) -> None:
    pytest.importorskip("pyopencl", reason="the extra `opencl` is not installed")
    code, out, _ = run("check", str(TASKS / "vector_add"), "--device", "opencl", "--workload", "odd", "--json")
    document = json.loads(out)
    assert code == 0 and document["verdict"] == "right"
    assert document["device"] == "opencl" and document["kernel"]["file"] == "kernel.cl"


def test_a_cl_file_goes_to_opencl_by_its_ending(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyopencl", reason="the extra `opencl` is not installed")
    mine = tmp_path / "mine.cl"
    mine.write_text((TASKS / "vector_add" / "kernel.cl").read_text().replace("a[i] + b[i]", "a[i] - b[i]"))
    code, out, _ = run("check", str(TASKS / "vector_add"), "--kernel", str(mine), "--workload", "odd", "--json")
    document = json.loads(out)
    assert code == 1 and document["verdict"] == "wrong" and document["device"] == "opencl"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("transpose", "--device", "opencl"), "no OpenCL kernel"),
        (("vector_add", "--device", "virtual", "--kernel", "kernel.cl"), "CUDA C++"),
        (("vector_add", "--device", "opencl", "--kernel", "kernel.cu"), "OpenCL C"),
    ],
)
def test_a_kernel_that_the_device_does_not_run(run: Run, words: tuple[str, ...], told: str) -> None:
    folder = TASKS / words[0]
    rest = [str(folder / word) if word.startswith("kernel.") else word for word in words[1:]]
    code, out, err = run("check", str(folder), *rest)
    assert code == 2 and out == "" and told in err
