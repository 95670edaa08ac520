"""The trainers in small: a model from nothing, a few steps of each, resumed, and the same again from the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.learn.rows import some_rows

from warpsight.errors import UsageError
from warpsight.learn.config import Rl, Scratch, Sft, Start, Train, read_config
from warpsight.learn.traces import Words, build_traces

TINY = Scratch(vocabulary=400, hidden=32, layers=1, heads=2)
CONFIGS = Path(__file__).parents[2] / "configs"


def needs_torch() -> None:
    for name in ("torch", "trl", "peft", "datasets"):
        pytest.importorskip(name)


def small_sft(folder: Path, steps: int) -> Sft:
    file = folder / "traces.jsonl"
    build_traces(some_rows()[:4], file, suite="recommend", feedback="curated")
    start = Start(scratch=TINY, lora_rank=0, dtype="float32")
    train = Train(max_steps=steps, batch=2, max_tokens=2000, log_steps=1, warmup_steps=0, schedule="linear")
    return Sft(traces=(str(file),), start=start, train=train, output=str(folder / "out"))


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.toml")), ids=lambda file: file.stem)
def test_every_config_that_ships_can_be_read(file: Path) -> None:
    assert read_config(file, "rl" if file.stem.startswith("rl") else "sft").output


def test_a_misspelt_key_is_told(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('traces = ["a"]\noutput = "b"\n[train]\nbatchsize = 3\n')
    with pytest.raises(UsageError, match=r"train\.batchsize"):
        read_config(file, "sft")


@pytest.mark.filterwarnings("ignore")
def test_two_steps_of_tuning_a_bench_and_two_of_reinforcement(tmp_path: Path) -> None:
    needs_torch()
    from warpsight.bench.suite import Plan, run_bench
    from warpsight.learn.rl import train_rl
    from warpsight.learn.sft import train_sft
    from warpsight.models.local import open_local

    final = train_sft(small_sft(tmp_path, steps=2))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["steps"] == 2 and summary["traces"] == 4 and summary["loss"] > 0
    assert (tmp_path / "out" / "curves.svg").read_text().count("<polyline") >= 1
    assert open_local(final, dtype="float32").name == "local:final"

    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in some_rows()[:2]))
    plan = Plan(
        corpus=corpus, suite="recommend", model=f"local:{final}", feedback=("none", "curated"), allow_train=True
    )
    measured = run_bench(plan, tmp_path / "bench.jsonl", batch=2)
    assert len(measured) == 4 and all(each.output_tokens > 0 for each in measured)
    apart = run_bench(plan, tmp_path / "apart.jsonl", batch=2, processes=2)
    assert {each.unit.key for each in apart} == {each.unit.key for each in measured}

    train = Train(max_steps=2, batch=2, max_tokens=600, log_steps=1, learning_rate=1e-4)
    start = Start(weights=str(final), lora_rank=4, dtype="float32")
    config = Rl(corpus=str(corpus), start=start, train=train, group=2, resample=1, output=str(tmp_path / "rl"))
    train_rl(config)
    found = json.loads((tmp_path / "rl" / "summary.json").read_text())
    assert found["steps"] == 2 and found["rollouts"] >= 4
    # A model that has learned nothing earns the same every time: each such group was asked again, once.
    assert found["groups"] >= 2 + min(found["equal_groups"], 2)

    train_rl(config.model_copy(update={"train": train.model_copy(update={"max_steps": 3})}))
    more = json.loads((tmp_path / "rl" / "summary.json").read_text())
    assert more["steps"] == 3 and more["rollouts"] >= found["rollouts"] + 2, "with what came before"


def test_answers_are_written_with_a_merged_copy_and_what_is_trained_stays_as_it_is() -> None:
    needs_torch()
    import peft
    import torch
    from trl.trainer.utils import add_fused_lm_head

    from warpsight.learn.rl import as_used
    from warpsight.learn.scratch import make_scratch

    _, plain = make_scratch(TINY, ["a few words"], 0, "bfloat16")
    add_fused_lm_head(plain)  # as the trainer does: a forward that would go on calling the model it was made for
    trained = peft.get_peft_model(plain, peft.LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    before = {name: value.clone() for name, value in trained.state_dict().items()}
    tokens = torch.arange(3, 19).unsqueeze(0)
    used = as_used(trained.train())
    assert not used.training and not hasattr(used, "peft_config")
    assert trained.training, "the other one goes on being trained"
    assert torch.allclose(used(tokens).logits.float(), trained.eval()(tokens).logits.float(), atol=0.05, rtol=0.05)
    with trained.disable_adapter():
        assert not torch.allclose(used(tokens).logits.float(), trained(tokens).logits.float(), atol=0.05, rtol=0.05)
    after = trained.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items()), "to the last bit"
    with torch.no_grad():
        written = used(tokens).logits
        for value in trained.parameters():
            value.zero_()
        assert torch.equal(used(tokens).logits, written), "nothing of the other one is used"


def test_tasks_that_models_are_measured_on_are_not_trained_on(tmp_path: Path) -> None:
    needs_torch()
    from warpsight.learn.rl import train_rl

    corpus = tmp_path / "rows.jsonl"
    corpus.write_text(some_rows()[0].model_copy(update={"split": "test"}).model_dump_json() + "\n")
    with pytest.raises(UsageError, match="measured on"):
        train_rl(Rl(corpus=str(corpus), output=str(tmp_path / "rl")))


@pytest.mark.filterwarnings("ignore")
def test_a_resumed_run_ends_where_an_unbroken_one_does(tmp_path: Path) -> None:
    needs_torch()
    from warpsight.learn.sft import train_sft

    whole, broken = small_sft(tmp_path / "a", steps=4), small_sft(tmp_path / "b", steps=4)
    train_sft(whole)
    # The clock ends it at its first step, with a checkpoint; the same call again goes on.
    train_sft(broken.model_copy(update={"train": broken.train.model_copy(update={"minutes": 1e-9})}))
    assert json.loads((tmp_path / "b" / "out" / "summary.json").read_text())["steps"] == 1
    final = train_sft(broken)
    kept = (final / "config.json").stat().st_mtime_ns
    assert train_sft(broken) == final and (final / "config.json").stat().st_mtime_ns == kept, "nothing is done twice"
    other = broken.model_copy(update={"train": broken.train.model_copy(update={"learning_rate": 5e-3})})
    with pytest.raises(UsageError, match="another configuration"):
        train_sft(other)
    losses = [_losses(tmp_path / name / "out" / "curves.json") for name in "ab"]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_what_was_trained_is_what_is_generated(tmp_path: Path) -> None:
    """A model that has seen a few traces many times makes them again, through the loop and with the real tools."""
    needs_torch()
    from warpsight.bench.suite import Plan, run_bench
    from warpsight.learn.sft import train_sft

    rows, file, corpus = some_rows()[-3:], tmp_path / "traces.jsonl", tmp_path / "rows.jsonl"
    build_traces(rows, file, suite="recommend", feedback="curated", words=Words(suspects=0.0))
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    start = Start(scratch=Scratch(vocabulary=600, hidden=64, layers=2, heads=2), lora_rank=0, dtype="float32")
    train = Train(max_steps=130, batch=3, max_tokens=2000, learning_rate=5e-3, warmup_steps=10, log_steps=20)
    final = train_sft(Sft(traces=(str(file),), start=start, train=train, output=str(tmp_path / "out")))
    plan = Plan(corpus=corpus, suite="recommend", model=f"local:{final}", feedback=("curated",), allow_train=True)
    found = run_bench(plan, tmp_path / "bench.jsonl", batch=3)
    assert all(each.diagnosed and each.tool_calls == 1 and each.ended == "submitted" for each in found)


def _losses(file: Path) -> list[float]:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row]
