"""What was recorded stays here: bounded and compressed in the task's folder, and in nothing that a model is told."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest
from tests.capture.conftest import Capture

from warpsight.nouns import Task
from warpsight.session.session import Session
from warpsight.tasks.recorded import read_recorded
from warpsight.tools.check import check

COPIES = (
    ("twice(tile[threadIdx.x]) * weights[i % 4] + T(FACTOR)", "tile[threadIdx.x];"),
    ("out[i] =", "out[n + __float_as_int(in[0]) % 1000] ="),
)


def recorded(task: Task) -> np.ndarray:
    (first,) = [a for a in task.arguments if a.name == "in"]
    assert first.recorded is not None
    return read_recorded(task.folder, first.recorded, first.dtype)


def test_contents_are_compressed_and_named_by_their_hash(captured: Capture) -> None:
    task = captured("rows")
    files = list((task.folder / "recorded").iterdir())
    wanted = {a.recorded for a in task.arguments if a.recorded is not None}
    assert {f.stem for f in files} == wanted and len(files) >= 4
    assert any(f.stat().st_size < len(zlib.decompress(f.read_bytes())) / 2 for f in files)


def test_the_task_file_has_no_contents(captured: Capture) -> None:
    task = captured("weighted")
    text = (task.folder / "task.toml").read_text() + task.kernel + task.reference
    low, high = float(recorded(task).min()), float(recorded(task).max())
    inner = [v for v in recorded(task).tolist() if v not in (low, high, 0.0)]
    assert len(inner) > 300 and not any(f"{v:.4g}" in text for v in set(inner) if len(f"{abs(v):.4g}") > 3)


@pytest.mark.parametrize("copy", COPIES)
def test_a_kernel_that_copies_its_inputs_out_tells_a_model_nothing(captured: Capture, copy: tuple[str, str]) -> None:
    task = captured("weighted")
    text = task.kernel
    assert copy[0] in text
    leaking = text.replace("shapes::" + copy[0], copy[1]).replace(*copy)
    with Session(task) as session:
        answer = check(session, leaking)
    told = answer.text + json.dumps(answer.data.model_dump(mode="json"))
    assert answer.data.verdict in ("wrong", "fault") and "not told" in told
    assert not any(f"{v:.9g}" in told for v in recorded(task).tolist() if v not in (0.0, 1.0, -1.0))
    assert " byte " not in told and "expected" not in told
