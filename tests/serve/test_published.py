"""Our manifests, the action, the hook and a guard's SARIF against the schemas that others publish for them.

The schemas are not ours to ship: WARPSIGHT_SCHEMAS names a folder with them, such as `src/schemas/json` of SchemaStore.
Without it these tests are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

from warpsight.guard.judge import GuardRow
from warpsight.guard.reports import sarif
from warpsight.nouns import Evidence, Finding

ROOT = Path(__file__).parents[2]
SCHEMAS = os.environ.get("WARPSIGHT_SCHEMAS", "")
FINDING = Finding(
    name="uncoalesced", message="lanes are far apart", suggestion="use a tile",
    evidence=(Evidence(counter="global_store_efficiency", value=12.5, unit="%", line=6),),
)  # fmt: skip


def from_json(path: str) -> Callable[[], Any]:
    return lambda: json.loads((ROOT / path).read_text(encoding="utf-8"))


def from_yaml(path: str) -> Callable[[], Any]:
    return lambda: yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def guarded() -> Any:
    row = GuardRow(task="a b", file="k.cu", path="src/a b.cu", gpu="a100", status="slower", findings=(FINDING,), line=3)
    return json.loads(sarif([row, row.model_copy(update={"status": "same"})], strict=False))


PUBLISHED: dict[str, Callable[[], Any]] = {
    "claude-code-plugin-manifest": from_json("plugins/warpsight/.claude-plugin/plugin.json"),
    "claude-code-marketplace": from_json(".claude-plugin/marketplace.json"),
    "codex-plugin-manifest": from_json("plugins/warpsight/.codex-plugin/plugin.json"),
    "github-action": from_yaml("action.yml"),
    "pre-commit-hooks": from_yaml(".pre-commit-hooks.yaml"),
    "sarif-2.1.0": guarded,
}


@pytest.mark.skipif(not SCHEMAS, reason="WARPSIGHT_SCHEMAS names no folder with published schemas")
@pytest.mark.parametrize("schema", PUBLISHED)
def test_what_is_published_for_it_takes_it(schema: str) -> None:
    rules = json.loads((Path(SCHEMAS) / f"{schema}.json").read_text(encoding="utf-8"))
    found = PUBLISHED[schema]()
    faults = [fault.message for fault in validator_for(rules)(rules).iter_errors(found)]
    assert not faults
