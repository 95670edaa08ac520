"""The Triton process: imports Triton, then runs each candidate in a child of its own that is gone afterwards.

Runs jailed as a file of its own (`python -I triton_worker.py`) and imports nothing of the project but worker files. The
candidate's Python runs in the child, which can neither fork nor start a program, sees Python, Triton and its scratch
folder, and leaves neither file nor process behind. Triton's passes are run up to PTX; no machine code is made here.
What the child answers is handed on unread behind its number and its end, and the parent checks its shape.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH109, PTH118, PTH120, PTH123

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import resource
import struct
import sys
import traceback
from typing import TYPE_CHECKING, Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "jail"), HERE]
if TYPE_CHECKING:
    from warpsight.jail import worker_io
    from warpsight.toolchain import worker
else:
    import worker
    import worker_io

HEAD = struct.Struct(">Qi")
FOLDER = "/warpsight"
META = ("num_warps", "num_stages")


class _CandidateRefused(Exception):
    """The candidate is not of the kind that is compiled here; the message is for its writer."""


class Triton:
    """The parts of Triton that are used, imported once, and the PTX version its own assembler takes."""

    def __init__(self) -> None:
        self.compiler: Any = importlib.import_module("triton.compiler.compiler")
        self.target: Any = importlib.import_module("triton.backends.compiler").GPUTarget
        self.function: Any = importlib.import_module("triton.runtime.jit").JITFunction
        self.ir: Any = importlib.import_module("triton._C.libtriton").ir
        importlib.import_module("triton.language.extra.cuda")
        nvidia: Any = importlib.import_module("triton.backends.nvidia.compiler")
        options = self.compiler.make_backend(self.target("cuda", 80, 32)).parse_options({})
        self.ptx_version = int(nvidia.get_ptx_version_from_options(options, 80))


def settings(words: list[str]) -> tuple[dict[str, int], dict[str, int | bool]]:
    """`num_warps=4 BLOCK=128` as what goes to the compiler and what goes to the kernel."""
    meta: dict[str, int] = {}
    constants: dict[str, int | bool] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name == "signature":
            continue
        if name in META:
            meta[name] = int(value)
        else:
            constants[name] = value == "True" if value in ("True", "False") else int(value)
    return meta, constants


def kernel_of(triton: Triton, request: dict[str, Any]) -> Any:
    """Run the candidate's module and give its `@triton.jit` function."""
    path = os.path.join(os.getcwd(), request["name"])
    with open(path, "w", encoding="utf-8") as file:
        file.write(request["source"])
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    kernel = getattr(module, request["entry"], None)
    if not isinstance(kernel, triton.function):
        found = "nothing" if kernel is None else type(kernel).__name__
        hint = "; constants and num_warps are set in the first lines, not by @triton.autotune or @triton.heuristics"
        raise _CandidateRefused(f"expected {request['entry']} to be a @triton.jit function, found {found}{hint}")
    return kernel


def source_of(triton: Triton, kernel: Any, request: dict[str, Any], constants: dict[str, int | bool]) -> Any:
    """What Triton compiles: the function, the type of each parameter, the constants, what is known to divide by 16."""
    names = list(kernel.arg_names)
    wanted = [name for name, _, _ in request["arguments"]]
    fixed = [parameter.name for parameter in kernel.params if parameter.is_constexpr]
    plain = [name for name in names if name not in fixed]
    if plain != wanted:
        expected = f"the parameters {', '.join(wanted)} (the arguments in order)"
        raise _CandidateRefused(
            f"expected {expected} besides the tl.constexpr ones, found {', '.join(plain) or 'none'}"
        )
    given = {parameter.name: parameter.default for parameter in kernel.params if parameter.has_default} | constants
    if unset := [name for name in fixed if name not in given]:
        raise _CandidateRefused(
            f"the tl.constexpr parameters {', '.join(unset)} have no value: name them in `# constants:`"
        )
    if unknown := [name for name in constants if name not in fixed]:
        raise _CandidateRefused(
            f"`# constants:` names {', '.join(unknown)}, the kernel has no such tl.constexpr parameter"
        )
    types = {name: kind for name, kind, _ in request["arguments"]} | dict.fromkeys(fixed, "constexpr")
    signature = {name: types[name] for name in names}
    divisible = [names.index(name) for name, _, known in request["arguments"] if known]
    attributes = {(index,): [["tt.divisibility", 16]] for index in divisible}
    return triton.compiler.ASTSource(kernel, signature, {(names.index(n),): given[n] for n in fixed}, attributes)


def compile_once(triton: Triton, request: dict[str, Any]) -> dict[str, Any]:
    """PTX of one candidate, by Triton's own passes in their order."""
    meta, constants = settings(request["options"])
    source = source_of(triton, kernel_of(triton, request), request, constants)
    target = triton.target("cuda", request["capability"], 32)
    backend = triton.compiler.make_backend(target)
    options = backend.parse_options({**meta, "ptx_version": triton.ptx_version, **source.parse_options()})
    context = triton.ir.context()
    triton.ir.load_dialects(context)
    backend.load_dialects(context)
    implementation, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(target, options, implementation, modules, context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    metadata: dict[str, Any] = {"target": target, **options.__dict__}
    for name, stage in stages.items():
        module = stage(module, metadata)
        if name == "ptx":
            break
    if metadata.get("global_scratch_size"):
        raise _CandidateRefused("the kernel uses Triton's global scratch memory, which is not given to it here")
    if metadata["num_warps"] != options.num_warps:
        raise _CandidateRefused("the kernel is warp-specialised: the number of warps is not that of its first lines")
    return {"ok": True, "ptx": str(module).replace(os.getcwd() + "/", FOLDER + "/"), "shared": metadata["shared"] or 0}


def told(problem: BaseException, request: dict[str, Any]) -> dict[str, Any]:
    """An exception as a message, at the line of the kernel where it is known.

    Triton's errors name a place in the text of one function and carry the error of what that function called: the
    innermost place that is in the candidate's own text is the answer.
    """
    line, column = getattr(problem, "lineno", None), getattr(problem, "offset", None)
    last, names = problem, type(problem).__name__
    for error in chain(problem):
        last = error
        text, node = getattr(error, "src", None), getattr(error, "node", None)
        start = request["source"].find(text) if isinstance(text, str) and text else -1
        if start >= 0 and node is not None and hasattr(node, "lineno"):
            line, column = request["source"].count("\n", 0, start) + node.lineno, node.col_offset + 1
    if line is None:
        own = [f.lineno for f in traceback.extract_tb(problem.__traceback__) if f.filename.endswith(request["name"])]
        line = own[-1] if own else None
    message = str(getattr(last, "error_message", None) or last).strip()
    prefix = "" if isinstance(problem, _CandidateRefused) else f"{names}: "
    return {"ok": False, "message": f"{prefix}{message}"[:4000], "line": line, "column": column}


def chain(problem: BaseException) -> list[BaseException]:
    """The error and those it came from, the first cause last."""
    found = [problem]
    while (cause := found[-1].__cause__) is not None and len(found) < 50:
        found.append(cause)
    return found


def in_child(triton: Triton, request: dict[str, Any], answers: int) -> None:
    """The disposable part: tightens itself, runs the candidate, writes, ends. Never returns."""
    try:
        os.close(worker_io.REQUESTS_FD)
        os.close(worker_io.ANSWERS_FD)
        seconds = max(1, math.ceil(request["deadline_s"]))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        worker_io.tighten("work")
        try:
            answer = compile_once(triton, request)
        except MemoryError:
            raise
        except BaseException as problem:
            answer = told(problem, request)
        worker_io.write_all(answers, json.dumps(answer).encode())
        os._exit(0)
    except MemoryError:
        os._exit(worker_io.OUT_OF_MEMORY_STATUS)
    except BaseException as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        os._exit(1)


def compile_in_child(triton: Triton, request: dict[str, Any]) -> bytes:
    """One child for one text; its end and its bytes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        in_child(triton, request, writing)
    os.close(writing)
    body = worker.collect(reading)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    worker.clear()
    return HEAD.pack(int(request["id"]), status) + body


def main() -> None:
    """Import, lock the door, serve until the requests end."""
    triton: Triton | None = None
    problem = ""
    try:
        triton = Triton()
    except Exception as trouble:
        problem = f"{type(trouble).__name__}: {trouble}"
    worker_io.lock_down("serve")
    worker_io.read_frame()
    worker_io.write_frame(problem.encode())
    while triton is not None and (frame := worker_io.read_frame()) is not None:
        worker_io.write_frame(compile_in_child(triton, json.loads(frame)))


if __name__ == "__main__":
    main()
