"""Which page of docs/ helps: with an error by its class, else with the verb that was asked for; and how to read it.

Errors are named by their class, since most live in parts that a command need not load. What must stay true: every page
that is named here is there (a test looks).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = "docs"
ANY = "index.md"

ERRORS: Mapping[str, str] = {
    "TaskError": "tasks.md",
    "Unsteady": "tasks.md",
    "ParameterMismatch": "tasks.md",
    "UnsupportedInstruction": "virtual-gpu.md",
    "CannotProfile": "virtual-gpu.md",
    "ToolchainError": "toolchain.md",
    "AssemblerRefused": "toolchain.md",
    "BadPtx": "toolchain.md",
    "DeviceError": "real-gpus.md",
    "GpuPackageMissing": "real-gpus.md",
    "UnknownGpu": "gpus.md",
    "DoesNotCompile": "python.md",
    "KernelFault": "python.md",
    "BrokenMachine": "jail.md",
    "WorkerLost": "jail.md",
    "BrokenLedger": "certificate.md",
    "BrokenCertificate": "certificate.md",
    "OutOfTime": "tools.md",
    "ProfilerError": "real-gpus.md",
    "NoSource": "real-gpus.md",
    "ModelError": "models.md",
    "PullFailed": "models.md",
    "NotAnswered": "models.md",
    "NotRecorded": "runs.md",
    "StoreConflict": "runs.md",
    "RunBusy": "runs.md",
    "NoSuchRun": "runs.md",
    "CannotLoad": "programs.md",
    "BadRequest": "programs.md",
    "BuildFailed": "programs.md",
    "NoPtx": "programs.md",
    "CannotCapture": "make-my-program-faster.md",
    "BelowRoof": "corpus.md",
    "BadDefect": "corpus.md",
}
VERBS: Mapping[str, str] = {
    "demo": "install.md",
    "doctor": "install.md",
    "optimize": "tools.md",
    "check": "gate.md",
    "time": "timing.md",
    "compare": "timing.md",
    "verify": "certificate.md",
    "keys": "certificate.md",
    "profile": "virtual-gpu.md",
    "diagnose": "lens.md",
    "sass": "time-model.md",
    "explain": "lens.md",
    "rewrite": "rewrite.md",
    "new": "tasks.md",
    "corpus": "corpus.md",
    "train": "training.md",
    "bench": "bench.md",
    "models": "models.md",
    "vgpu": "virtual-gpu.md",
    "gpus": "gpus.md",
    "runs": "runs.md",
    "show": "runs.md",
    "report": "report.md",
    "view": "report.md",
    "resume": "runs.md",
    "replay": "runs.md",
    "export": "runs.md",
    "mcp": "mcp.md",
    "skills": "mcp.md",
    "import": "importing.md",
    "tune": "tune.md",
    "run": "programs.md",
    "capture": "make-my-program-faster.md",
    "guard": "guard.md",
}


def page_of_verb(verb: str | None) -> str:
    """The page about a verb; the list of pages where there is none."""
    return f"{FOLDER}/{VERBS.get(verb or '', ANY)}"


def page_of_error(problem: BaseException, verb: str | None) -> str:
    """The page about what went wrong; about the verb where the error could come from anywhere."""
    named = (ERRORS[kind.__name__] for kind in type(problem).__mro__ if kind.__name__ in ERRORS)
    page = next(named, None)
    return page_of_verb(verb) if page is None else f"{FOLDER}/{page}"


def way_to(page: str) -> str:
    """How to read a page from here: its path where that leads to it, else the command that prints it."""
    return page if Path(page).is_file() and _is_ours(page) else f"warpsight docs {Path(page).stem}"


def _is_ours(page: str) -> bool:
    from warpsight.bundled import bundled

    root = bundled("docs")
    return root is not None and Path(page).resolve() == (root / Path(page).name).resolve()
