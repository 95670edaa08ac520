"""Choices on recorded cards: counted tries, shares of the best that was recorded, and nothing for what has no time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.devices.test_recorded import cache_file

from warpsight.bench.choice import choices_table, read_choices, run_choices
from warpsight.cli.app import main
from warpsight.devices.recorded import open_recorded
from warpsight.errors import UsageError
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.short.choice_box import PARAMETERS, ChoiceBox


def test_tries_are_counted_and_a_configuration_that_does_not_fit_costs_none(tmp_path: Path) -> None:
    box = ChoiceBox(open_recorded(cache_file(tmp_path)), tries=1)
    assert box.call("time", {PARAMETERS: {"block": 17, "tile": 1}}).is_error and box.left == 1
    told = box.call("time", {PARAMETERS: {"block": 32, "tile": 1}})
    assert told.text == "3000.0 us (replayed, NVIDIA A100.json); 0 left"
    assert "all 1 tries are spent" in box.call("time", {PARAMETERS: {"block": 16, "tile": 2}}).text
    assert box.call("submit", {PARAMETERS: {"block": 16, "tile": 2}}).submitted
    assert box.submitted is not None and box.submitted.time_us == 2000.0


def test_a_choice_is_worth_its_share_of_the_best_and_a_failed_one_nothing(tmp_path: Path) -> None:
    file = cache_file(tmp_path)

    def submits(block: int, tile: int) -> ScriptedModel:
        asked = {PARAMETERS: {"block": block, "tile": tile}}
        return ScriptedModel([ScriptedTurn(calls=(ScriptedCall(name="submit", arguments=asked),))])

    for at, (settings, share) in enumerate([((16, 2), 1.0), ((16, 1), 0.5), ((32, 2), 0.0)]):
        out = tmp_path / f"{at}.jsonl"
        (one,) = run_choices([file], out, name="m", model=submits(*settings), tries=[1])
        assert one.share == pytest.approx(share) and one.source == "replayed" and one.timed == 0
        assert (one.chosen_us is None) == (share == 0.0)


def test_rivals_choose_and_what_was_chosen_is_not_asked_again(tmp_path: Path) -> None:
    files = [cache_file(tmp_path), cache_file(tmp_path, "A6000.json", faster=0.5)]
    out = tmp_path / "out.jsonl"
    with pytest.raises(SystemExit) as ended:
        main(["bench", "choose", *map(str, files), "--out", str(out), "--model", "rival:random", "--seeds", "2", "-q"])
    assert not ended.value.code
    found = read_choices(out)
    assert len(found) == 2 * 4 * 2 and all(one.submitted and one.timed <= one.tries for one in found)
    assert all(one.share == pytest.approx(1.0) for one in found if one.tries >= 4), "there are four configurations"
    before = out.read_bytes()
    run_choices(files, out, name="rival:random", model=None, tries=[1, 2, 4, 8], seeds=2)
    assert out.read_bytes() == before
    elsewhere = run_choices(files, out, name="rival:elsewhere", model=None, tries=[1])
    assert all(one.share == pytest.approx(1.0) for one in elsewhere)
    with pytest.raises(UsageError, match="another file"):
        run_choices(files[:1], tmp_path / "one.jsonl", name="rival:elsewhere", model=None, tries=[1])
    table = choices_table(read_choices(out))
    assert "| rival:elsewhere | 1 | 2 | 100.0 % (100.0 to 100.0) | 0% | replayed |" in table
    assert all(json.loads(line)["source"] == "replayed" for line in out.read_text().splitlines())
