"""A model card beside an adapter or weights: what it is, how it was trained, and its results in the hub's form.

The front matter has `model-index`, so that a hub shows the numbers and a program can read them; the text has the same
tables as `warpsight bench report`. What must stay true: every number follows from the files of outcomes that are named
with their sha256, says whether its times are simulated, over how many tasks it is, and its interval.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from warpsight import __version__
from warpsight.errors import UsageError
from warpsight.files import write_whole

CARD = "README.md"
TASK = {"type": "text-generation", "name": "Make CUDA kernels faster with performance tools"}
MEASURES: Mapping[str, tuple[str, str]] = {
    "share_of_best": ("share-of-best-gain", "share of the gain of the fastest known kernels (log)"),
    "geomean_speedup": ("speed-up", "geometric mean speed-up"),
    "within": ("within-10-percent", "named change gains within 10 % of the best"),
    "accuracy": ("accuracy", "right recommendations"),
}


def model_index(name: str, conditions: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> list[dict[str, Any]]:
    """The hub's `model-index`: one result for each condition, with every measure that it has."""
    results: list[dict[str, Any]] = []
    for found in conditions:
        metrics = [_metric(measure, found[key]) for key, measure in MEASURES.items() if found.get(key)]
        told = f"suite {found['suite']}, feedback {found['feedback']}"
        dataset = {
            "type": "warpsight-corpus",
            "name": f"{told}, {found['tasks']} held-out tasks",
            "args": {"times": found.get("source") or "none", "outcomes": dict(files)},
        }
        results.append({"task": TASK, "dataset": dataset, "metrics": metrics})
    return [{"name": name, "results": results}]


def _metric(measure: tuple[str, str], value: Mapping[str, float]) -> dict[str, Any]:
    kind, name = measure
    shown = {key: round(float(value[key]), 4) for key in ("value", "low", "high")}
    args = {"tasks": int(value["tasks"]), "interval_95": [shown["low"], shown["high"]]}
    return {"type": kind, "name": name, "value": shown["value"], "args": args}


def write_card(
    folder: Path, conditions: Sequence[Mapping[str, Any]], files: Sequence[Path], table: str, *, name: str = ""
) -> Path:
    """Write the card into the folder of an adapter or of weights; UsageError where there are none."""
    if not any((folder / file).is_file() for file in ("adapter_config.json", "config.json")):
        raise UsageError(f"no adapter and no weights in {folder}", hint="the `final` folder of a training")
    summary = folder.parent / "summary.json"
    told = cast("dict[str, Any]", json.loads(summary.read_text())) if summary.is_file() else {}
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    adapter = (folder / "adapter_config.json").is_file()
    base = json.loads((folder / "adapter_config.json").read_text()).get("base_model_name_or_path") if adapter else None
    name = name or folder.parent.name
    use = "local --adapter FOLDER" if adapter else "local:FOLDER"
    head = {
        "library_name": "peft" if adapter else "transformers",
        "tags": ["cuda", "gpu", "performance", "warpsight"],
        **({"base_model": str(base)} if base else {}),
        "model-index": model_index(name, conditions, digests),
    }
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    write_whole(folder / CARD, f"---\n{front}---\n\n{_body(name, told, table, digests, use)}")
    return folder / CARD


def _body(name: str, summary: Mapping[str, Any], table: str, digests: Mapping[str, str], use: str) -> str:
    config = summary.get("config", {})
    start = config.get("start", {})
    rows = [
        ("begins with", start.get("adapter") or start.get("weights") or "SmolLM2-135M-Instruct"),
        ("traces", ", ".join(Path(one).name for one in config.get("traces", ()))),
        ("tasks", summary.get("tasks") or summary.get("traces")),
        ("steps", summary.get("steps")),
        ("seconds", summary.get("seconds") and round(summary["seconds"])),
        ("warpsight", __version__),
    ]
    trained = "\n".join(f"- {what}: {value}" for what, value in rows if value)
    outcomes = "\n".join(f"- `{file}`: sha256 `{digest}`" for file, digest in digests.items())
    says = (
        f"A model that was trained to use performance tools inside its reasoning. It works with Warpsight's tools and "
        f"prompt: `warpsight optimize TASK --model {use}`."
    )
    held = (
        "On tasks of kernel families that were not trained on. Intervals are 95 % bootstrap intervals over tasks. "
        "Where a time counts, the table says where it comes from."
    )
    parts = (f"# {name}", says, "## Training", trained, "## Results", held, table, "### Outcomes", outcomes)
    return "\n\n".join(parts) + "\n"
