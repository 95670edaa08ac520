"""A task of a corpus as a folder: what is read from it is what a model is asked."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from warpsight.corpus.folder import write_folder
from warpsight.corpus.specs import draw_specs, task_of
from warpsight.errors import UsageError
from warpsight.short.prompting import question
from warpsight.tasks import read_task


def test_a_folder_is_the_task(tmp_path: Path) -> None:
    for at, spec in enumerate([*islice(draw_specs(3, "test"), 7), *islice(draw_specs(3, "train"), 15)]):
        write_folder(spec, tmp_path / str(at))
        read, meant = read_task(tmp_path / str(at)), task_of(spec)
        assert question(read) == question(meant) and read.gpu_arch == meant.gpu_arch
        assert {w.name: dict(w.axes) for w in read.workloads} == {w.name: dict(w.axes) for w in meant.workloads}


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        write_folder(next(iter(draw_specs(3, "test"))), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.cu"]
