"""The bench of untrained models: a unit without a model, what arms change, and tables of pairs; and that of engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.engines import print_tables as print_engines
from benchmarks.untrained import Unit, opened, run_unit
from benchmarks.untrained_arms import ARMS, begun, job_of, script_of
from benchmarks.untrained_table import print_tables, speed_of

from warpsight.serve.skill import skill_text
from warpsight.tasks import read_task

TASK = read_task(Path(__file__).parents[1] / "tasks" / "transpose")


def row(arm: str, task: str, ratio: float, **more: Any) -> dict[str, Any]:
    return {
        "model": "m", "arm": arm, "feedback": "curated", "task": task, "verdict": "right", "decision": "FASTER",
        "ratio": ratio, "replies": 4, "usable": 3, "tool_calls": 3, "input_tokens": 9, "output_tokens": 9,
        "model_seconds": 1.0, **more,
    }  # fmt: skip


def test_a_unit_without_a_model_is_one_line() -> None:
    unit = Unit("none", "script", "curated", "transpose|x")
    found = run_unit(unit, TASK, script_of("script"))
    assert found["usable"] == found["replies"] > 1 and found["ended"] == "submitted"
    assert found["verdict"] == "right" and speed_of(found) > 1


@pytest.mark.parametrize("arm", ["skill", "no-skill"])
def test_the_arms_of_the_skill_differ_in_its_text_alone(arm: str) -> None:
    box = opened(TASK, "curated")
    job, _ = begun(job_of(TASK, "qwen2.5-coder-0.5b", arm, "curated"), TASK, box, arm)
    box.close()
    assert (skill_text().strip() in job.opening.system) is (arm == "skill") and len(job.tools) == 11
    assert job.must_call and job.opening.system.startswith("Make the GPU kernel faster") and arm in ARMS


def test_pairs_are_of_the_tasks_that_both_have(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row("small", "a|1", 2.0), row("small", "b|1", 3.0), row("hashes", "a|1", 1.0), row("skill", "a|1", 4.0)]
    print_tables([*rows, row("no-skill", "a|1", 2.0, decision="SLOWER")])
    told = capsys.readouterr().out
    assert (
        "| m | hashes, curated | small, curated | 1 | 0.50x (0.50 to 0.50) | 0 against 1 | 75 % against 75 % |" in told
    )
    assert "| m | skill, curated | no-skill, curated | 1 | 4.00x" in told and "tasks (2): a, b" in told


def test_engines_are_compared_on_the_prompts_that_both_had(capsys: pytest.CaptureFixture[str]) -> None:
    def some(engine: str, *tokens: list[int]) -> list[dict[str, Any]]:
        start = {"engine": engine, "prompt": -1, "start_cpu_s": 1.0, "start_s": 2.0, "memory_mb": 9.0}
        each = {"engine": engine, "read": 100, "reading_cpu_s": 2.0, "writing_cpu_s": 0.5, "memory_mb": 10.0}
        return [start, *({**each, "prompt": number, "tokens": found} for number, found in enumerate(tokens))]

    print_engines([*some("llama", [1, 2, 3], [4, 5]), *some("torch", [1, 2, 3], [4, 6], [7])])
    told = capsys.readouterr().out
    assert "| 1.0 | 50 | 5.0 | 10 MB | 2 |" in told and "the same greedy tokens on 1 of 2 prompts" in told
    assert "prompt 1: the first 1 of 2 and 2 tokens are the same" in told
