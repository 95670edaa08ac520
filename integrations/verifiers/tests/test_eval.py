"""verifiers' own `vf-eval` with the taskset, against a scripted model; and `warpsight bench` with the same model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import FASTER_TRANSPOSE, WRONG_SAXPY, ScriptedServer

ROOT = Path(__file__).parents[3]
HANDED_IN = {
    "transpose": FASTER_TRANSPOSE,
    "saxpy": WRONG_SAXPY,
    "vector_add": (ROOT / "tasks" / "vector_add" / "kernel.cu").read_text(),
}


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("some") / "tasks"
    for name in HANDED_IN:
        shutil.copytree(ROOT / "tasks" / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def server() -> Generator[ScriptedServer]:
    with ScriptedServer(HANDED_IN) as running:
        yield running


def run(argv: list[str], tmp_path: Path) -> None:
    kept = {"WARPSIGHT_DATA": str(tmp_path / "data"), "WARPSIGHT_API_KEY": "none", "HOME": str(tmp_path)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # verifiers runs `uv`
    done = subprocess.run(argv, cwd=tmp_path, env={**os.environ, **kept, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_the_taskset_scores_as_the_bench_does(tasks: Path, server: ScriptedServer, tmp_path: Path) -> None:
    vf_eval = str(Path(sys.executable).with_name("vf-eval"))
    run(
        [vf_eval, "warpsight_verifiers", "--env.taskset.tasks", str(tasks), "--model", "scripted",
         "--client.base-url", server.url, "--client.api-key-var", "WARPSIGHT_API_KEY", "--no-rich", "--no-push",
         "--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "--run.name", "here"],
        tmp_path,
    )  # fmt: skip
    asked = len(server.asked)
    assert asked >= 2 * len(HANDED_IN)
    bench = tmp_path / "bench.jsonl"
    run(
        [sys.executable, "-m", "warpsight.cli.app", "bench", "run", str(tasks), str(bench), "--suite", "optimize",
         "--box", "full", "--model", "openai:scripted", "--base-url", server.url, "--allow-train"],
        tmp_path,
    )  # fmt: skip
    by_bench = {line["task"].partition("|")[0]: line for line in map(json.loads, bench.open())}
    by_eval = {one["task"]["data"]["name"]: one["traces"][0] for one in episodes(tmp_path / "outputs" / "here")}
    assert by_bench.keys() == by_eval.keys() == HANDED_IN.keys()
    for name, trace in by_eval.items():
        outcome = by_bench[name]
        right = outcome["verdict"] == "right"
        faster = right and outcome["decision"] in ("FASTER", "LIKELY_FASTER")
        assert trace["metrics"]["right"] == float(right), name
        assert trace["metrics"]["faster"] == float(faster), name
        assert trace["metrics"]["speed"] == pytest.approx(outcome["ratio"] if faster else 1.0), name
    rewards = {name: one["rewards"]["reward"]["score"] for name, one in by_eval.items()}
    assert rewards["transpose"] > rewards["vector_add"] > rewards["saxpy"] == -1.0


def episodes(run_folder: Path) -> list[dict[str, Any]]:
    (file,) = run_folder.rglob("traces.jsonl")
    return [json.loads(line) for line in file.open()]


def test_tasks_have_keys_of_their_content(tasks: Path) -> None:
    from warpsight_verifiers.taskset import KernelConfig, KernelTaskset

    config = KernelConfig(id="warpsight_verifiers", tasks=str(tasks))
    found = list(KernelTaskset(config))
    assert [one.data.name for one in found] == sorted(HANDED_IN)
    before = {one.key for one in found}
    changed = tasks / "vector_add" / "kernel.cu"
    text = changed.read_text()
    changed.write_text(text + "\n// other\n")
    try:
        assert len({one.key for one in KernelTaskset(config)} - before) == 1
    finally:
        changed.write_text(text)
