"""Runs our Triton GPU worker's session on the real Triton and a stand-in for its driver: everything up to the launch.

It shows that Triton takes our pointers, types, constants and grid, and compiles for the GPU it is told of; it shows
nothing of a GPU. Run as a program: `gpu_stand_in.py KERNEL.py`, in a folder that may be written to.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

os.environ["TRITON_CACHE_DIR"] = str(Path.cwd() / "triton")
WORKER = Path(__file__).parents[3] / "src" / "warpsight" / "devices" / "triton_worker.py"


loaded: list[str] = []


class Launched(Exception):
    pass


def worker() -> Any:
    spec = importlib.util.spec_from_file_location("triton_worker", WORKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_binary(name: str, code: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
    loaded.append(name)
    return 1, 2, 32, 0, 1024  # module, function, registers, spills, most threads


def main(kernel: Path) -> None:
    import triton
    from triton.backends.compiler import GPUTarget

    triton.runtime.driver.set_active(
        types.SimpleNamespace(  # type: ignore[arg-type]
            get_current_target=lambda: GPUTarget("cuda", 80, 32),
            get_current_device=lambda: 0,
            get_current_stream=lambda _device: 0,
            launcher_cls=lambda _source, _metadata: lambda *_: None,
            utils=types.SimpleNamespace(
                get_device_properties=lambda _device: {"max_shared_mem": 48 << 10},
                load_binary=load_binary,
                unload_module=lambda _module: None,
            ),
        )
    )
    session = worker().TritonSession.__new__(worker().TritonSession)
    session.driver = types.SimpleNamespace(cuCtxSynchronize=lambda: (0,))
    session.stream = types.SimpleNamespace(handle=7)
    session.device = types.SimpleNamespace(sync=lambda: None)
    header = {
        "entry": "vector_add", "options": ["num_warps=4", "num_stages=3", "BLOCK=1024"],
        "types": ["*fp32", "*fp32", "*fp32", "i32"],
    }  # fmt: skip
    session.kernel = session.open_kernel(header, [memoryview(kernel.read_bytes())])
    given = [np.uint64(1 << 20), np.uint64(2 << 20), np.uint64(3 << 20), np.int32(2048)]
    session.arguments = list(given)
    told = {"wrong block": session.arrange({"local": [256, 1, 1], "global": [512, 1, 1]})}
    told["arranged"] = session.arrange({"local": [128, 1, 1], "global": [256, 1, 1]})
    compiled = list((Path.cwd() / "triton").rglob("vector_add.ptx"))
    told["ptx"] = compiled[0].read_text() if compiled else ""
    told["loaded"], told["fill"] = list(loaded), session.least_fill_bytes

    def stop(*arguments: Any, **words: Any) -> None:
        raise Launched([a.data_ptr() if hasattr(a, "data_ptr") else a for a in arguments], words)

    session.kernel.add_pre_run_hook(stop)
    try:
        session.launch()
    except Launched as launched:
        told["arguments"], words = launched.args
        told["words"] = {name: words[name] for name in ("num_warps", "num_stages", "BLOCK")}
    told["grid"], told["stream"] = session.grid, triton.runtime.driver.active.get_current_stream(0)  # type: ignore[attr-defined]
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
