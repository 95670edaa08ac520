"""What `warpsight import` does for each format: the importer with the parts it needs, and the files that are written.

The importers know formats and no compilers; the compilers are put in here. Shows nothing: see `cli/text/import_task`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsight.errors import ToolMissing, UsageError
from warpsight.tasks.importers.records import CannotImport, Import, NotImported

if TYPE_CHECKING:
    from warpsight.nouns import Build, EntryUsage
    from warpsight.tasks.importers.flashinfer.read import FlashinferEntry
    from warpsight.tasks.importers.gpumode import GpuModeTask
    from warpsight.tasks.importers.hecbench.read import HecProgram
    from warpsight.tasks.importers.kernelbench.problem import KernelBenchProblem
    from warpsight.tasks.importers.kernelbench.score import CandidateScore

Say = Callable[[str], None]
DEFAULT_ARCH = "sm_80"


@dataclass(frozen=True)
class Wish:
    """All that was asked for beside the format."""

    path: Path
    out: Path | None = None
    run: Path | None = None
    kernel: Path | None = None
    compiler: str = "auto"
    gpu_arch: str = DEFAULT_ARCH
    seed: int | None = None
    trials: int = 5
    samples: int = 9
    threads: int = 1
    deadline_s: float = 60.0


@dataclass(frozen=True)
class Done:
    """What came of it: the records, what was written, and the attempts where candidates were run."""

    found: Import[Any]
    written: tuple[str, ...] = ()
    attempts: tuple[CandidateScore, ...] = ()
    also_refused: tuple[NotImported, ...] = field(default=())

    @property
    def refused(self) -> tuple[NotImported, ...]:
        return (*self.found.refused, *self.also_refused)

    @property
    def good(self) -> bool:
        """Something was found, nothing refused, and every candidate that was run is right."""
        return not self.refused and bool(self.found.items) and all(one.verdict == "right" for one in self.attempts)


def require_fitting(name: str, run: Path | None, kernel: Path | None, *, export: bool) -> None:
    """UsageError where an option has no meaning for this format."""
    if export and name != "flashinfer":
        raise UsageError(f"expected --export with flashinfer, found it with {name}")
    if export:
        return
    if run is not None and name not in ("kernelbench", "hecbench"):
        raise UsageError(f"expected --run with kernelbench or hecbench, found it with {name}")
    if kernel is not None and name != "flashinfer":
        raise UsageError(f"expected --kernel with flashinfer, found it with {name}")


class OurToolchain:
    """The project's own compiler and disassembler, as an importer asks for them."""

    def __init__(self, gpu_arch: str) -> None:
        self.gpu_arch = gpu_arch

    def compile(self, text: str, options: Sequence[str]) -> Build:
        from warpsight.toolchain.compile import compile_cuda

        return compile_cuda(text, gpu_arch=self.gpu_arch, options=options, name="unit.cu")

    def usage(self, cubin: bytes) -> tuple[EntryUsage, ...]:
        from warpsight.cubin.usage import read_entries

        return read_entries(cubin)

    def sizes(self, cubin: bytes) -> Mapping[str, int]:
        from warpsight.toolchain.sass import disassemble

        return Counter(one.function for one in disassemble(cubin, name="unit.cu"))


def kernelbench(wish: Wish, say: Say) -> Done:
    """Problems by their shapes; with candidates, what came of them."""
    from warpsight.tasks.importers.kernelbench.problem import read_kernelbench
    from warpsight.tasks.importers.kernelbench.session import TorchSession

    with TorchSession(threads=wish.threads, deadline_s=wish.deadline_s) as session:
        say("reading the problems, in the jail")
        found = read_kernelbench(wish.path, session)
        attempts = _attempts(found, wish, session, say) if wish.run else ()
    places = {str(Path(one.file).with_suffix("")): one for one in found.items}  # levels have problems of the same name
    files = {f"{place}/problem.py": one.source for place, one in places.items()}
    files |= {f"{place}/import.json": _json(one, {"source"}) for place, one in places.items()}
    return Done(found, _write(wish.out, files), attempts)


def _attempts(found: Import[KernelBenchProblem], wish: Wish, session: Any, say: Say) -> tuple[CandidateScore, ...]:
    from warpsight.tasks.importers.kernelbench.evaluate import ScorePlan, candidate_sessions, evaluate_candidate
    from warpsight.tasks.importers.kernelbench.extension import compiler_of
    from warpsight.tasks.importers.kernelbench.score import CandidateScore
    from warpsight.tasks.importers.records import read_text
    from warpsight.toolchain.cache import Cache, cache_folder

    assert wish.run
    candidates = _candidates(wish.run, [one.file for one in found.items])
    folder = cache_folder()
    compile = compiler_of(Cache(folder / "extensions" if folder else None))
    opened = candidate_sessions(compile, threads=wish.threads, deadline_s=wish.deadline_s)
    plan = ScorePlan(seed=wish.seed, trials=wish.trials, samples=wish.samples)
    attempts: list[CandidateScore] = []
    for at, problem in enumerate(found.items, start=1):
        file = candidates.get(problem.file)
        if file is None:
            attempts.append(CandidateScore(problem=problem.name, verdict="no candidate"))
            continue
        say(f"{at} of {len(found.items)}: {problem.name}")
        try:
            text = read_text(file)
        except CannotImport as refused:
            attempts.append(
                CandidateScore(problem=problem.name, candidate=file.name, verdict="failed", reason=str(refused))
            )
            continue
        attempts.append(evaluate_candidate(problem, file.name, text, session, opened, plan))
    return tuple(attempts)


def _candidates(path: Path, problems: Sequence[str]) -> dict[str, Path]:
    """The candidate of each problem: the one file given, or files of the same name in a folder, laid out alike."""
    if path.is_file():
        if len(problems) != 1:
            raise UsageError(
                f"expected one problem for the one candidate {path}, found {len(problems)}",
                hint="give a folder in which each candidate has the name of its problem",
            )
        return {problems[0]: path}
    if not path.is_dir():
        raise UsageError(f"expected a candidate or a folder of them at {path}, found nothing there")
    places = {file: (path / file, path / Path(file).name) for file in problems}
    found = {file: [one for one in two if one.is_file()] for file, two in places.items()}
    return {file: there[0] for file, there in found.items() if there}


def hecbench(wish: Wish, say: Say) -> Done:
    """Programs with their kernels, registers and the size of their machine code."""
    from warpsight.tasks.importers.hecbench.nvcc import find_nvcc
    from warpsight.tasks.importers.hecbench.read import Compilers, device_texts, read_hecbench

    nvcc = None if wish.compiler == "nvrtc" else find_nvcc()
    if wish.compiler == "nvcc" and nvcc is None:
        raise ToolMissing("expected nvcc, no CUDA toolkit is installed here", hint="--compiler nvrtc needs none")
    compilers = Compilers(OurToolchain(wish.gpu_arch), nvcc, wish.gpu_arch, wish.compiler == "nvcc")
    say("compiling the programs, in the jail")
    found = read_hecbench(wish.path, compilers)
    files = {f"{one.name}/import.json": _json(one) for one in found.items}
    base = wish.path if wish.path.is_dir() else wish.path.parent
    for one in found.items if wish.out else ():
        folder = base / one.folder if (base / one.folder).is_dir() else base
        files |= {f"{one.name}/device/{name}": text for name, text in device_texts(folder, compilers).items()}
    return Done(found, _write(wish.out, files))


def gpumode(wish: Wish, say: Say) -> Done:
    """Problems by their files and cases."""
    from warpsight.tasks.importers.gpumode import read_gpumode

    found: Import[GpuModeTask] = read_gpumode(wish.path)
    # Sets have problems of the same name, so a problem is written under its own path where it has one.
    files = {
        f"{one.name if '/' not in one.file else Path(one.file).parent}/import.json": _json(one) for one in found.items
    }
    return Done(found, _write(wish.out, files))


def flashinfer(wish: Wish, say: Say) -> Done:
    """Definitions with what belongs to them; with a folder to write to, as tasks where that is possible."""
    from warpsight.tasks.importers.flashinfer.convert import task_files, task_name
    from warpsight.tasks.importers.flashinfer.read import read_flashinfer

    found: Import[FlashinferEntry] = read_flashinfer(wish.path)
    if wish.out is None:
        return Done(found)
    kernel = None if wish.kernel is None else wish.kernel.read_text(encoding="utf-8")
    files: dict[str, str] = {}
    refused: list[NotImported] = []
    for entry in found.items:
        try:
            made = task_files(entry, kernel)
        except CannotImport as problem:
            refused.append(NotImported(file=entry.file, reason=f"no task: {problem}"))
            made = {"import.json": _json(entry)}
        files |= {f"{task_name(entry.name)}/{name}": text for name, text in made.items()}
    return Done(found, _write(wish.out, files), also_refused=tuple(refused))


def export_flashinfer(task_path: str, kernel: Path | None, out: Path | None) -> tuple[str, ...]:
    """The other way: one of our tasks as a flashinfer-trace data set."""
    from warpsight.session.opening import open_task
    from warpsight.tasks import read_candidate
    from warpsight.tasks.importers.flashinfer.write import write_trace_set

    if out is None:
        raise UsageError("expected a folder to write to", hint="--out DIR")
    task = open_task(task_path)
    candidates = {"baseline": read_candidate(task.kernel, task, task.kernel_file)}
    if kernel is not None:
        candidates[kernel.stem] = read_candidate(kernel.read_text(encoding="utf-8"), task, str(kernel))
    return tuple(str(path) for path in write_trace_set(task, candidates, out))


def _json(record: Any, without: set[str] | None = None) -> str:
    return json.dumps(json.loads(record.model_dump_json(exclude=without)), indent=2) + "\n"


def _write(out: Path | None, files: Mapping[str, str]) -> tuple[str, ...]:
    """Write the files below `out`; nothing that is there is written over."""
    if out is None:
        return ()
    written: list[str] = []
    for name, text in files.items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as problem:
            raise UsageError(f"expected to write {path}: {problem.strerror}", hint="choose a new folder") from None
        written.append(str(path))
    return tuple(written)


FORMATS: dict[str, Callable[[Wish, Say], Done]] = {
    "kernelbench": kernelbench, "hecbench": hecbench, "gpumode": gpumode, "flashinfer": flashinfer,
}  # fmt: skip


def items_of(done: Done) -> list[dict[str, Any]]:
    """The records for a JSON document, without the texts, which are in the files they came from."""
    texts = {
        "kernelbench": {"source"},
        "flashinfer": {"definition": {"reference"}, "solutions": {"__all__": {"sources"}}},
    }
    without: Any = texts.get(done.found.format)
    return [json.loads(one.model_dump_json(exclude=without)) for one in done.found.items]


def programs_of(done: Done) -> Sequence[HecProgram]:
    return done.found.items
