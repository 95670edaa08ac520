"""Model cards: results in the hub's form, every number from the outcomes, refused where they would be none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.errors import ToolMissing, UsageError
from warpsight.learn.card import CARD
from warpsight.learn.config import Train
from warpsight.verbs.train import card_of, require_log


def outcomes(*, trained_on: bool = False) -> list[BenchOutcome]:
    unit = BenchUnit(suite="budget", model="tools", feedback="curated", row=0, tries=2)
    return [
        BenchOutcome(
            unit=unit.model_copy(update={"row": row}), task=str(row), trained_on=trained_on, answer="uncoalesced",
            right_answers=("uncoalesced",), diagnosed=row > 0, verdict="right", decision="FASTER", ratio=ratio,
            source="simulated", best_ratio=4.0, within=row > 0,
        )
        for row, ratio in enumerate((1.0, 2.0, 4.0))
    ]  # fmt: skip


def write(file: Path, found: list[BenchOutcome]) -> Path:
    file.write_text("".join(one.model_dump_json() + "\n" for one in found))
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    final = tmp_path / "sft" / "final"
    final.mkdir(parents=True)
    (final / "adapter_config.json").write_text('{"base_model_name_or_path": "base.gguf"}')
    summary = {"config": {"start": {"weights": ""}, "traces": ["a/t.jsonl"]}, "steps": 3, "traces": 5, "seconds": 61.4}
    (final.parent / "summary.json").write_text(json.dumps(summary))
    return final


def test_a_card_has_the_results_as_hubs_read_them(folder: Path, tmp_path: Path) -> None:
    written = card_of(folder, [write(tmp_path / "bench.jsonl", outcomes())], "tools")
    assert written == folder / CARD
    _, head, body = written.read_text().split("---\n", 2)
    index = yaml.safe_load(head)["model-index"][0]
    assert index["name"] == "tools" and len(index["results"]) == 1
    metrics = {metric["type"]: metric for metric in index["results"][0]["metrics"]}
    assert metrics["share-of-best-gain"]["value"] == 0.5 and metrics["within-10-percent"]["value"] == 0.6667
    assert metrics["speed-up"]["args"]["tasks"] == 3 and len(metrics["speed-up"]["args"]["interval_95"]) == 2
    assert index["results"][0]["dataset"]["args"]["times"] == "simulated"
    assert "- steps: 3" in body and "- traces: t.jsonl" in body and "| 2 | tools | curated | 3 |" in body


def test_no_card_of_tasks_that_were_trained_on_nor_of_another_folder(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="trained on"):
        card_of(folder, [write(tmp_path / "trained.jsonl", outcomes(trained_on=True))])
    with pytest.raises(UsageError, match="no adapter"):
        card_of(tmp_path, [write(tmp_path / "bench.jsonl", outcomes())])
    with pytest.raises(UsageError, match="nothing of another"):
        card_of(folder, [tmp_path / "bench.jsonl"], "another")


def test_a_logger_is_one_of_those_that_are_known_and_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert require_log(None) is None and require_log("wandb") == "wandb"
    with pytest.raises(UsageError, match="--log"):
        require_log("elsewhere")
    assert "log" not in Train().model_dump(mode="json"), "what was trained before knows no such key"
    pytest.importorskip("torch")
    from warpsight.learn.base import require_logger

    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ToolMissing, match="tensorboard"):
        require_logger("tensorboard", tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: True)
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", "")
    assert require_logger("tensorboard", tmp_path) == "tensorboard" and require_logger("none", tmp_path) == "none"
