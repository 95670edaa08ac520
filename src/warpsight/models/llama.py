"""Local weights through llama.cpp (the package xllamacpp): a GGUF file, with or without an adapter, on the processor.

The engine's own server runs inside this process and listens on loopback with a random key; tokens go in and come out,
so templates, stops and limits stay ours. It keeps what it has read, answers several requests side by side, and holds a
reply to a grammar. What must stay true: foreign text never becomes a special token; nothing is looked up on a network;
nobody without the key is answered.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
import os
import secrets
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from warpsight.errors import UsageError
from warpsight.models.adapter_file import engine_adapter
from warpsight.models.errors import ModelUnavailable
from warpsight.models.gguf_file import read_head
from warpsight.models.model import OnText
from warpsight.models.sse import events
from warpsight.models.template import TURN_END
from warpsight.models.text_calls import CLOSE, OPEN
from warpsight.models.written import Written

MOST_CONTEXT = 16_384  # tokens, of all rows together: what is kept of them takes memory
ROWS = 4  # that are answered side by side
_ENDS = (TURN_END, "<|endoftext|>")


def load_llama(path: Path, adapter: Path | None) -> LlamaWeights:
    """The engine with these weights, ready to be asked."""
    import xllamacpp

    head = read_head(path)
    trained = head.get(f"{head.get('general.architecture')}.context_length")
    context = min(MOST_CONTEXT, trained) if isinstance(trained, int) else MOST_CONTEXT
    key = secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as aside:
        asked = xllamacpp.CommonParams()
        asked.model.path = str(path)
        asked.n_ctx, asked.n_parallel, asked.kv_unified = context, ROWS, True
        asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = _threads()
        asked.cpuparams.poll = asked.cpuparams_batch.poll = 0  # threads that spin stand in one another's way
        asked.hostnames, asked.port, asked.api_keys = ["127.0.0.1"], 0, [key]
        asked.warmup, asked.verbosity, asked.offline, asked.ui = False, -1, True, False
        if adapter is not None:
            lora = xllamacpp.CommonAdapterLoraInfo()
            lora.path, lora.scale = str(engine_adapter(adapter, path, Path(aside))), 1.0
            asked.lora_adapters = [lora]
        try:
            server = xllamacpp.Server(asked)
        except (RuntimeError, ValueError) as problem:
            raise UsageError(f"llama.cpp could not load the weights at {path}: {problem}") from None
    return LlamaWeights(server, key, context)


def _threads() -> int:
    """One for each processor, or what `OMP_NUM_THREADS` says: threads wait for one another after every layer, so on a
    busy machine fewer are faster."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdigit() and int(said) > 0 else len(os.sched_getaffinity(0))


class LlamaWeights:
    """The same to a LocalModel as weights in torch are."""

    holds_grammars = True

    def __init__(self, server: Any, key: str, context: int) -> None:
        self._server = server
        self.context_tokens = context
        # No time-out: how long a reply may take is said with each.
        self._client = httpx2.Client(
            base_url=server.listening_address, headers={"Authorization": f"Bearer {key}"}, timeout=None, trust_env=False
        )
        ends = [self.encode(text, special=True) for text in _ENDS]
        self._ends = {tokens[0] for tokens in ends if len(tokens) == 1}

    def has_tokens(self, texts: Sequence[str]) -> bool:
        return all(len(self.encode(text, special=True)) == 1 for text in texts)

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def encode(self, text: str, *, special: bool) -> list[int]:
        """Tokens of a text; without `special`, text that spells a special token stays text."""
        asked = {"content": text, "add_special": False, "parse_special": special}
        return [int(token) for token in self._post("/tokenize", asked)["tokens"]]

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self._post("/detokenize", {"tokens": list(tokens)})["content"])

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
        call: Mapping[str, Any] | None = None,
    ) -> Written:
        """What is written after each prompt, up to and with its end token, a stop text, or the limit. With `call`, the
        schema of a call, each row is one call in tags and nothing else."""
        ends_at = None if seconds is None else time.monotonic() + seconds
        asked: dict[str, Any] = {
            "n_predict": max_tokens, "stop": list(stops), "cache_prompt": True, "return_tokens": True, "stream": True,
            "temperature": temperature or 0.0, "samplers": ["temperature"], "seed": seed or 0,
        }  # fmt: skip
        if call is not None:
            asked["grammar"] = call_grammar(call)
        with ThreadPoolExecutor(len(prompts)) as pool:
            heard = on_text if len(prompts) == 1 else None
            waiting = [pool.submit(self._row, {**asked, "prompt": prompt}, ends_at, heard) for prompt in prompts]
            rows = [one.result() for one in waiting]
        return Written([tokens for tokens, _ in rows], any(late for _, late in rows))

    def _row(self, asked: Mapping[str, Any], ends_at: float | None, on_text: OnText | None) -> tuple[list[int], bool]:
        """The tokens of one row, and whether its time was over first. A connection that is closed ends the work."""
        tokens: list[int] = []
        left = None if ends_at is None else max(0.001, ends_at - time.monotonic())
        try:
            with self._client.stream("POST", "/completion", json=dict(asked), timeout=left) as response:
                if response.status_code != 200:
                    raise ModelUnavailable(f"llama.cpp refused the request: {response.read().decode()[:300]}")
                for event in events(response.iter_raw()):
                    said = json.loads(event.data)
                    tokens += [int(token) for token in said.get("tokens") or ()]
                    if on_text is not None and said.get("content"):
                        on_text(str(said["content"]))
                    if said.get("stop"):
                        return self._ended(tokens, str(said.get("stop_type"))), False
                    if ends_at is not None and time.monotonic() >= ends_at:
                        return tokens, True
        except httpx2.TimeoutException:
            return tokens, True
        except httpx2.TransportError as problem:
            raise ModelUnavailable(f"the engine of the local model broke off: {problem}") from None
        raise ModelUnavailable("the engine of the local model broke off")

    def _ended(self, tokens: list[int], how: str) -> list[int]:
        """With the token that ended the turn, which the engine may leave out."""
        if how == "eos" and self._ends and not (tokens and self.is_end(tokens[-1])):
            return [*tokens, min(self._ends)]
        return tokens

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        response = self._client.post(path, json=dict(body))
        response.raise_for_status()
        return response.json()

    def release(self) -> None:
        self._client.close()
        self._server = None


def call_grammar(call: Mapping[str, Any]) -> str:
    """A grammar whose only texts are a call of this schema in its tags."""
    tight = {**call, "x-guidance": {"whitespace_flexible": False}}
    return f'%llguidance {{}}\nstart: "{OPEN}" call "{CLOSE}"\ncall: %json {json.dumps(tight)}'
