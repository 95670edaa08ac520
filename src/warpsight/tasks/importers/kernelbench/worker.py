"""The process that runs a KernelBench problem or candidate, in the jail. Runs as a file of its own, never imported.

Answers questions in turn: load a text, make its model anew, draw inputs from seeds and hand them out (asked of the
reference alone), take inputs, run on them, give outputs. A candidate's process is told no seed of inputs: it is given
their bytes. Its C++ is not compiled here, where nothing can be started: the text goes to the parent as the answer to
the question that is open, and the library comes back as the next one. The candidate is Python in this very process and
can change anything in it; the parent holds the clock and the expected values, and believes the bytes of outputs alone.
What must stay true: taking inputs and giving outputs copy nothing that need not be, since what the reference spends on
it is what a candidate may spend there.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH118, PTH120, PTH123

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import json
import os
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "..", "jail")]
if TYPE_CHECKING:
    from warpsight.jail import wire, worker_io
else:
    import wire
    import worker_io

Answer = tuple[dict[str, Any], list[Any]]
TEXTS = ("candidate.py", "problem.py")
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h
torch: Any = None
extensions: dict[str, Any] = {}  # by what was asked: a model that is made again does not load its library again


def texts(value: Any) -> list[str]:
    """A string or a list of them, as the functions of PyTorch take it."""
    return [] if value is None else [value] if isinstance(value, str) else [str(one) for one in value]


def load_inline(
    name: str,
    cpp_sources: Any,
    cuda_sources: Any = None,
    functions: Any = None,
    extra_cflags: Any = None,
    extra_ldflags: Any = None,
    with_cuda: bool | None = None,
    with_pytorch_error_handling: bool = True,
    no_implicit_headers: bool = False,
    sycl_sources: Any = None,
    **_: Any,
) -> Any:
    """In the place of `torch.utils.cpp_extension.load_inline`: the parent compiles, this loads."""
    if cuda_sources or sycl_sources or with_cuda:
        raise RuntimeError("CUDA sources run on a GPU only, this is the CPU")
    if isinstance(functions, dict):
        functions = list(functions)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    asked = {
        "sources": texts(cpp_sources),
        "functions": texts(functions),
        "cflags": texts(extra_cflags),
        "ldflags": texts(extra_ldflags),
        "headers": not no_implicit_headers,
        "wrapped": bool(with_pytorch_error_handling),
    }
    key = repr(asked)
    if key not in extensions:
        worker_io.write_frame(wire.pack({"compile": asked}))
        reply, blobs = wire.unpack(worker_io.read_frame() or b"")
        if "error" in reply:
            raise RuntimeError(f"the extension {name} does not compile: {reply['error']}")
        extensions[key] = loaded(str(reply["module"]), bytes(blobs[0]))
    return extensions[key]


def loaded(name: str, library: bytes) -> Any:
    """A compiled extension as a module; its file stays in the scratch folder of this process."""
    path = os.path.abspath(f"{name}.so")
    with open(path, "wb") as file:
        file.write(library)
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def no_load(*_: Any, **__: Any) -> Any:
    """In the place of `load`, which compiles files that are not here."""
    raise RuntimeError("torch.utils.cpp_extension.load reads files, and a candidate is one text: use load_inline")


def door() -> None:
    """Put our functions where candidates look for PyTorch's."""
    module: Any = types.ModuleType("torch.utils.cpp_extension")
    module.load_inline, module.load = load_inline, no_load
    sys.modules["torch.utils.cpp_extension"] = module
    torch.utils.cpp_extension = module


def module_of(file: str, text: str, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """The names that a text defines. It lies in a file too, because decorators read their own source."""
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(text)
    module = types.ModuleType(file.removesuffix(".py"))
    sys.modules[module.__name__] = module
    module.__dict__.update(known or {})
    module.__file__ = os.path.abspath(file)
    exec(compile(text, file, "exec"), module.__dict__)
    return module.__dict__


def described(value: Any) -> dict[str, Any]:
    """A tensor by dtype and shape, anything else by its type and its text."""
    if isinstance(value, torch.Tensor):
        return {"kind": "tensor", "dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
    return {"kind": type(value).__name__, "dtype": "", "shape": [], "value": repr(value)[:200]}


def flat(value: Any) -> list[Any]:
    """The leaves of what a model returned, in order."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in flat(one)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in flat(one)]  # pyright: ignore[reportUnknownVariableType]
    return [value]


def raw(value: Any) -> tuple[dict[str, Any], Any]:
    """One output and its bytes; bfloat16, which NumPy does not know, as float32."""
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
    dtype = str(tensor.dtype).removeprefix("torch.")
    plain = tensor.detach().cpu().contiguous()
    plain = plain.float() if dtype == "bfloat16" else plain
    array = plain.numpy()
    return {"dtype": dtype, "stored": array.dtype.str, "shape": list(tensor.shape)}, array.reshape(-1).view("u1").data


def handed(value: Any, blobs: list[Any]) -> dict[str, Any]:
    """An input by what it is made of; the bytes of tensors go to `blobs`."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_quantized:
            raise TypeError(f"expected plain tensors among the inputs, found one of layout {value.layout}")
        plain = value.detach().contiguous().reshape(-1)
        blobs.append(plain.view(torch.uint8).numpy().data if plain.numel() else b"")
        dtype = str(value.dtype).removeprefix("torch.")
        return {"tensor": dtype, "shape": list(value.shape), "stride": list(value.stride())}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [handed(one, blobs) for one in value]}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {"dict": [[key, handed(one, blobs)] for key, one in value.items()]}  # pyright: ignore[reportUnknownVariableType]
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    raise TypeError(f"expected tensors and plain values among the inputs, found a {type(value).__name__}")


def taken(tree: dict[str, Any], blobs: Any) -> Any:
    """The input that `handed` told of, in the memory that its bytes were read into."""
    if "tensor" in tree:
        dtype, shape, stride = getattr(torch, tree["tensor"]), tree["shape"], tree["stride"]
        plain = next(blobs).view(dtype).reshape(shape)
        if list(plain.stride()) == stride or not all(stride):
            return plain
        return torch.empty_strided(shape, stride, dtype=dtype).copy_(plain)
    if "value" in tree:
        return tree["value"]
    if "dict" in tree:
        return {key: taken(one, blobs) for key, one in tree["dict"]}
    made = [taken(one, blobs) for one in tree.get("list", tree.get("tuple", []))]
    return tuple(made) if "tuple" in tree else made


class ProblemSession:
    """One problem, and a model made of it or of a candidate."""

    def __init__(self) -> None:
        self.problem: dict[str, Any] = {}
        self.owner: dict[str, Any] = {}
        self.asked: dict[str, Any] = {}
        self.model: Any = None
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def load(self, asked: dict[str, Any]) -> Answer:
        self.inputs, self.outputs = [], []
        torch.manual_seed(asked["seed"])
        self.problem = module_of("problem.py", asked["problem"])
        self.owner, self.asked = self.problem, asked
        if asked["candidate"] is not None:
            self.owner = module_of("candidate.py", asked["candidate"], self.problem)
        return self.make(asked)

    def make(self, asked: dict[str, Any]) -> Answer:
        """The model with the weights of a seed."""
        self.inputs, self.outputs, self.model = [], [], None
        with torch.no_grad(), torch.device(self.asked["device"]):
            torch.manual_seed(asked["seed"])
            given = list(self.problem["get_init_inputs"]())
            torch.manual_seed(asked["seed"])
            self.model = self.owner[self.asked["entry"]](*given)
        weights = sum(one.numel() for one in self.model.parameters()) if hasattr(self.model, "parameters") else 0
        return {"init": [described(one) for one in given], "weights": int(weights)}, []

    def describe(self, asked: dict[str, Any]) -> Answer:
        """What goes in and comes out. On the device `meta` only shapes are worked out, however large they are."""
        with torch.no_grad(), torch.device(asked["device"]):
            given = list(self.problem["get_inputs"]())
            said: dict[str, Any] = {"inputs": [described(one) for one in given]}
            said["outputs"] = [described(one) for one in flat(self.model(*given))]
        return said, []

    def draw(self, asked: dict[str, Any]) -> Answer:
        """Inputs of every seed, for all who are to run on them."""
        trees: list[Any] = []
        blobs: list[Any] = []
        for seed in asked["seeds"]:
            torch.manual_seed(seed)
            trees.append(handed(list(self.problem["get_inputs"]()), blobs))
        return {"calls": trees}, blobs

    def prepare(self, asked: dict[str, Any], blobs: Sequence[Any]) -> Answer:
        self.inputs, self.outputs, rest = [], [], iter(blobs)
        self.inputs = [taken(tree, rest) for tree in asked["calls"]]
        torch.manual_seed(asked["seed"])  # for what a model draws itself, such as dropout
        return {}, []

    def run(self, asked: dict[str, Any]) -> Answer:
        model = self.model
        with torch.no_grad():
            self.outputs = [model(*given) for given in self.inputs]
        for leaf in flat(self.outputs):
            if isinstance(leaf, torch.Tensor) and type(leaf) not in (torch.Tensor, torch.nn.Parameter):
                raise TypeError(
                    f"an output is a {type(leaf).__name__}, which could put off its work; return a plain Tensor"
                )
        return {}, []

    def give(self, asked: dict[str, Any]) -> Answer:
        """The outputs of all runs, in order."""
        runs = [[raw(leaf) for leaf in flat(one)] for one in self.outputs]
        return {"outputs": [[head for head, _ in run] for run in runs]}, [body for run in runs for _, body in run]


def failed(problem: BaseException) -> Answer:
    """What went wrong, at the last line of the problem or the candidate that is on the way to it."""
    frames = [one for one in traceback.extract_tb(problem.__traceback__) if one.filename in TEXTS]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    if isinstance(problem, SyntaxError) and problem.filename in TEXTS:
        where = f"{problem.filename}:{problem.lineno}"
    return {"error": f"{type(problem).__name__}: {problem}"[:2000], "where": where}, []


def answered(session: ProblemSession, asked: dict[str, Any], given: Sequence[Any]) -> Answer:
    """One question; whatever the text does is an answer, and only the loss of this process is not."""
    actions: dict[str, Callable[[dict[str, Any]], Answer]] = {
        "load": session.load, "make": session.make, "describe": session.describe, "draw": session.draw,
        "prepare": lambda asked: session.prepare(asked, given), "run": session.run, "give": session.give,
    }  # fmt: skip
    try:
        return actions[asked["do"]](asked)
    except MemoryError:
        os._exit(worker_io.OUT_OF_MEMORY_STATUS)
    except (Exception, SystemExit) as problem:
        return failed(problem)


def read_question() -> tuple[dict[str, Any], list[Any]] | None:
    """The next question as `wire.unpack` gives it, each blob read into a tensor of bytes and copied nowhere else."""
    head = worker_io.read_exactly(worker_io.REQUESTS_FD, 8)
    text = None if head is None else worker_io.read_exactly(worker_io.REQUESTS_FD, int.from_bytes(head[4:], "big"))
    if text is None:
        return None
    asked: dict[str, Any] = json.loads(text)
    blobs: list[Any] = []
    for size in asked.pop("sizes"):
        blobs.append(torch.empty(size, dtype=torch.uint8))
        at, view = 0, memoryview(blobs[-1].numpy())
        while at < size:
            read = os.readv(worker_io.REQUESTS_FD, [view[at:]])
            if read == 0:
                return None
            at += read
    return asked, blobs


def write_answer(header: dict[str, Any], blobs: Sequence[Any]) -> None:
    """One answer as `wire.pack` makes it, without copying the blobs together."""
    views: list[Any] = [memoryview(blob).cast("B") for blob in blobs]
    text = json.dumps({**header, "sizes": [view.nbytes for view in views]}).encode()
    sizes = 4 + len(text) + sum(view.nbytes for view in views), len(text)
    worker_io.write_all(worker_io.ANSWERS_FD, b"".join(size.to_bytes(4, "big") for size in sizes) + text)
    for view in views:
        worker_io.write_all(worker_io.ANSWERS_FD, view)


def keep_memory() -> None:
    """Have freed memory kept for the next call. Given back, it must be fetched and cleared anew, at a cost that depends
    on what a process has done before: more than many kernels take."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # glibc
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def main(words: Sequence[str]) -> None:
    global torch
    threads, capability = int(words[0]), words[1]
    if capability:
        os.environ["ATEN_CPU_CAPABILITY"] = capability
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    keep_memory()
    import torch as found

    torch = found
    torch.set_num_threads(threads)
    door()
    worker_io.lock_down("work")
    session = ProblemSession()
    while (question := read_question()) is not None:
        write_answer(*answered(session, *question))


if __name__ == "__main__":
    main(sys.argv[1:])
