"""The only module that touches torch and transformers for inference: load, encode, generate, decode.

Imported when a local model is opened. Untyped libraries end here: what comes out is lists of numbers and texts.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

from warpsight.errors import UsageError
from warpsight.models.model import OnText
from warpsight.models.prefix import Prefixes
from warpsight.models.template import TURN_END
from warpsight.toolchain.cache import cache_folder, content_key

UNPACKED_LIMIT_BYTES = 512 << 20


def load_weights(path: Path, adapter: Path | None, dtype: str) -> Weights:
    """Tokenizer and weights of a GGUF file or of a hub folder; nothing is looked up on a network."""
    quiet = io.StringIO()  # progress bars are for a program of their own
    try:
        with contextlib.redirect_stderr(quiet):
            tokenizer, model = load_pair(path, dtype)
            if adapter is not None:
                import peft

                model = peft.PeftModel.from_pretrained(model, str(adapter), local_files_only=True).merge_and_unload()
    except (OSError, ValueError, KeyError, RuntimeError) as problem:
        raise UsageError(f"could not load the weights at {path}: {problem}") from problem
    return Weights(tokenizer, model.eval())


def load_pair(path: Path, dtype: str) -> tuple[Any, Any]:
    """Tokenizer and model as transformers has them, for training; `load_weights` is for everything else."""
    if path.suffix != ".gguf":
        return _from_folder(path, dtype)
    kept = unpacked_folder(path, dtype)
    if kept is not None and kept.is_dir():
        return _from_folder(kept, dtype)
    where: dict[str, Any] = {
        "pretrained_model_name_or_path": str(path.parent),
        "gguf_file": path.name,
        "local_files_only": True,
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
    plain = transformers.GgufConfig(dequantize=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        **where, quantization_config=plain, dtype=getattr(torch, dtype)
    )
    if kept is not None:
        _keep(kept, tokenizer, model)
    return tokenizer, model


def _from_folder(folder: Path, dtype: str) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(folder), local_files_only=True, dtype=getattr(torch, dtype)
    )
    return tokenizer, model


def unpacked_folder(path: Path, dtype: str) -> Path | None:
    """Where a small GGUF file lies unpacked after its first use: unpacking takes most of the time to start."""
    folder, size = cache_folder(), path.stat().st_size
    if folder is None or size > UNPACKED_LIMIT_BYTES:
        return None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return folder / "weights" / content_key(digest, dtype, transformers.__version__)


def _keep(folder: Path, tokenizer: Any, model: Any) -> None:
    """Written aside, then renamed, so that it is there whole or not at all. Without room it is not kept."""
    aside = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        tokenizer.save_pretrained(str(aside))
        model.save_pretrained(str(aside))
        aside.rename(folder)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)


class Written(NamedTuple):
    """The tokens of each row, and whether the time was over before all rows had ended."""

    rows: list[list[int]]
    late: bool


class _TimeOver(Exception):
    """Raised between two layers of the model, to leave it."""


class _TimeLimit(transformers.StoppingCriteria):
    """The end of the time for some rows: looked at after every token, and before every layer, since reading a long
    prompt takes minutes on a small machine. `seen` is all there was at the last token."""

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds
        self.seen: Any = None
        self.came = False

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        self.seen = input_ids
        self.came = self._over()
        return torch.full((input_ids.shape[0],), self.came, dtype=torch.bool, device=input_ids.device)

    @contextlib.contextmanager
    def watching(self, model: Any) -> Any:
        """Within this, the model is left when the time is over."""
        layers = getattr(model.base_model, "layers", ()) if self._at is not None else ()
        hooks = [layer.register_forward_pre_hook(self._before_layer) for layer in layers]
        try:
            yield
        except _TimeOver:
            self.came = True
        finally:
            for hook in hooks:
                hook.remove()

    def _before_layer(self, _layer: Any, _inputs: Any) -> None:
        if self._over():
            raise _TimeOver

    def _over(self) -> bool:
        return self._at is not None and time.monotonic() >= self._at


class Weights:
    def __init__(self, tokenizer: Any, model: Any) -> None:
        self._tokenizer = tokenizer
        self._model: Any = model
        ends = [tokenizer.eos_token_id, *tokenizer.convert_tokens_to_ids([TURN_END, "<|endoftext|>"])]
        self._ends = sorted({int(token) for token in ends if token is not None and token != tokenizer.unk_token_id})
        # A token that ends a turn fills the rows that are done; each row is cut at its own first end.
        self._fill = self._ends[0]
        self._prefixes = Prefixes()

    @property
    def context_tokens(self) -> int:
        return int(self._model.config.max_position_embeddings)

    def has_tokens(self, texts: Sequence[str]) -> bool:
        return set(texts) <= set(self._tokenizer.get_vocab())

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def encode(self, text: str, *, special: bool) -> list[int]:
        """Tokens of a text; without `special`, text that spells a special token stays text."""
        found = self._tokenizer(text, add_special_tokens=False, split_special_tokens=not special)
        return [int(token) for token in found["input_ids"]]

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def generate(
        self,
        prompts: Sequence[list[int]],
        *,
        max_tokens: int,
        stops: Sequence[str],
        temperature: float | None,
        seed: int | None,
        on_text: OnText | None,
        seconds: float | None = None,
    ) -> Written:
        """What is written after each prompt, up to and with its end token, a stop text, or the limit."""
        ending = _TimeLimit(seconds)
        longest = max(map(len, prompts))
        ids = torch.tensor([[self._fill] * (longest - len(p)) + p for p in prompts])
        mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
        # What a folder recommends for chat is left out: greedy means the likeliest, and what training samples must be
        # drawn from all the model's probabilities.
        options: dict[str, Any] = {"do_sample": bool(temperature), "repetition_penalty": 1.0}
        if temperature:
            options |= {"temperature": temperature, "top_k": 0, "top_p": 1.0}
            torch.manual_seed(0 if seed is None else seed)
        if stops:
            options |= {"stop_strings": list(stops), "tokenizer": self._tokenizer}
        if on_text is not None and len(prompts) == 1:
            options["streamer"] = Pieces(self, on_text)
        with torch.inference_mode(), ending.watching(self._model):
            found = self._model.generate(
                input_ids=ids.to(self._model.device),
                attention_mask=mask.to(self._model.device),
                max_new_tokens=max_tokens,
                eos_token_id=self._ends,
                pad_token_id=self._fill,
                stopping_criteria=transformers.StoppingCriteriaList([ending]),
                past_key_values=self._prefixes.begin(prompts, longest),
                return_dict_in_generate=True,
                **options,
            )
            ending.seen = found.sequences
            self._prefixes.keep(prompts, ending.seen[:, longest:].tolist(), found.past_key_values, longest)
        rows = [[] for _ in prompts] if ending.seen is None else ending.seen[:, longest:].tolist()
        return Written([self._cut(row, stops) for row in rows], ending.came)

    def _cut(self, row: list[int], stops: Sequence[str]) -> list[int]:
        """A row without what fills it up after its end. After a stop text all that follows is fill."""
        end = next((at for at, token in enumerate(row) if token in self._ends), None)
        if end is None:
            return row
        stopped = any(stop in self.decode(row[:end]) for stop in stops)
        return row[:end] if stopped else row[: end + 1]

    def release(self) -> None:
        self._model = None
        self._prefixes = Prefixes()


class Pieces:
    """Hands on the text while it is written; half characters wait for their other half."""

    def __init__(self, weights: Weights, on_text: OnText) -> None:
        self._weights = weights
        self._on_text = on_text
        self._tokens: list[int] | None = None
        self._shown = 0

    def put(self, value: Any) -> None:
        if self._tokens is None:
            self._tokens = []  # the first call brings the prompt
            return
        self._tokens = [*self._tokens, *value.flatten().tolist()]
        text = self._weights.decode(self._tokens)
        if not text.endswith("�"):
            if len(text) > self._shown:
                self._on_text(text[self._shown :])
            self._shown = len(text)

    def end(self) -> None:
        """Nothing is held back that could still be shown."""
