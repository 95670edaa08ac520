"""Nobody asks for the class of a device: what a device can do is asked of the device, so one of others can win too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from warpsight.devices.device import simulator
from warpsight.devices.registry import DEVICES
from warpsight.devices.virtual import VirtualGpu
from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.session.session import Session
from warpsight.vgpu.gpus import find_gpu

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "warpsight"
CLASSES = {place.partition(":")[2]: place.partition(":")[0].rpartition(".")[2] for place in DEVICES.built_in.values()}
ASK = ("isinstance", "issubclass", "cast")


def asked_for(text: str) -> Iterator[tuple[int, str]]:
    """Line and class of every question whether something is one of our devices; also of `match` and `type(x) is`."""
    for node in ast.walk(ast.parse(text)):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASK:
            parts = [*node.args]
        elif isinstance(node, ast.MatchClass):
            parts = [node.cls]
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        for part in (below for one in parts for below in ast.walk(one)):
            words = (getattr(part, "id", ""), getattr(part, "attr", ""), str(getattr(part, "value", "")))
            for name in CLASSES:
                if any(name in word.split(" | ") for word in words):
                    yield node.lineno, name  # type: ignore[attr-defined]


def test_no_part_asks_for_the_class_of_a_device() -> None:
    found = [
        f"{path.relative_to(SRC)}:{line}: {name}"
        for path in sorted(SRC.rglob("*.py"))
        for line, name in asked_for(path.read_text())
        if path.stem != CLASSES[name]
    ]
    assert not found, "\n".join(found)


def test_the_test_sees_such_a_question() -> None:
    for text in ("isinstance(d, VirtualGpu)", "isinstance(d, (int, v.HipDevice))", "cast('A | CudaDevice', d)",
                 "type(d) is OpenClDevice"):  # fmt: skip
        assert list(asked_for(text)), text
    assert not list(asked_for("VirtualGpu(cores=1)\nisinstance(d, Device)"))


class Guest:
    """A simulator of somebody else: no class of ours, only the methods of a Simulator."""

    name, source, languages = "guest", "simulated", ("cuda",)

    def __init__(self, inner: VirtualGpu) -> None:
        self._inner, self.gpu, self.gpu_arch = inner, inner.gpu, inner.gpu_arch

    def execute(self, *what: Any, **how: Any) -> Any:
        return self._inner.execute(*what, **how)

    def profile(self, *what: Any, **how: Any) -> Any:
        return self._inner.profile(*what, **how)

    def observe(self, *what: Any, **how: Any) -> Any:
        return self._inner.observe(*what, **how)

    def limited(self, warp_instructions: int) -> Self:
        return type(self)(self._inner.limited(warp_instructions))

    def of_machine_code(self) -> Self:
        return type(self)(self._inner.of_machine_code())

    def remembering(self) -> Self:
        return type(self)(self._inner.remembering())

    def forgetting(self) -> Self:
        return type(self)(self._inner.forgetting())


def test_a_kernel_wins_on_a_simulator_of_somebody_else() -> None:
    device = Guest(VirtualGpu(gpu=find_gpu("a100")))
    assert simulator(device) is device and not isinstance(device, VirtualGpu)  # type: ignore[comparison-overlap]
    faster = ROOT / "tasks" / "transpose" / "faster" / "tiled.cu"
    with Session(ROOT / "tasks" / "transpose", device=device) as session:  # type: ignore[arg-type]
        found = session.submit(faster)
    assert found.timing is not None and found.timing.decision in IMPROVEMENTS and found.timing.device == "guest:a100"
