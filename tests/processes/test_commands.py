"""Every long command, killed for real at random moments: nothing outlives it, nothing is lost, and it goes on."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from warpsight.verbs.train import PACKAGES

ROOT = Path(__file__).parents[2]
KILLER = Path(__file__).with_name("last_parent.py")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CORPUS = "corpus.jsonl"
OURS = ("-m", "warpsight.cli.app")
SFT = """traces = ["some.jsonl"]
output = "{output}"
[start]
lora_rank = 0
dtype = "float32"
scratch = {{ vocabulary = 400, hidden = 32, layers = 1, heads = 2 }}
[train]
max_steps = {steps}
batch = 2
max_tokens = 2000
log_steps = 1
save_minutes = 1e-9
"""
RL = """corpus = "train.jsonl"
output = "rl"
group = 2
resample = 1
[start]
weights = "{weights}"
lora_rank = 4
dtype = "float32"
[train]
max_steps = 5
batch = 2
max_tokens = 600
log_steps = 1
save_minutes = 1e-9
"""


@dataclass(frozen=True)
class Long:
    """A command, how to go on with it, what it writes, and how long after its first process (or the file `begun`) it is
    in full swing. `ended` is there once it has ended by itself."""

    words: tuple[str, ...]
    again: tuple[str, ...] = ()
    file: str = ""
    latest_s: float = 4.0
    serves: bool = False
    begun: str = ""
    ended: str = ""
    program: tuple[str, ...] = OURS


COMMANDS = {
    "corpus": Long(("corpus", "build", "built.jsonl", "--count", "4", "--cores", "2"), file="built.jsonl"),
    "bench": Long(
        ("bench", "run", CORPUS, "out.jsonl", "--model", "rival:top-finding", "--processes", "2"),
        file="out.jsonl",
    ),
    "apply": Long(
        ("bench", "apply", CORPUS, "said.jsonl", "tried.jsonl", "--out", "o.jsonl", "--count", "2", "--processes", "2"),
        file="tried.jsonl",
    ),
    "traces": Long(
        ("train", "traces", "train.jsonl", "traces.jsonl", "--processes", "2"),
        file="traces.jsonl",
    ),
    "sft": Long(("train", "sft", "sft.toml"), begun="sft/spent.json", ended="sft/summary.json", latest_s=2.0),
    "rl": Long(("train", "rl", "rl.toml"), begun="rl/spent.json", ended="rl/summary.json", latest_s=2.0),
    "optimize": Long(("optimize", "transpose", "--model", "scripted:demo"), again=("resume", "last")),
    "tune": Long(("tune", "transpose_tiled", "--tries", "3"), again=("tune", "--resume", "last")),
    "check": Long(("check", "matmul_naive"), latest_s=2.0),
    "rewrite": Long(("rewrite", "transpose_tiled", "bank_conflicts", "--out", "new.cu"), latest_s=2.0),
    "view": Long(("view", "--no-open"), serves=True, latest_s=2.0),
    "mcp": Long(("mcp",), serves=True, latest_s=2.0),
    "mcp-http": Long(("mcp", "--http", "--port", "0"), serves=True, latest_s=2.0),
    "redteam": Long(("rocket",), program=("-m", "redteam"), latest_s=2.0),
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small corpora of both splits and a file of answers, made once."""
    folder = tmp_path_factory.mktemp("corpora")
    for name, split in ((CORPUS, "test"), ("train.jsonl", "train")):
        ended = run(folder, ("corpus", "build", name, "--split", split, "--count", "3"))
        assert ended.returncode == 0, ended.stderr
    words = ("bench", "run", CORPUS, "said.jsonl", "--model", "rival:top-finding")
    assert run(folder, words).returncode == 0
    return folder


@pytest.fixture(scope="module")
def trainings(corpora: Path) -> Path:
    """What the trainers need, in the same folder: traces, weights to reinforce, and a checkpoint after every step."""
    for package in PACKAGES:
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")
    assert run(corpora, ("train", "traces", "train.jsonl", "some.jsonl")).returncode == 0
    begin = corpora / "begin.toml"
    begin.write_text(SFT.format(steps=2, output=corpora / "begin"))
    ended = run(corpora, ("train", "sft", str(begin)))
    assert ended.returncode == 0, ended.stderr
    (corpora / "sft.toml").write_text(SFT.format(steps=40, output="sft"))
    (corpora / "rl.toml").write_text(RL.format(weights=corpora / "begin" / "final"))
    return corpora


def environment(folder: Path) -> dict[str, str]:
    chosen = {"WARPSIGHT_DATA": str(folder / "data"), "WARPSIGHT_MCP_TOKEN": "a" * 40, "PYTHONPATH": str(ROOT)}
    return {**os.environ, **chosen}


def run(
    folder: Path, words: tuple[str, ...], program: tuple[str, ...] = Long(()).program
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, *program, *words]
    return subprocess.run(
        argv, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300, check=False
    )


def kill(folder: Path, long: Long, by: signal.Signals, wait: str) -> dict[str, object]:
    argv = [sys.executable, str(KILLER), str(int(by)), wait, sys.executable, *long.program, *long.words]
    ended = subprocess.run(
        argv, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return {**json.loads(ended.stdout), "said": ended.stderr}


def said(found: dict[str, object]) -> str:
    return str(found["said"])


def hold_to_it(folder: Path, long: Long, by: signal.Signals, wait: str) -> None:
    found = kill(folder, long, by, wait)
    assert found["left"] == [], found
    expected = -by if by == signal.SIGKILL else 128 + by
    done = () if long.serves else (0, 1)  # it may have ended before the signal came
    unbegun = "KeyboardInterrupt" in said(found) and "Stopped" not in said(found)  # Python itself was still starting
    early = {1, -by} if unbegun else {-by}
    ended_as = {expected, 128 + signal.SIGTERM} if long.serves and by == signal.SIGHUP else {expected}
    assert found["code"] in {*early, *ended_as, *done}, found
    if found["code"] == 128 + by and not long.program[1].startswith("redteam"):
        assert f"stopped by {by.name}" in said(found), found
    if not unbegun:
        assert "Traceback" not in said(found), found["said"]
    if (file := folder / long.file).is_file():
        for line in file.read_text().split("\n")[:-1]:
            json.loads(line)


def goes_on(folder: Path, long: Long) -> None:
    if long.again:  # unless it was killed before there was anything, or after it had ended
        ended = run(folder, long.again)
        nothing = ended.returncode == 2 and ("has ended" in ended.stderr or "no " in ended.stderr)
        assert nothing or ended.returncode in (0, 1), ended.stderr
    ended = run(folder, long.words, long.program)
    assert ended.returncode in (0, 1) and "Traceback" not in ended.stderr, ended.stderr
    if long.ended:
        steps = [int(step) for step in re.findall(r"^step (\d+):", ended.stderr, re.MULTILINE)]
        assert not steps or steps[0] > 1, "a checkpoint was there when it was killed"
        assert (folder / long.ended).is_file() and ended.returncode == 0, ended.stderr


def place(tmp_path: Path, corpora: Path | None) -> Path:
    (tmp_path / "tasks").symlink_to(ROOT / "tasks")
    for file in [*corpora.glob("*.jsonl"), *corpora.glob("*.toml")] if corpora else ():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("name", "by"), [("corpus", signal.SIGKILL), ("corpus", signal.SIGTERM), ("mcp", signal.SIGTERM)]
)
def test_a_command_that_is_killed_leaves_no_process(name: str, by: signal.Signals, tmp_path: Path) -> None:
    hold_to_it(place(tmp_path, None), COMMANDS[name], by, "1.5" if COMMANDS[name].serves else "+0.5")


@pytest.mark.slow
@pytest.mark.parametrize("by", SIGNALS, ids=[one.name for one in SIGNALS])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_long_command_can_be_killed_at_any_moment(
    name: str, by: signal.Signals, tmp_path: Path, corpora: Path, request: pytest.FixtureRequest
) -> None:
    if COMMANDS[name].ended:
        request.getfixturevalue("trainings")
    folder, long = place(tmp_path, corpora), COMMANDS[name]
    if name == "view":
        assert run(folder, ("runs",)).returncode == 0, "makes the store that it shows"
    moments = random.Random(f"{name} {by}")
    working = "" if long.serves else f"{long.begun}+"
    for wait in (f"{working}{moments.uniform(0, long.latest_s):.3f}", f"{moments.uniform(0.05, 3):.3f}"):
        hold_to_it(folder, long, by, wait)
    if not long.serves:
        goes_on(folder, long)
