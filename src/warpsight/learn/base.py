"""The model that training begins with, and how what was learned is written: the parts both trainers share.

What must stay true: a folder that training writes can be opened by `warpsight ... --model local:FOLDER` (all weights)
or `--adapter FOLDER` (an adapter), and an adapter is stored in half precision, since it ships with the package.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import transformers

from warpsight.errors import ToolMissing, UsageError
from warpsight.files import write_whole
from warpsight.learn.config import LOGGERS, LoggerName, Rl, Sft, Start, Train
from warpsight.learn.curves import write_curves
from warpsight.models.local import EMBEDDED, embedded_weights
from warpsight.models.precision import fast_precision
from warpsight.models.weights import load_pair
from warpsight.short.prompting import Suite
from warpsight.short.trained import write_trained

FINAL = "final"
MAY_CHANGE = ("max_steps", "minutes", "save_minutes", "log_steps", "threads", "log")
LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")  # of a Llama shape


def load_start(start: Start, train: Train, texts: Iterable[str] = ()) -> tuple[Any, Any]:
    """Tokenizer and model, with a new or a given adapter on it."""
    seed = train.seed
    dtype = fast_precision(cpu=train.cpu) if start.dtype == "auto" else start.dtype
    if start.scratch is not None:
        from warpsight.learn.scratch import make_scratch

        return make_scratch(start.scratch, texts, seed, dtype)
    tokenizer, model = load_pair(Path(start.weights) if start.weights else embedded_weights(), dtype)
    if tokenizer.pad_token is None or tokenizer.pad_token == tokenizer.eos_token:
        tokenizer.pad_token = "<|endoftext|>"
    if start.adapter:
        import peft

        return tokenizer, peft.PeftModel.from_pretrained(model, start.adapter, is_trainable=True, local_files_only=True)
    if start.lora_rank:
        import peft

        torch.manual_seed(seed)
        layers = model.config.num_hidden_layers
        lora = peft.LoraConfig(
            r=start.lora_rank,
            lora_alpha=start.lora_alpha,
            target_modules="all-linear" if not start.lora_layers else list(LINEAR),
            layers_to_transform=list(range(layers))[-start.lora_layers :] if start.lora_layers else None,
            task_type="CAUSAL_LM",
        )
        return tokenizer, peft.get_peft_model(model, lora)
    return tokenizer, model


def arguments_of(train: Train, output: Path) -> dict[str, Any]:
    """What both trainers are told."""
    if train.threads:
        torch.set_num_threads(train.threads)
    return {
        "output_dir": str(output / "checkpoints"),
        "seed": train.seed,
        "max_steps": train.max_steps,
        "per_device_train_batch_size": train.batch,
        "gradient_accumulation_steps": train.accumulate,
        "learning_rate": train.learning_rate,
        "lr_scheduler_type": train.schedule,
        "warmup_steps": train.warmup_steps,
        "logging_steps": train.log_steps,
        "save_strategy": "steps",
        "save_steps": 10**9,  # by the clock instead: see Pace
        "save_total_limit": 2,
        "report_to": require_logger(train.log, output),
        "use_cpu": train.cpu,
        "bf16": False,  # weights are in the configured precision already
        "gradient_checkpointing": False,
        "disable_tqdm": True,
        "dataloader_pin_memory": not train.cpu,
    }


def require_logger(name: LoggerName, output: Path) -> str:
    """The logger beside our own curves; ToolMissing where its package is not installed."""
    if name == "none":
        return name
    if not any(importlib.util.find_spec(package) for package in LOGGERS[name]):
        raise ToolMissing(f"--log {name} needs its package", hint=f"pip install {name}")
    if name == "tensorboard":
        os.environ["TENSORBOARD_LOGGING_DIR"] = str(output / "tensorboard")
    return name


def begin(config: Sft | Rl, output: Path, inputs: Iterable[Path]) -> Path | None:
    """What this very run has learned, where it is finished. A folder with a run of another configuration, or on other
    `inputs` of the same names, is refused: its checkpoints would be gone on with."""
    asked = config.model_dump(mode="json")
    summary, kept, final = output / "summary.json", output / "config.json", output / FINAL
    given, noted = digest_of(inputs), output / "inputs.sha256"
    done = summary.is_file() and final.is_dir() and json.loads(summary.read_text())["config"] == asked
    if (done or last_checkpoint(output)) and noted.is_file() and noted.read_text().strip() != given:
        raise UsageError(
            f"{output} was trained on other files than those that now have their names",
            hint="another `output`, or remove that folder",
        )
    if done:
        print(f"finished before: {final}", flush=True)
        return final
    if kept.is_file() and last_checkpoint(output) and _essence(json.loads(kept.read_text())) != _essence(asked):
        raise UsageError(
            f"{output} has checkpoints of another configuration ({kept})",
            hint="another `output`, or remove that folder",
        )
    output.mkdir(parents=True, exist_ok=True)
    write_whole(kept, json.dumps(asked, indent=2) + "\n")
    write_whole(noted, given + "\n")
    return None


def digest_of(inputs: Iterable[Path]) -> str:
    """A digest of what the files hold; of a folder, of all its files. What is missing is told by who reads it."""
    found = hashlib.sha256()
    for path in inputs:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _essence(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration without what may change while a run goes on: how long, how often, and how many threads."""
    train = {name: value for name, value in config["train"].items() if name not in MAY_CHANGE}
    return {**config, "train": train}


class Pace(transformers.TrainerCallback):
    """Saves every few minutes, ends when the minutes are spent, and writes the curves while it goes on."""

    def __init__(
        self, train: Train, output: Path, names: tuple[str, ...], counted: Callable[[], dict[str, float]] = dict
    ) -> None:
        self._train = train
        self._output = output
        self._names = names
        self._counted = counted
        self._kept = output / "spent.json"
        self._before: dict[str, float] = {}
        if self._kept.is_file() and last_checkpoint(output):
            self._before = json.loads(self._kept.read_text())
        self._began = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has trained, with what came before an interruption and was saved."""
        return self.spent()["seconds"]

    def spent(self) -> dict[str, float]:
        """That, and all else that is counted."""
        now = {"seconds": time.monotonic() - self._began, **self._counted()}
        return {name: value + self._before.get(name, 0) for name, value in now.items()}

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        write_whole(self._kept, json.dumps(self.spent()))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        now = time.monotonic()
        if now - self._saved >= 60 * self._train.save_minutes:
            self._saved = now
            control.should_save = True
        if self._train.minutes is not None and self.seconds >= 60 * self._train.minutes:
            control.should_save = control.should_training_stop = control.should_log = True
        return control

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        write_curves(state.log_history, self._output, self._names)
        row = state.log_history[-1]
        shown = {name: row[name] for name in self._names if name in row}
        if shown:
            told = " ".join(f"{name} {value:.4g}" for name, value in shown.items())
            print(f"step {state.global_step}: {told}", flush=True)


def quieten(trainer: Any) -> None:
    """One line a log from us is enough."""
    trainer.remove_callback(transformers.PrinterCallback)
    transformers.utils.logging.disable_progress_bar()


def last_checkpoint(output: Path) -> str | None:
    """The newest whole checkpoint, to go on from: one whose state, which is written last, can be read."""
    folder = output / "checkpoints"
    found = [p for p in folder.glob("checkpoint-*") if _is_whole(p / "trainer_state.json")]
    return str(max(found, key=lambda p: int(p.name.rpartition("-")[2]))) if found else None


def _is_whole(state: Path) -> bool:
    try:
        return bool(json.loads(state.read_text()))
    except (OSError, ValueError):
        return False


def save_final(
    trainer: Any,
    tokenizer: Any,
    output: Path,
    summary: dict[str, Any],
    *,
    listed: bool,
    suites: Iterable[Suite],
    first_words: bool = False,
) -> Path:
    """The weights or the adapter as they are used afterwards, and what the run was."""
    final = output / FINAL
    model = trainer.accelerator.unwrap_model(trainer.model)
    model.to(torch.bfloat16).save_pretrained(str(final))
    if not (final / "adapter_config.json").is_file():  # an adapter is used with the tokenizer of its weights
        tokenizer.save_pretrained(str(final))
    write_trained(final, listed=listed, suites=suites, first_words=first_words)
    _forget_paths(final, summary)
    write_whole(output / "summary.json", json.dumps(summary, indent=2) + "\n")
    return final


def _forget_paths(final: Path, summary: dict[str, Any]) -> None:
    """What is shipped says nothing of the machine it was made on."""
    (final / "README.md").unlink(missing_ok=True)
    file = final / "adapter_config.json"
    if file.is_file():
        weights = Path(summary["config"]["start"]["weights"] or EMBEDDED[1])
        config = json.loads(file.read_text()) | {"base_model_name_or_path": weights.name}
        file.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
