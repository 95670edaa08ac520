"""`inspect eval` runs the task against a scripted model, and its log opens."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from scripted_server import FASTER_TRANSPOSE, WRONG_SAXPY, ScriptedServer

ROOT = Path(__file__).parents[3]
HANDED_IN = {"transpose": FASTER_TRANSPOSE, "saxpy": WRONG_SAXPY}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    for name in HANDED_IN:
        shutil.copytree(ROOT / "tasks" / name, tmp_path / "tasks" / name)
    return tmp_path / "tasks"


def test_inspect_eval_runs_and_its_log_opens(tasks: Path, tmp_path: Path) -> None:
    logs, data = tmp_path / "logs", tmp_path / "data"
    inspect = str(Path(sys.executable).with_name("inspect"))
    with ScriptedServer(HANDED_IN) as server:
        argv = [inspect, "eval", "warpsight_inspect/faster_kernels", "-T", f"tasks={tasks}", "--model",
                "openai-api/scripted/scripted", "-M", "responses_api=false", "--log-dir", str(logs),
                "--display", "plain"]  # fmt: skip
        own = {"SCRIPTED_BASE_URL": server.url, "SCRIPTED_API_KEY": "none", "WARPSIGHT_DATA": str(data)}
        done = subprocess.run(argv, cwd=tmp_path, env={**os.environ, **own}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (found,) = list_eval_logs(str(logs))
    log = read_eval_log(found)
    assert log.status == "success" and log.samples is not None
    values = {sample.id: sample.scores["gate"].value for sample in log.samples if sample.scores}
    assert values.keys() == HANDED_IN.keys()
    faster, wrong = values["transpose"], values["saxpy"]
    assert isinstance(faster, dict) and faster["faster"] == 1.0 and float(faster["speed"] or 0) > 1.5
    assert isinstance(wrong, dict) and wrong["right"] == 0.0 and wrong["reward"] == -1.0
    called = [call.function for one in log.samples[0].messages for call in getattr(one, "tool_calls", None) or ()]
    assert called == ["profile", "submit_kernel"]
