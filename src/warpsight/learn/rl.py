"""Reinforcement with TRL's GRPO: `warpsight train rl CONFIG`. Questions, loop, tools, gate and reward are our own.

TRL asks `Rollouts` for answers: each question is run `group` times through the loop with the weights as they are now.
Where all answers of a group earn the same, nothing can be learned from it, so another question takes its place, a few
times over. What must stay true: the tokens are those that were sampled, and those the model did not write are masked,
as are the ends of turns, which the template puts in.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportPrivateImportUsage=false
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false

from __future__ import annotations

import copy
import importlib.util
import itertools
import os
import random
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from warpsight.corpus.build import CorpusRow, read_rows
from warpsight.corpus.outcomes import OutcomeTable, is_within
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import ToolMissing, UsageError
from warpsight.learn.base import Pace, arguments_of, begin, last_checkpoint, load_start, quieten, save_final
from warpsight.learn.config import Rl
from warpsight.learn.reward import budget_reward, reward_of
from warpsight.learn.tokens import Encode, tokens_of_run
from warpsight.learn.vllm_weights import open_vllm
from warpsight.models.local import LocalModel
from warpsight.models.together import Seat, Together
from warpsight.models.weights import Weights
from warpsight.nouns.run import Run
from warpsight.processes.executor import CallElsewhere, Executor, Here, executor_for
from warpsight.short.ask import ask
from warpsight.short.box import SmallBox
from warpsight.short.box_elsewhere import BoxElsewhere, BoxPlace
from warpsight.short.budget_box import BudgetBox
from warpsight.short.trained import knows_first_words, must_list_tools

CURVES = ("reward", "reward_std", "frac_reward_zero_std", "completions/mean_length", "loss")


def train_rl(config: Rl) -> Path:
    """Train, and return the folder of what was learned."""
    output = Path(config.output)
    if (learned := begin(config, output, _inputs_of(config))) is not None:
        return learned
    rows = read_rows(Path(config.corpus))
    if any(row.split != "train" for row in rows):
        raise UsageError(f"{config.corpus} has tasks that models are measured on", hint="one of --split train")
    rows = _known_rows(config, rows)
    if config.count:
        rows = sorted(rows, key=lambda row: row.truth.time_us)[: config.count]
    tokenizer, model = load_start(config.start, config.train)
    arguments = GRPOConfig(
        **arguments_of(config.train, output),
        num_generations=config.group,
        temperature=config.temperature,
        max_completion_length=config.train.max_tokens,
        beta=config.kl,
        scale_rewards=config.scale,
        mask_truncated_completions=False,
        **vllm_arguments(config),
    )
    rollouts = Rollouts(config, rows, tokenizer, executor_for(config.on or None))
    pace = Pace(config.train, output, CURVES, rollouts.counted)
    trainer = GRPOTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list([{"prompt": str(row.number)} for row in rows]),
        processing_class=tokenizer,
        reward_funcs=[earned],
        rollout_func=rollouts,
        callbacks=[pace],
    )
    quieten(trainer)
    with rollouts.tools_at_work():
        result = trainer.train(resume_from_checkpoint=last_checkpoint(output))
    summary = {
        "config": config.model_dump(mode="json"),
        "tasks": len(rows),
        "steps": result.global_step,
        **pace.spent(),
        "rollouts_an_hour": 3600 * rollouts.made / rollouts.seconds if rollouts.seconds else None,
    }
    return save_final(
        trainer,
        tokenizer,
        output,
        summary,
        listed=rollouts.listed,
        suites=[config.suite],
        first_words=rollouts.first_words,
    )


def vllm_arguments(config: Rl) -> dict[str, Any]:
    """What TRL is told where vLLM writes the answers. Their probabilities are taken from the trainer's own weights."""
    if not config.vllm_memory:
        return {}
    if config.train.cpu:
        raise UsageError("vllm_memory is for a GPU, and the configuration says cpu = true", hint="cpu = false")
    if importlib.util.find_spec("vllm") is None:
        raise ToolMissing("vllm_memory is set and vLLM is not installed", hint="pip install 'trl[vllm]'")
    return {
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_gpu_memory_utilization": config.vllm_memory,
        "vllm_importance_sampling_correction": False,
    }


def earned(completions: Sequence[Any], earned: Sequence[float], **_: Any) -> list[float]:
    """The reward of each answer, as the rollouts found it."""
    return [float(each) for each in earned]


def as_used(model: Any) -> Any:
    """A copy of the model as it is now, as it will be used: an adapter is merged, which writes faster too. The weights
    that are trained are not merged and taken apart again: in half precision that would change them."""
    copied = copy.deepcopy(model)
    used = copied.merge_and_unload() if hasattr(copied, "merge_and_unload") else copied
    vars(used).pop("forward", None)  # TRL's own forward has the model that is trained in its closure
    return used.eval()


class Rollouts:
    """What TRL calls for answers."""

    def __init__(self, config: Rl, rows: Sequence[CorpusRow], tokenizer: Any, executor: Executor | None = None) -> None:
        self._config = config
        self._executor = executor or Here()
        self._at: CallElsewhere | None = None
        self._rows = {str(row.number): row for row in rows}
        self._tokenizer = tokenizer
        self.listed = must_list_tools(_folder_of(config))
        self.first_words = knows_first_words(_folder_of(config))
        self._draw = random.Random(f"rl {config.train.seed}")
        self._number = itertools.count()
        self._table = OutcomeTable.read(Path(config.table)) if config.table else None
        self.made = self.equal = self.groups = 0
        self.seconds = 0.0

    @contextmanager
    def tools_at_work(self) -> Generator[None]:
        """While this lasts the tools' calls are made on the executor, where that is not this process."""
        if isinstance(self._executor, Here):
            yield
            return
        with self._executor.calls() as self._at:
            yield
        self._at = None

    def box_of(self, row: CorpusRow) -> SmallBox:
        place = BoxPlace(
            task_of(row.spec), self._config.suite, self._config.feedback, self.listed, plain_of(row.spec), True,
            self.first_words,
        )  # fmt: skip
        return place.open(cores=os.cpu_count() or 1) if self._at is None else BoxElsewhere(self._at, place)

    def counted(self) -> dict[str, float]:
        """What was made, for the record."""
        return {
            "rollouts": self.made,
            "rollout_seconds": self.seconds,
            "equal_groups": self.equal,
            "groups": self.groups,
        }

    def _encode(self, text: str, special: bool) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False, split_special_tokens=not special)["input_ids"]

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        began = time.monotonic()
        if not self.made and trainer.state.global_step:  # gone on with: what comes is new
            self._draw = random.Random(f"rl {self._config.train.seed} {trainer.state.global_step}")
            self._number = itertools.count(1000 * trainer.state.global_step)
        local = LocalModel("policy", self._policy(trainer), batch=max(8, self._config.group))
        found = [each for prompt in _groups(prompts, self._config.group) for each in self._group(prompt, local)]
        self.seconds += time.monotonic() - began
        return {
            "prompt_ids": [prompt for prompt, _, _, _ in found],
            "completion_ids": [ids for _, ids, _, _ in found],
            "env_mask": [mask for _, _, mask, _ in found],
            "earned": [value for _, _, _, value in found],
            "logprobs": None,
        }

    def _policy(self, trainer: Any) -> Weights:
        """The weights as they are now."""
        if self._config.vllm_memory:
            return open_vllm(self._tokenizer, trainer)
        return Weights(self._tokenizer, as_used(trainer.accelerator.unwrap_model(trainer.model)))

    def _group(self, prompt: str, local: LocalModel) -> list[tuple[list[int], list[int], list[int], float]]:
        """The answers to a question, or to another one where these teach nothing."""
        row = self._rows[prompt]
        runs, values = self._answers(row, local)
        for _ in range(self._config.resample):
            if max(values) - min(values) > 1e-6:
                break
            row = self._draw.choice(list(self._rows.values()))
            runs, values = self._answers(row, local)
        return [(*_split(run, self._encode), value) for run, value in zip(runs, values, strict=True)]

    def _answers(self, row: CorpusRow, local: LocalModel) -> tuple[list[Run], list[float]]:
        """A group of runs and what each earned."""
        seed = self._config.train.seed * 1_000_003 + next(self._number)
        boxes = self._boxes(row)

        def one(number: int, seat: Seat) -> Run:
            name = f"rl-{seed}-{row.number}-{number}"
            asked = self._config
            return ask(
                boxes[number], seat, run_id=name, temperature=asked.temperature, seed=seed,
                reply_tokens=asked.reply_tokens,
            )  # fmt: skip

        works: list[Callable[[Seat], Run]] = [partial(one, number) for number in range(self._config.group)]
        runs = Together(local).run(works)
        values = [self._earned(row, run, box) for run, box in zip(runs, boxes, strict=True)]
        self.made += len(works)
        self.groups += 1
        self.equal += max(values) - min(values) <= 1e-6
        return runs, values

    def _boxes(self, row: CorpusRow) -> list[SmallBox]:
        """The tools of each conversation of a group: one box for all, or one each where it remembers what was tried."""
        asked, table = self._config, self._table
        if table is None:
            return [self.box_of(row)] * asked.group
        tries, known = self._draw.choice(asked.tries), partial(table.tries_of, row.spec.key)
        return [
            BudgetBox(
                task_of(row.spec),
                asked.suite,
                asked.feedback,
                tries=tries,
                known=known,
                cores=os.cpu_count() or 1,
                listed=self.listed,
                plain=plain_of(row.spec),
                by_plain=True,
            )
            for _ in range(asked.group)
        ]

    def _earned(self, row: CorpusRow, run: Run, box: SmallBox) -> float:
        line = None if self._table is None else self._table.line(row.spec.key)
        if line is None or not isinstance(box, BudgetBox):
            return reward_of(run, row.truth.right, self._config.prices)
        within = run.submission is not None and is_within(line, run.submission.cause)
        return budget_reward(run.submission, box.spent, within, run.spent.tool_calls, self._config.prices)


def _known_rows(config: Rl, rows: Sequence[CorpusRow]) -> list[CorpusRow]:
    """The tasks that the table has, where there is one; the others would have to be measured between two turns."""
    if not config.table:
        return list(rows)
    table = OutcomeTable.read(Path(config.table))
    known = [row for row in rows if table.tries_of(row.spec.key, ()) is not None]
    if not known:
        raise UsageError(f"{config.table} has none of the tasks of {config.corpus}", hint="another table or corpus")
    return known


def _inputs_of(config: Rl) -> list[Path]:
    """What is learned from: the tasks, and the adapter that training begins with."""
    return [Path(named) for named in (config.corpus, config.table, config.start.adapter) if named]


def _folder_of(config: Rl) -> Path | None:
    """Where the model that training begins with says how it is asked."""
    named = config.start.adapter or config.start.weights
    return Path(named) if named else None


def _groups(prompts: Sequence[str], size: int) -> Iterator[str]:
    """One of each group: TRL repeats a question as many times as it wants answers."""
    for start in range(0, len(prompts), size):
        group = set(prompts[start : start + size])
        if len(group) != 1 or start + size > len(prompts):
            raise UsageError(f"expected whole groups of {size} equal questions", hint="make batch a multiple of group")
        yield group.pop()


def _split(run: Run, encode: Encode) -> tuple[list[int], list[int], list[int]]:
    """Prompt, completion, and which tokens of the completion the model wrote."""
    ids, mask = tokens_of_run(run, encode)
    start = mask.index(1) if 1 in mask else max(0, len(ids) - 1)
    return ids[:start], ids[start:], mask[start:]
