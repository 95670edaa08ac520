"""Runs one Triton kernel on an NVIDIA GPU, launched by Triton itself, in a process of its own.

The protocol, the memory, the cold cache and the events are the CUDA worker's; only how the kernel comes to be and how
it is launched differ. The candidate's Python runs in this process: it is of a lower trust, and results say so. Needs
`triton` and what Triton builds its launcher with: a C compiler and Python's headers. Never imported by others. Not run
on a GPU by us.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from warpsight.devices.cuda_worker import REFUSALS, CudaSession, find_driver, serve
else:
    from cuda_worker import REFUSALS, CudaSession, find_driver, serve

del sys.path[:1]  # the files beside this one are named after the packages they use

LEAST_FILL_BYTES = 1 << 30  # 130 us on the fastest memory there is: Triton binds arguments in Python at each launch
OUT_OF_RESOURCES = ("OutOfResources", "out of resource")
DTYPES = {
    "fp16": "float16", "bf16": "bfloat16", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2",
    "fp32": "float32", "fp64": "float64", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip


class Pointer:
    """An address as Triton takes it: with the type of what lies there."""

    def __init__(self, address: int, dtype: str) -> None:
        self.address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        return self.address


class TritonSession(CudaSession):
    """One candidate's module; its function is launched with the constants of its first lines."""

    least_fill_bytes = LEAST_FILL_BYTES

    def open_kernel(self, header: dict[str, Any], blobs: list[memoryview]) -> Any:
        path = Path.cwd() / "kernel.py"
        path.write_bytes(bytes(blobs[0]))
        spec = importlib.util.spec_from_file_location("candidate", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["candidate"] = module
        spec.loader.exec_module(module)
        self.types: list[str] = header["types"]
        self.words = dict(_setting(word) for word in header["options"])
        self.grid = (1, 1, 1)
        active: Any = import_module("triton.runtime").driver.active
        handle = int(self.stream.handle)

        def our_stream(_device: int) -> int:
            return handle

        active.get_current_stream = our_stream  # its launches are timed between our events
        return getattr(module, header["entry"])

    def arrange(self, header: dict[str, Any]) -> dict[str, Any]:
        """Arguments as Triton takes them, and the kernel compiled and loaded before any clock starts."""
        self._checked(self.driver.cuCtxSynchronize())
        if len(self.types) != len(self.arguments):
            return {"refused": f"the kernel takes {len(self.types)} arguments, {len(self.arguments)} were given"}
        threads = header["local"][0] * header["local"][1] * header["local"][2]
        if threads != 32 * self.words["num_warps"]:
            return {"refused": f"a block of {threads} threads is not {self.words['num_warps']} warps"}
        self.arguments = [_argument(kind, value) for kind, value in zip(self.types, self.arguments, strict=True)]
        self.grid = tuple(whole // size for whole, size in zip(header["global"], header["local"], strict=True))
        compiled = self.kernel.warmup(*self.arguments, grid=self.grid, **self.words)
        self.loaded: Any = compiled.run  # `warmup` compiles only; the launcher, when asked for, loads
        return {}

    def launch(self) -> None:
        self.kernel[self.grid](*self.arguments, **self.words)


def _setting(word: str) -> tuple[str, int | bool]:
    name, _, value = word.partition("=")
    return name, value == "True" if value in ("True", "False") else int(value)


def _argument(kind: str, value: Any) -> Any:
    return Pointer(int(value), DTYPES[kind[1:]]) if kind.startswith("*") else value.item()


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
    find_driver(sys.argv[2:])
    os.environ["TRITON_CACHE_DIR"] = str(Path.cwd() / "triton")  # no text meets what another has left
    serve("CUDA", TritonSession, (*REFUSALS, *OUT_OF_RESOURCES))
