"""`python -m benchmarks engines`: the light engine beside transformers, in one run on the same prompts.

The embedded weights with the shipped adapter, as `--model trained` has them. 50 prompts: kernels of the test corpus
with their profiles, where the model goes on after `profile`, with the first kernels of the file whose checks are short.
Each engine is a process of its own. Every prompt is read for one token, then asked again for the rest, so that reading
and writing are measured apart; seconds are CPU seconds, so other work on the machine hardly counts. What was answered
is kept in results/engines.jsonl and not asked again: `for=300` seconds, `n=20`, `engines=llama`, `tokens=48`, `table`.
"""

from __future__ import annotations

import contextlib
import importlib.metadata as packages
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from packaging.requirements import Requirement

from benchmarks.untrained import LONGEST_US, read_lines
from warpsight.bench.tasks import read_bench_tasks
from warpsight.corpus.build import read_rows
from warpsight.models.errors import ModelError
from warpsight.models.local import Engine, LocalModel, embedded_weights, open_local
from warpsight.models.model import AssistantMessage, Request, SystemMessage, ToolCall, ToolMessage, UserMessage
from warpsight.short.box import SmallBox
from warpsight.short.prompting import job_for
from warpsight.short.shipped import PLACE, Shipped, find_shipped

ROOT = Path(__file__).parents[1]
FILE = ROOT / "results" / "engines.jsonl"
PROMPTS = 50
TOKENS = 48
NEEDS: dict[Engine, tuple[str, ...]] = {"llama": ("xllamacpp",), "torch": ("torch", "transformers", "gguf", "peft")}
NAMES = {"llama": "llama.cpp (xllamacpp)", "torch": "transformers (torch)"}
Row = dict[str, Any]


def questions(count: int, tokens: int) -> list[Request]:
    """What the model is asked: a kernel, the call of `profile` that it was trained to make, and the result."""
    shipped = cast(Shipped, find_shipped())
    rows = {row.number for row in read_rows(ROOT / "results" / "test.jsonl") if row.truth.time_us <= LONGEST_US}
    tasks = [one.task for one in read_bench_tasks(ROOT / "results" / "test.jsonl") if one.number in rows]
    requests: list[Request] = []
    for task in tasks[:count]:
        box = SmallBox(task, shipped.suite, listed=shipped.listed, first_words=shipped.first_words)
        job = job_for(task, shipped.suite, run_id="engines", model="local", listed=shipped.listed)
        seen = box.call("profile", {})
        call = ToolCall(id="call_0", name="profile", arguments="{}")
        system, user = SystemMessage(text=job.opening.system), UserMessage(text=job.opening.user)
        result = ToolMessage(call_id=call.id, name=call.name, text=seen.text)
        turns = (system, user, AssistantMessage(calls=(call,)), result)
        requests.append(Request(messages=turns, tools=job.tools, max_tokens=tokens))
    return requests


def answer(engine: Engine, ends: float) -> None:
    """In a process of its own: requests come in, one line for the start, then one for each prompt goes out."""
    wall, cpu = time.monotonic(), time.process_time()
    model = open_local(embedded_weights(), adapter=PLACE, engine=engine)
    started = {"start_cpu_s": time.process_time() - cpu, "start_s": time.monotonic() - wall}
    print(json.dumps({"engine": engine, "prompt": -1, **started, "memory_mb": _peak_mb()}), flush=True)
    before: list[int] = []
    for line in sys.stdin:
        told = json.loads(line)
        request = Request.model_validate(told["request"])
        prompt = model.prompt_tokens(request)
        shared = sum(1 for _ in itertools.takewhile(lambda two: two[0] == two[1], zip(before, prompt, strict=False)))
        before = prompt
        reading, _ = _written(model, request.model_copy(update={"max_tokens": 1}))
        writing, tokens = _written(model, request)
        row = {"engine": engine, "prompt": told["number"], "read": len(prompt) - shared, "reading_cpu_s": reading}
        row |= {"writing_cpu_s": writing, "tokens": tokens, "memory_mb": _peak_mb()}
        print(json.dumps(row), flush=True)
        if time.monotonic() - wall >= ends:
            break
    model.close()


def _written(model: LocalModel, request: Request) -> tuple[float, list[int]]:
    """CPU seconds of a reply, of all threads, and its tokens. A reply of white space alone is none."""
    began = time.process_time()
    tokens: list[int] = []
    with contextlib.suppress(ModelError):
        tokens = json.loads(cast(str, model.reply(request).raw))["tokens"]
    return round(time.process_time() - began, 3), tokens


def _peak_mb() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024)


def measure(engine: Engine, requests: Sequence[tuple[int, Request]], ends: float) -> Iterator[Row]:
    """The rows of one engine; tokens that both should write are limited by the requests."""
    words = [sys.executable, "-m", "benchmarks.engines", engine, str(ends)]
    lines = [json.dumps({"number": n, "request": r.model_dump(mode="json")}) for n, r in requests]
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with tempfile.TemporaryFile("w+") as asked:
        asked.write("\n".join(lines) + "\n")
        asked.seek(0)
        with subprocess.Popen(words, stdin=asked, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout is not None
            yield from map(json.loads, child.stdout)


def installed_mb(names: Sequence[str]) -> float:
    """What these packages and what they need take on the disk, without what warpsight needs anyway."""
    ours = _closure(["warpsight"], set())
    return sum(_size_mb(name) for name in sorted(_closure(names, set()) - ours))


def _closure(names: Sequence[str], seen: set[str]) -> set[str]:
    for name in names:
        key = name.lower().replace("_", "-")
        if key in seen:
            continue
        try:
            needs = packages.requires(key) or []
        except packages.PackageNotFoundError:
            continue
        seen.add(key)
        found = [Requirement(need) for need in needs]
        _closure([one.name for one in found if one.marker is None or one.marker.evaluate({"extra": ""})], seen)
    return seen


def _size_mb(name: str) -> float:
    files = (Path(str(file.locate())) for file in packages.files(name) or ())
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def print_tables(rows: Sequence[Row]) -> None:
    """Both engines by themselves, then what they wrote on the prompts that both had."""
    by: dict[str, list[Row]] = {}
    starts: dict[str, list[Row]] = {}
    for row in rows:
        (starts if row["prompt"] < 0 else by).setdefault(row["engine"], []).append(row)
    names = ("engine", "installed", "start, CPU s", "read, tokens a CPU s", "written", "memory", "prompts")
    print(f"\n| {' | '.join(names)} |\n{'|---' * len(names)}|")
    for engine, some in by.items():
        print(_line(cast(Engine, engine), starts[engine], some))
    if len(by) == 2:
        _print_same(*({row["prompt"]: row["tokens"] for row in some} for some in by.values()))


def _line(engine: Engine, starts: Sequence[Row], some: Sequence[Row]) -> str:
    first = starts[-1]  # a later one: its file was unpacked before
    read = sum(row["read"] for row in some) / sum(row["reading_cpu_s"] for row in some)
    written = sum(len(row["tokens"]) for row in some) / sum(row["writing_cpu_s"] for row in some)
    return (
        f"| {NAMES[engine]} | {installed_mb(NEEDS[engine]):.0f} MB | {first['start_cpu_s']:.1f} | {read:.0f} "
        f"| {written:.1f} | {max(row['memory_mb'] for row in some):.0f} MB | {len(some)} |"
    )


def _print_same(one: Mapping[int, list[int]], other: Mapping[int, list[int]]) -> None:
    both = sorted(one.keys() & other.keys())
    same = [number for number in both if one[number] == other[number]]
    shared = [_shared(one[number], other[number]) for number in both if number not in same]
    print(f"\nthe same greedy tokens on {len(same)} of {len(both)} prompts")
    for at, number in zip(shared, (n for n in both if n not in same), strict=True):
        print(f"  prompt {number}: the first {at} of {len(one[number])} and {len(other[number])} tokens are the same")


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def main(argument: str = "") -> None:
    words = {name: value for name, _, value in (word.partition("=") for word in argument.split(",") if word)}
    ends = time.monotonic() + float(words.get("for", "1e9"))
    count, tokens = int(words.get("n", PROMPTS)), int(words.get("tokens", TOKENS))
    requests = [] if "table" in words else list(enumerate(questions(count, tokens)))
    for engine in () if "table" in words else cast(Sequence[Engine], words.get("engines", "llama+torch").split("+")):
        done = {row["prompt"] for row in read_lines(FILE) if row["engine"] == engine}
        left = [(number, request) for number, request in requests if number not in done]
        if left and time.monotonic() < ends:
            with FILE.open("a") as out:
                for row in measure(engine, left, ends - time.monotonic()):
                    out.write(json.dumps(row) + "\n")
                    out.flush()
    print_tables(read_lines(FILE))


if __name__ == "__main__":
    answer(cast(Engine, sys.argv[1]), float(sys.argv[2]))
