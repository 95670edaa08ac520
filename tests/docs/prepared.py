"""What the commands of a page expect to find: the reader's own files, and the run that the pages speak of.

Real parts: kernels that are right, tasks that were measured, a run that was made by `warpsight optimize`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.docs.commands import ROOT
from tests.gate.certificate.conftest import SLOW
from tests.learn.rows import small_row, some_rows
from tests.tasks.importers.gpumode_problem import TASK, write
from tests.tasks.importers.problems import PROBLEMS
from tests.tasks.importers.programs import PROGRAMS

from warpsight.corpus.build import CorpusRow
from warpsight.models.scripted import shipped_script

Run = Callable[..., int]
STOPPED = 6  # the script had nothing more to say


def readme(folder: Path, run: Run) -> None:
    """A second version of the kernel that `warpsight new` makes."""
    assert run("new", "scratch") == 0
    text = (folder / "scratch" / "kernel.cu").read_text().replace("scratch_kernel", "my_kernel_kernel")
    (folder / "mine.cu").write_text(text.replace("256", "128"))


def speed_up(folder: Path, run: Run) -> None:
    """A certificate, as a FASTER kernel gets one: the page's own kernel is only LIKELY_FASTER."""
    certificate(folder, run)
    words = ("--baseline", "slow.cu", "--candidate", "fast.cu", "--ledger", "runs")
    assert run("compare", "vector_add", *words) == 0


def guard(folder: Path, run: Run) -> None:
    assert run("new", "my_kernel") == 0


def certificate(folder: Path, run: Run) -> None:
    (folder / "slow.cu").write_text(SLOW)
    (folder / "fast.cu").write_text((ROOT / "tasks" / "vector_add" / "kernel.cu").read_text())


def opencl(folder: Path, run: Run) -> None:
    (folder / "mine.cl").write_text((ROOT / "tasks" / "saxpy" / "kernel.cl").read_text())


def triton(folder: Path, run: Run) -> None:
    (folder / "mine.py").write_text((ROOT / "tasks" / "triton_vector_add" / "kernel.py").read_text())


def tune(folder: Path, run: Run) -> None:
    (folder / "mine.cu").write_text((ROOT / "tasks" / "saxpy" / "kernel.cu").read_text())


def importing(folder: Path, run: Run) -> None:
    """Small folders in the formats of others."""
    problem = folder / "KernelBench" / "level1" / "1_relu.py"
    problem.parent.mkdir(parents=True)
    problem.write_text(PROBLEMS[0].text)
    (folder / "my_relu.py").write_text("import torch.nn as nn\n" + PROBLEMS[0].model("ModelNew", "x.clamp(min=0)"))
    next(program for program in PROGRAMS if program.name == "adam").write(folder / "HeCBench" / "src")
    write(folder / "reference-kernels" / "problems", TASK)


def corpus(folder: Path, run: Run) -> None:
    _write(folder / "train.jsonl", some_rows())


def training(folder: Path, run: Run) -> None:
    _write(folder / "results" / "train.jsonl", some_rows()[:2])
    for name in ("bench.jsonl", "made.jsonl", "typed.jsonl"):  # what the page reports
        shutil.copyfile(ROOT / "results" / name, folder / "results" / name)


def train_a_model(folder: Path, run: Run) -> None:
    training(folder, run)
    bench(folder, run)


def bench(folder: Path, run: Run) -> None:
    """Two tasks of a family that is not trained on."""
    from warpsight.corpus.families import families

    family = next(family for family in families().values() if family.split == "test")
    _write(
        folder / "results" / "test.jsonl", [small_row(n, family.name, (d,)) for n, d in enumerate(family.defects)][:2]
    )


def a_run(folder: Path, run: Run) -> None:
    """The run that ships as a demo."""
    assert run("optimize", "transpose", "--model", "scripted:demo", "--out", "new.cu", "-q") == 0


def a_stopped_run(folder: Path, run: Run) -> None:
    """The demo, whose model could not be had after its first turn, and can now; and before it one that ended."""
    a_run(folder, run)
    script = shipped_script("demo")
    assert script is not None
    turns = json.loads(script.read_text())
    (folder / "transpose_tile.cu").write_text((script.parent / "transpose_tile.cu").read_text())
    mine = folder / "script.json"
    mine.write_text(json.dumps(turns[:1]))
    assert run("optimize", "transpose", "--model", f"scripted:{mine}", "--out", "new.cu", "-q") == STOPPED
    mine.write_text(json.dumps(turns))


PREPARED: dict[str, Callable[[Path, Run], None]] = {
    "README.md": readme,
    "docs/speed-up-my-kernel.md": speed_up,
    "docs/train-a-model.md": train_a_model,
    "docs/certificate.md": certificate,
    "docs/guard.md": guard,
    "docs/opencl.md": opencl,
    "docs/triton.md": triton,
    "docs/tune.md": tune,
    "docs/importing.md": importing,
    "docs/corpus.md": corpus,
    "docs/training.md": training,
    "docs/bench.md": bench,
    "docs/report.md": a_run,
    "docs/runs.md": a_stopped_run,
}


def stands_for(word: str, folder: Path) -> str:
    """What a word in capitals means in a test."""
    newest = max(folder.rglob("certificates/*.json"), key=lambda file: file.stat().st_mtime, default=None)
    known = {"RUN": "last", "TASK": "saxpy"}
    if "HASH" in word and newest is not None:
        return word.replace("HASH", newest.stem)
    return str(newest) if word == "CERTIFICATE" and newest is not None else known.get(word, word)


def _write(file: Path, rows: list[CorpusRow]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(row.model_dump_json() + "\n" for row in rows))
