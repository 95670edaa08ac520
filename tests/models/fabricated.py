"""GGUF files with the shape of known models and weights drawn at random: what can be opened and run, without a network.

`python -m tests.models.fabricated FILE.gguf [--shape qwen2.5-1.5b]` writes one of that size, with the vocabulary of the
embedded model, so that prompts have a usual length. It says nothing sensible; everything around it is real: the file
format, quantised blocks, the tokenizer, the turns of ChatML, the architecture, the memory and the time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from warpsight.models.local import embedded_weights

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TAGS = ("<tool_call>", "</tool_call>")  # single tokens, as in Qwen2.5
KINDS = ("NORMAL", "CONTROL", "USER_DEFINED", "UNUSED")
NORMAL, CONTROL, USER_DEFINED, UNUSED = (int(gguf.TokenType[name]) for name in KINDS)
BLOCK = 32  # weights that share a scale


@dataclass(frozen=True)
class Shape:
    """A model of the architecture `qwen2`."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int
    context: int = 32768
    quantised: str = "Q4_0"


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in the way of GPT-2: bytes written as letters, and which pairs are joined."""

    tokens: list[str]
    types: list[int]
    merges: list[str]


SHAPES = {
    "qwen2.5-1.5b": Shape(28, 1536, 12, 2, 8960, 151936),
    "tiny": Shape(2, 64, 4, 2, 128, 512, quantised="Q8_0"),
}


def fabricate(file: Path, shape: Shape, vocabulary: Vocabulary, *, turns: bool = True, seed: int = 0) -> Path:
    """Write the file. Without `turns` its tokenizer does not know those of ChatML."""
    writer = gguf.GGUFWriter(str(file), "qwen2")
    writer.add_name(f"random weights, {file.stem}")
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1_000_000.0)
    _add_tokenizer(writer, _padded(vocabulary, shape.vocabulary, turns))
    draw = np.random.default_rng(seed)
    for name, array, kind in _tensors(shape, draw):
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def bytes_vocabulary() -> Vocabulary:
    """One token a byte, and no merges."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    letters = {byte: chr(byte) for byte in plain} | {byte: chr(256 + at) for at, byte in enumerate(rest)}
    tokens = [letters[byte] for byte in range(256)]
    pairs = ["t h", "i n", "e r"]
    joined = [pair.replace(" ", "") for pair in pairs]
    return Vocabulary([*tokens, *joined], [NORMAL] * (len(tokens) + len(joined)), pairs)


def embedded_vocabulary() -> Vocabulary:
    """That of the embedded model; ToolMissing where it is not installed."""
    fields = gguf.GGUFReader(str(embedded_weights())).fields

    def read(name: str) -> Any:
        return fields[f"tokenizer.ggml.{name}"].contents()

    return Vocabulary(read("tokens"), read("token_type"), read("merges"))


def _padded(found: Vocabulary, size: int, turns: bool) -> Vocabulary:
    """The vocabulary in a given size, with the special tokens in it."""
    hidden = {} if turns else {name: name.replace("im_", "turn_") for name in SPECIAL}
    tokens = [hidden.get(token, token) for token in found.tokens]
    types = list(found.types)
    for name in SPECIAL[: 3 if turns else 1]:
        if name not in tokens:
            tokens.append(name)
            types.append(CONTROL)
    tokens += TAGS
    types += [USER_DEFINED] * len(TAGS)
    more = size - len(tokens)
    assert more >= 0, f"expected room for {len(tokens)} tokens, the shape has {size}"
    return Vocabulary(tokens + [f"[unused{at}]" for at in range(more)], types + [UNUSED] * more, found.merges)


def _add_tokenizer(writer: gguf.GGUFWriter, found: Vocabulary) -> None:
    end = "<|im_end|>" if "<|im_end|>" in found.tokens else "<|endoftext|>"
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(found.tokens)
    writer.add_token_types(found.types)
    writer.add_token_merges(found.merges)
    writer.add_eos_token_id(found.tokens.index(end))
    writer.add_pad_token_id(found.tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHATML)


def _tensors(shape: Shape, draw: np.random.Generator) -> Iterator[tuple[str, Any, Any]]:
    """Names, arrays and kinds; matrices are (out, in). Without `output.weight` the embedding is used twice."""
    kind = gguf.GGMLQuantizationType[shape.quantised]
    plain = gguf.GGMLQuantizationType.F32
    hidden, kv = shape.hidden, shape.hidden // shape.heads * shape.kv_heads
    yield "token_embd.weight", _blocks(shape.vocabulary, hidden, kind, draw), kind
    yield "output_norm.weight", np.ones(hidden, np.float32), plain
    for layer in range(shape.layers):
        at = f"blk.{layer}"
        for name, rows, columns in (
            ("attn_q", hidden, hidden),
            ("attn_k", kv, hidden),
            ("attn_v", kv, hidden),
            ("attn_output", hidden, hidden),
            ("ffn_gate", shape.feed_forward, hidden),
            ("ffn_up", shape.feed_forward, hidden),
            ("ffn_down", hidden, shape.feed_forward),
        ):
            yield f"{at}.{name}.weight", _blocks(rows, columns, kind, draw), kind
        for name, size in (("attn_q", hidden), ("attn_k", kv), ("attn_v", kv)):
            yield f"{at}.{name}.bias", draw.normal(0, 0.02, size).astype(np.float32), plain
        for name in ("attn_norm", "ffn_norm"):
            yield f"{at}.{name}.weight", np.ones(hidden, np.float32), plain


def _blocks(rows: int, columns: int, kind: Any, draw: np.random.Generator) -> Any:
    """Random quantised blocks, drawn as such: a scale in half precision, then the numbers it is for."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    made = draw.integers(0, 256, (rows, columns // BLOCK, size), dtype=np.uint8)
    largest = 127 if size > BLOCK else 8
    scale = np.float16(1.7 * columns**-0.5 / largest)  # what a matrix multiplies keeps its size
    made[:, :, :2] = np.frombuffer(scale.tobytes(), np.uint8)
    return made.reshape(rows, -1)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("file", type=Path)
    asked.add_argument("--shape", choices=list(SHAPES), default="qwen2.5-1.5b")
    given = asked.parse_args()
    shape = SHAPES[given.shape]
    vocabulary = bytes_vocabulary() if shape.vocabulary < 50_000 else embedded_vocabulary()
    fabricate(given.file, shape, vocabulary)
    print(f"{given.file}: {given.file.stat().st_size / 1e9:.2f} GB, {given.shape}, random weights")


if __name__ == "__main__":
    main()
