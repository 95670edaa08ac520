"""KernelBench problem files as records: what goes in, what comes out, how many weights.

A text is looked at first, then run in the jail, where PyTorch works out shapes without computing (its `meta` device),
so that a problem of many gigabytes is imported like a small one. What cannot be worked out that way is run on the CPU.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from warpsight.nouns.base import Noun, Sha256
from warpsight.tasks.importers.kernelbench.session import LoadedElsewhere, RunFailed, TorchSession
from warpsight.tasks.importers.records import CannotImport, Import, existing, import_all, read_text, shown_path

NEEDED = {"Model": "a class", "get_inputs": "a function", "get_init_inputs": "a function"}
Backend = Literal["pytorch", "cpp", "cuda", "triton"]


class ProblemValue(Noun):
    """One input or output: a tensor by dtype and shape, anything else by its type and text."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    value: str = ""


class KernelBenchProblem(Noun):
    """One problem. `shapes` says whether its values were computed or only worked out."""

    name: str
    file: str
    sha256: Sha256
    source: str
    init: tuple[ProblemValue, ...]
    inputs: tuple[ProblemValue, ...]
    outputs: tuple[ProblemValue, ...]
    weights: int
    shapes: Literal["worked out", "computed"]


def read_kernelbench(path: Path, session: TorchSession) -> Import[KernelBenchProblem]:
    """The problem in a file, or all in a folder and below; `session` is a jailed PyTorch."""
    root = existing(path, "a KernelBench problem file or a folder of them")
    files = [root] if root.is_file() else sorted(root.rglob("*.py"), key=_by_number)
    return import_all("kernelbench", root, files, lambda file: read_problem(file, root, session))


def read_problem(file: Path, root: Path, session: TorchSession) -> KernelBenchProblem:
    """One problem, or CannotImport with the reason."""
    text = read_text(file)
    check_text(text)
    for device, shapes in (("meta", "worked out"), ("cpu", "computed")):
        try:
            loaded = session.load(text, None, seed=0, device=device)
            values = session.describe(device)
        except RunFailed as problem:
            if device == "cpu" or problem.lost:
                raise CannotImport(f"running it in the jail failed: {problem}") from None
            continue
        except LoadedElsewhere as problem:
            raise CannotImport(str(problem)) from None
        return _record(file, root, text, {**loaded, **values, "shapes": shapes})
    raise AssertionError


def check_text(text: str) -> None:
    """That the text is Python and defines what a problem must; nothing is run."""
    defined = {*_defined(_parsed(text))}
    for name, what in NEEDED.items():
        if name not in defined:
            raise CannotImport(f"expected {what} {name} at the top level, found none")


def backend_of(text: str) -> Backend:
    """What a candidate is written in, by what its text imports and compiles."""
    tree = _parsed(text)
    if "ModelNew" not in {*_defined(tree)}:
        raise CannotImport("expected a class ModelNew at the top level, found none")
    imported = {name.partition(".")[0] for name in _imported(tree)}
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    keywords = {word.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords}
    if imported & {"triton", "tilelang", "cutlass", "helion"}:
        return "triton"
    if "cuda_sources" in keywords or any("__global__" in one for one in strings):
        return "cuda"
    compiles = "cpp_sources" in keywords or any(name.endswith("cpp_extension") for name in _imported(tree))
    return "cpp" if compiles else "pytorch"


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as problem:
        raise CannotImport(f"expected Python, found: {problem}") from None


def _defined(tree: ast.Module) -> Iterable[str]:
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _imported(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _record(file: Path, root: Path, text: str, found: dict[str, Any]) -> KernelBenchProblem:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    fields = {"name": file.stem, "file": shown_path(file, root), "sha256": sha256, "source": text, **found}
    try:
        return KernelBenchProblem.model_validate(fields)
    except ValidationError as problem:
        raise CannotImport(f"its description is not usable: {problem.errors()[0]['msg']}") from None


def _by_number(file: Path) -> tuple[str, int, str]:
    """`2_x.py` before `10_y.py`, as the benchmark counts."""
    number = file.stem.partition("_")[0]
    return str(file.parent), int(number) if number.isdecimal() else 1 << 30, file.name
