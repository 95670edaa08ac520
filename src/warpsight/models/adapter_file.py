"""A PEFT adapter as the light engine takes it: LoRA in a GGUF file, made once and kept in the cache folder.

Covers plain LoRA on the linear layers of Llama and Qwen2 models; anything else is refused by name. Llama files keep the
rows of queries and keys in another order than PEFT does, so theirs are put in that order here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from warpsight.errors import UsageError
from warpsight.files import put_in_place
from warpsight.models.gguf_file import Scalar, read_head, write_gguf
from warpsight.toolchain.cache import cache_folder, content_key

CONFIG, TENSORS = "adapter_config.json", "adapter_model.safetensors"
TORCH = "WARPSIGHT_ENGINE=torch runs it"
FORM = "1"  # of what is made here; part of the name in the cache
_PLACES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip
_NAME = re.compile(r"base_model\.model\.model\.layers\.(\d+)\.(\w+\.\w+)\.lora_([AB])\.weight")
_KINDS: dict[str, Any] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype(ml_dtypes.bfloat16)}
_PLAIN = ("use_dora", "use_rslora", "modules_to_save", "rank_pattern", "alpha_pattern", "lora_bias", "fan_in_fan_out")
ORDERED = ("llama",)  # architectures whose files have queries and keys in an order of their own


def engine_adapter(folder: Path, weights: Path, aside: Path) -> Path:
    """The adapter as one GGUF file for these weights: from the cache, or in the folder `aside` where there is none."""
    head = read_head(weights)
    kind = str(head.get("general.architecture", ""))
    heads = (_count(head, f"{kind}.attention.head_count"), _count(head, f"{kind}.attention.head_count_kv"))
    digest = hashlib.sha256((folder / TENSORS).read_bytes()).hexdigest()
    key = content_key(FORM, digest, (folder / CONFIG).read_text(), kind, str(heads))
    kept = cache_folder()
    place = (aside if kept is None else kept / "weights") / f"{key}.gguf"
    if place.is_file():
        return place
    config = _plain_config(folder)
    tensors = dict(_read(folder, kind, heads))
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f"{key}.{os.getpid()}")
    told: dict[str, str | float] = {
        "general.architecture": kind,
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": float(config["lora_alpha"]),
    }
    write_gguf(new, told, tensors)
    put_in_place(new, place)
    return place


def _count(head: Mapping[str, Scalar], name: str) -> int:
    found = head.get(name)
    if not isinstance(found, int):
        raise UsageError(f"the weights do not say `{name}`, which an adapter needs", hint="use them without --adapter")
    return found


def _plain_config(folder: Path) -> dict[str, Any]:
    config = cast("dict[str, Any]", json.loads((folder / CONFIG).read_text()))
    odd = [name for name in _PLAIN if config.get(name)]
    if config.get("peft_type") != "LORA" or odd or config.get("bias", "none") != "none":
        why = ", ".join(odd) or f"peft_type {config.get('peft_type')}, bias {config.get('bias')}"
        raise UsageError(f"expected a plain LoRA adapter at {folder}, found {why}", hint=TORCH)
    return config


def _read(folder: Path, kind: str, heads: tuple[int, int]) -> list[tuple[str, NDArray[np.float32]]]:
    data = (folder / TENSORS).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    told = cast("dict[str, dict[str, Any]]", json.loads(data[8:start]))
    found: list[tuple[str, NDArray[np.float32]]] = []
    for name, part in sorted(told.items()):
        if name == "__metadata__":
            continue
        match = _NAME.fullmatch(name)
        if match is None or match[2] not in _PLACES or part["dtype"] not in _KINDS:
            raise UsageError(f"{folder}: no place is known for `{name}`", hint=TORCH)
        begin, end = part["data_offsets"]
        tensor = np.frombuffer(data[start + begin : start + end], _KINDS[part["dtype"]]).reshape(part["shape"])
        place, side = _PLACES[match[2]], match[3].lower()
        if side == "b" and kind in ORDERED and place in ("attn_q", "attn_k"):
            tensor = in_file_order(tensor, heads[0] if place == "attn_q" else heads[1])
        found.append((f"blk.{match[1]}.{place}.weight.lora_{side}", tensor.astype(np.float32)))
    return found


def in_file_order(rows: NDArray[Any], heads: int) -> NDArray[Any]:
    """Rows of queries or keys as Llama files have them: the two halves of each head are interleaved."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)
