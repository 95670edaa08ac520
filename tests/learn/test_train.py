"""The trainers in small: a model from nothing, a few steps of each, resumed, and the same again from the same seed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.learn.child import training
from tests.learn.rows import many_rows, some_rows

from warpsight.errors import UsageError
from warpsight.learn.config import Rl, Scratch, Sft, Start, Train, read_config
from warpsight.learn.traces import Words, build_traces
from warpsight.verbs.train import PACKAGES

TINY = Scratch(vocabulary=400, hidden=32, layers=1, heads=2)
CONFIGS = Path(__file__).parents[2] / "configs"


def needs_torch() -> None:
    for name in PACKAGES:
        pytest.importorskip(name)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Files of traces of tens of tasks: with tool results, and without."""
    needs_torch()
    folder = tmp_path_factory.mktemp("traces")
    for feedback in ("curated", "none"):
        kept = build_traces(many_rows(), folder / f"{feedback}.jsonl", suite="recommend", feedback=feedback)
        assert kept == len(many_rows()) >= 20
    return (str(folder / "curated.jsonl"), str(folder / "none.jsonl"))


def small_sft(traces: tuple[str, ...], output: Path, **train: Any) -> Sft:
    asked = {"batch": 2, "max_tokens": 2000, "log_steps": 1, "warmup_steps": 0, "schedule": "linear", **train}
    start = Start(scratch=TINY, lora_rank=0, dtype="float32")
    return Sft(traces=traces, start=start, train=Train(**asked), output=str(output))


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.toml")), ids=lambda file: file.stem)
def test_every_config_that_ships_can_be_read(file: Path) -> None:
    assert read_config(file, "rl" if file.stem.startswith("rl") else "sft").output


def test_a_misspelt_key_is_told(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('traces = ["a"]\noutput = "b"\n[train]\nbatchsize = 3\n')
    with pytest.raises(UsageError, match=r"train\.batchsize"):
        read_config(file, "sft")


@pytest.mark.filterwarnings("ignore")
def test_two_steps_of_tuning_a_bench_and_two_of_reinforcement(traces: tuple[str, ...], tmp_path: Path) -> None:
    from warpsight.bench.suite import BenchPlan, run_bench
    from warpsight.learn.rl import train_rl
    from warpsight.learn.sft import train_sft
    from warpsight.models.local import open_local

    final = train_sft(small_sft(traces, tmp_path / "out", max_steps=2))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["steps"] == 2 and summary["traces"] == 2 * len(many_rows()) and summary["loss"] > 0
    assert (tmp_path / "out" / "curves.svg").read_text().count("<polyline") >= 1
    assert open_local(final, dtype="float32").name == "local:final"

    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in many_rows()))
    name = f"local:{final}"
    plan = BenchPlan(corpus, "recommend", name, feedback=("none", "curated"), count=2, allow_train=True)
    measured = run_bench(plan, tmp_path / "bench.jsonl", batch=2)
    assert len(measured) == 4 and all(each.output_tokens > 0 for each in measured)
    apart = run_bench(plan, tmp_path / "apart.jsonl", batch=2, processes=2)
    assert {each.unit.key for each in apart} == {each.unit.key for each in measured}

    train = Train(max_steps=2, batch=2, max_tokens=600, log_steps=1, learning_rate=1e-4)
    start = Start(weights=str(final), lora_rank=4, dtype="float32")
    config = Rl(corpus=str(corpus), start=start, train=train, group=2, resample=1, output=str(tmp_path / "rl"))
    train_rl(config)
    found = json.loads((tmp_path / "rl" / "summary.json").read_text())
    assert found["steps"] == 2 and found["tasks"] == len(many_rows()) and found["rollouts"] >= 4
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
    tokens = torch.arange(3, 19).unsqueeze(0)
    alone = as_used(plain)  # all weights are trained, there is no adapter
    written = alone(tokens).logits
    trained = peft.get_peft_model(plain, peft.LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    before = {name: value.clone() for name, value in trained.state_dict().items()}
    used = as_used(trained.train())
    assert not used.training and not hasattr(used, "peft_config")
    assert trained.training, "the other one goes on being trained"
    assert torch.allclose(used(tokens).logits.float(), trained.eval()(tokens).logits.float(), atol=0.05, rtol=0.05)
    with trained.disable_adapter():
        assert not torch.allclose(used(tokens).logits.float(), trained(tokens).logits.float(), atol=0.05, rtol=0.05)
    after = trained.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items()), "to the last bit"
    with torch.no_grad():
        merged = used(tokens).logits
        for value in trained.parameters():
            value.zero_()
        assert torch.equal(used(tokens).logits, merged), "nothing of the other one is used"
        assert torch.equal(alone(tokens).logits, written), "nor here"


def test_tasks_that_models_are_measured_on_are_not_trained_on(tmp_path: Path) -> None:
    needs_torch()
    from warpsight.learn.rl import train_rl

    corpus = tmp_path / "rows.jsonl"
    corpus.write_text(some_rows()[0].model_copy(update={"split": "test"}).model_dump_json() + "\n")
    with pytest.raises(UsageError, match="measured on"):
        train_rl(Rl(corpus=str(corpus), output=str(tmp_path / "rl")))


def test_what_is_no_file_of_traces_or_no_corpus_is_told(tmp_path: Path) -> None:
    needs_torch()
    from warpsight.learn.rl import train_rl
    from warpsight.learn.sft import train_sft

    garbage, corpus, none = (tmp_path / name for name in ("garbage.jsonl", "rows.jsonl", "none.jsonl"))
    garbage.write_text("garbage\n")
    corpus.write_text(some_rows()[0].model_dump_json() + "\n")
    for file, told in ((garbage, ":1: expected a line of"), (corpus, ":1: expected a line of"), (none, ": No such")):
        with pytest.raises(UsageError, match=f"{file}{told}"):
            train_sft(Sft(traces=(str(file),), output=str(tmp_path / "sft")))
    for file, told in ((garbage, ":1: expected a row of a corpus"), (none, ": No such")):
        with pytest.raises(UsageError, match=f"{file}{told}"):
            train_rl(Rl(corpus=str(file), output=str(tmp_path / "rl")))


@pytest.mark.filterwarnings("ignore")
def test_a_resumed_run_ends_where_an_unbroken_one_does(traces: tuple[str, ...], tmp_path: Path) -> None:
    from warpsight.learn.sft import train_sft

    whole, broken = (small_sft(traces, tmp_path / name / "out", max_steps=4) for name in "ab")
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
    noted = tmp_path / "b" / "out" / "inputs.sha256"
    noted.write_text("what other traces had\n")
    with pytest.raises(UsageError, match="other files"):
        train_sft(broken)
    losses = [_losses(tmp_path / name / "out" / "curves.json") for name in "ab"]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_killed_run_goes_on_and_ends_where_an_unbroken_one_does(traces: tuple[str, ...], tmp_path: Path) -> None:
    from warpsight.learn.sft import train_sft

    steps, output = 20, tmp_path / "killed"  # an epoch and a half
    whole = small_sft(traces, tmp_path / "whole", max_steps=steps, batch=4)
    killed = small_sft(traces, output, max_steps=steps, batch=4, save_minutes=1e-9)  # after every step
    with training(killed) as child:
        child.kill_when("a checkpoint of the steps 3 to 10", lambda: 3 <= _saved(output) <= 10)
    kept = _saved(output)
    assert not (output / "summary.json").exists(), "it was killed on its way"
    with training(killed) as child:
        child.end()
    done = [int(step) for step in re.findall(r"^step (\d+):", child.said, re.MULTILINE)]
    assert done == list(range(kept + 1, steps + 1)), f"from the checkpoint of step {kept} to the end"

    final = train_sft(whole)
    losses = [_losses(Path(each.output) / "curves.json") for each in (whole, killed)]
    assert len(losses[0]) == steps and losses[1] == pytest.approx(losses[0], rel=1e-4)
    _same_weights(final / "model.safetensors", output / "final" / "model.safetensors")


@pytest.mark.filterwarnings("ignore")
def test_a_run_resumed_within_its_second_epoch_ends_the_same(traces: tuple[str, ...], tmp_path: Path) -> None:
    from warpsight.learn.sft import train_sft

    few = tmp_path / "few.jsonl"
    few.write_text("".join(Path(traces[1]).read_text().splitlines(keepends=True)[:8]))
    whole, broken = (small_sft((str(few),), tmp_path / name, max_steps=4, batch=4) for name in "ab")
    train_sft(whole)
    for step in (1, 2, 3):  # the clock ends each at its first step; an epoch has two
        train_sft(broken.model_copy(update={"train": broken.train.model_copy(update={"minutes": step * 1e-9})}))
    train_sft(broken)
    losses = [_losses(tmp_path / name / "curves.json") for name in "ab"]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_reinforcement_with_the_same_seed_ends_the_same(traces: tuple[str, ...], tmp_path: Path) -> None:
    """Once in this process and once in another. What is begun with knows the calls and guesses the answers: rewards
    differ within a group, so something is learned that could differ."""
    from warpsight.learn.rl import train_rl
    from warpsight.learn.sft import train_sft

    scratch = Start(scratch=Scratch(vocabulary=600, hidden=64, layers=1, heads=2), lora_rank=0, dtype="float32")
    tuned = small_sft(traces[:1], tmp_path / "tuned", max_steps=150, batch=4, learning_rate=1e-2, log_steps=50)
    final = train_sft(tuned.model_copy(update={"start": scratch}))
    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in many_rows()))
    start = Start(weights=str(final), lora_rank=4, dtype="float32")
    train = Train(max_steps=2, batch=4, max_tokens=600, log_steps=1, learning_rate=1e-3, warmup_steps=0, seed=7)
    one, other = (
        Rl(corpus=str(corpus), start=start, train=train, group=4, temperature=0.8, output=str(tmp_path / name))
        for name in ("one", "other")
    )
    train_rl(one)
    with training(other) as child:
        child.end()
    logged = [_logged(Path(each.output) / "curves.json") for each in (one, other)]
    assert len(logged[0]) == 2 and any(row["reward_std"] > 0 for row in logged[0]), "there was something to learn"
    assert logged[0] == logged[1]
    adapters = [Path(each.output) / "final" / "adapter_model.safetensors" for each in (one, other)]
    learned = _same_weights(*adapters)
    assert any(value.any() for name, value in learned.items() if "lora_B" in name), "they are zero at the start"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_what_was_trained_is_what_is_generated(tmp_path: Path) -> None:
    """A model that has seen a few traces many times makes them again, through the loop and with the real tools."""
    needs_torch()
    from warpsight.bench.suite import BenchPlan, run_bench
    from warpsight.learn.sft import train_sft

    rows, file, corpus = some_rows()[-3:], tmp_path / "traces.jsonl", tmp_path / "rows.jsonl"
    build_traces(rows, file, suite="recommend", feedback="curated", words=Words(suspects=0.0))
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    start = Start(scratch=Scratch(vocabulary=600, hidden=64, layers=2, heads=2), lora_rank=0, dtype="float32")
    train = Train(max_steps=130, batch=3, max_tokens=2000, learning_rate=5e-3, warmup_steps=10, log_steps=20)
    final = train_sft(Sft(traces=(str(file),), start=start, train=train, output=str(tmp_path / "out")))
    plan = BenchPlan(corpus=corpus, suite="recommend", model=f"local:{final}", feedback=("curated",), allow_train=True)
    found = run_bench(plan, tmp_path / "bench.jsonl", batch=3)
    assert all(each.diagnosed and each.tool_calls == 1 and each.ended == "submitted" for each in found)


def test_half_a_checkpoint_is_passed_over(tmp_path: Path) -> None:
    needs_torch()
    from warpsight.learn.base import last_checkpoint

    for step, state in ((5, '{"global_step": 5}'), (9, ""), (12, '{"global'), (20, None)):
        folder = tmp_path / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    assert str(last_checkpoint(tmp_path)).endswith("checkpoint-5")


def _saved(output: Path) -> int:
    """The step of the newest checkpoint; 0 while it is being written. `spent.json` is the last of what is written."""
    from warpsight.learn.base import last_checkpoint

    kept, spent = last_checkpoint(output), output / "spent.json"
    if kept is None or not spent.is_file():
        return 0
    begun, found = (Path(kept) / "trainer_state.json").stat(), spent.stat()
    return int(kept.rpartition("-")[2]) if found.st_size and found.st_mtime_ns >= begun.st_mtime_ns else 0


def _losses(file: Path) -> list[float]:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row]


def _logged(file: Path) -> list[dict[str, float]]:
    """What reinforcement came to at each step."""
    names = ("step", "reward", "reward_std", "completions/mean_length", "loss", "grad_norm")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [{name: row[name] for name in names} for row in rows if "reward" in row]


def _same_weights(one: Path, other: Path) -> dict[str, Any]:
    """The weights of both files, which are the same."""
    import torch
    from safetensors.torch import load_file

    first, second = load_file(one), load_file(other)
    assert first.keys() == second.keys()
    assert [name for name, value in first.items() if not torch.equal(value, second[name])] == []
    return first
