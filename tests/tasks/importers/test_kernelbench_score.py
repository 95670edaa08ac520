"""fast_p, comparison, what a candidate is written in, and when times are not believed: pure functions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpsight.jail import wire
from warpsight.tasks.importers.kernelbench.charge import ChargedSample, charged_s, pace, usual_outside_s
from warpsight.tasks.importers.kernelbench.compare import compare_outputs, tolerance_of
from warpsight.tasks.importers.kernelbench.cpu import capability
from warpsight.tasks.importers.kernelbench.extension import compiler_of, steps, unit_text
from warpsight.tasks.importers.kernelbench.problem import backend_of, check_text
from warpsight.tasks.importers.kernelbench.score import CandidateScore, fast_p, geometric_mean
from warpsight.tasks.importers.kernelbench.session import Output, RunFailed, TimedQuestion
from warpsight.tasks.importers.records import CannotImport


def attempt(name: str, speedup: float | None, verdict: str = "right") -> CandidateScore:
    fields: dict[str, Any] = {"problem": name, "verdict": verdict}
    if speedup is not None:
        fields |= {"reference_ms": speedup, "candidate_ms": 1.0, "source": "measured"}
    return CandidateScore.model_validate(fields)


def test_fast_p_is_the_share_that_is_right_and_faster_than_p() -> None:
    attempts = [
        attempt("a", 2.5),
        attempt("b", 1.0),
        attempt("c", 0.5),
        attempt("d", None, "wrong"),
        attempt("e", None, "no candidate"),
    ]
    assert fast_p(attempts, 0) == pytest.approx(3 / 5)
    assert fast_p(attempts, 0.5) == pytest.approx(2 / 5)  # more than p, not p itself
    assert fast_p(attempts, 1) == pytest.approx(1 / 5)
    assert fast_p(attempts, 2) == pytest.approx(1 / 5) and fast_p(attempts, 3) == 0
    assert math.isnan(fast_p([], 1))
    assert geometric_mean(attempts) == pytest.approx((2.5 * 1.0 * 0.5) ** (1 / 3))
    assert geometric_mean([attempt("d", None, "wrong")]) is None


def test_right_without_a_time_counts_as_right_and_not_as_fast() -> None:
    assert fast_p([attempt("a", None)], 0) == 1 and fast_p([attempt("a", None)], 0.5) == 0


def test_only_right_candidates_have_times() -> None:
    with pytest.raises(ValueError, match="only a right candidate"):
        attempt("a", 2.0, "wrong")
    with pytest.raises(ValueError, match="measured"):
        CandidateScore(problem="a", verdict="right", reference_ms=1.0, candidate_ms=1.0)


def floats(*values: float, dtype: str = "float32") -> list[Output]:
    return [Output(dtype, np.array(values, dtype=np.float32))]


@pytest.mark.parametrize(
    ("expected", "got", "reason"),
    [
        (floats(1, 2), floats(1.00005, 2), ""),
        (floats(1, 2), floats(1.01, 2), "1 of 2 elements"),
        (floats(1, 2), floats(1.001, 2, dtype="bfloat16"), "float32"),
        (floats(1, 2, dtype="float16"), floats(1.009, 2, dtype="float16"), ""),
        (floats(1, 2), floats(1, 2, 3), "shape"),
        (floats(1), floats(1) + floats(1), "2"),
        (floats(math.nan), floats(math.nan), "elements"),
        (floats(math.inf), floats(math.inf), ""),
        (floats(math.inf), floats(-math.inf), "elements"),
        (floats(1), floats(math.inf), "elements"),
        ([Output("int64", np.array([1, 2]))], [Output("int64", np.array([1, 3]))], "1 of 2"),
        ([Output("bool", np.array([True]))], [Output("bool", np.array([True]))], ""),
        (floats(), floats(), ""),
    ],
)
def test_outputs(expected: list[Output], got: list[Output], reason: str) -> None:
    found = compare_outputs(expected, got).reason
    assert (found == "") if reason == "" else reason in found


def test_tolerance_follows_the_dtype() -> None:
    assert tolerance_of(floats(1)) == 1e-4 and tolerance_of(floats(1, dtype="bfloat16")) == 1e-2
    assert tolerance_of(floats(1), 0.5) == 0.5
    assert compare_outputs(floats(1), floats(1.4), 0.5).reason == ""


MODEL = "import torch\nclass ModelNew(torch.nn.Module):\n    pass\n"


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        (MODEL, "pytorch"),
        (f"from torch.utils.cpp_extension import load_inline\nm = load_inline(cpp_sources='')\n{MODEL}", "cpp"),
        (f"m = load_inline(name='a', cpp_sources='', cuda_sources='')\n{MODEL}", "cuda"),
        (f"S = '''__global__ void k() {{}}'''\n{MODEL}", "cuda"),
        (f"import triton\nimport triton.language as tl\n{MODEL}", "triton"),
        (f"from triton import jit\n{MODEL}", "triton"),
    ],
)
def test_what_a_candidate_is_written_in(text: str, backend: str) -> None:
    assert backend_of(text) == backend


@pytest.mark.parametrize("text", ["class Model: pass", "def f(:", "\0", "x = " + "(" * 300])
def test_what_is_no_candidate(text: str) -> None:
    with pytest.raises(CannotImport):
        backend_of(text)


@pytest.mark.parametrize("missing", ["Model", "get_inputs", "get_init_inputs"])
def test_what_a_problem_must_define(missing: str) -> None:
    text = "class Model: pass\ndef get_inputs(): pass\ndef get_init_inputs(): pass\n"
    check_text(text)
    with pytest.raises(CannotImport, match=f"{missing} at the top level"):
        check_text(text.replace(f"class {missing}:", "class Other:").replace(f"def {missing}(", "def other("))


def sample(wall: float, cpu: float, outside: float) -> ChargedSample:
    return ChargedSample(TimedQuestion(wall, cpu), outside)


def test_all_work_outside_of_the_timed_calls_is_charged() -> None:
    reference = [sample(0.5, 0.5, 0.10), sample(0.5, 0.5, 0.11), sample(0.5, 0.5, 0.10)]
    assert usual_outside_s(reference) == pytest.approx(0.10) and pace(reference, 1) == 1.0
    found = charged_s([sample(0.2, 0.2, 0.09), sample(0.01, 0.01, 0.6), sample(0.2, 0.8, 0.1)], reference, 1)
    assert [total for total, _ in found] == pytest.approx([0.2, 0.51, 0.8])
    assert [hidden for _, hidden in found] == pytest.approx([0.0, 0.5, 0.6])
    assert charged_s([sample(0.2, 0.8, 0.1)], [sample(0.5, 2.0, 0.1)], 4) == [(0.2, 0.0)]


def test_what_is_hidden_on_a_busy_machine_counts_as_it_would_have_on_the_clock() -> None:
    busy = [sample(1.5, 0.5, 0.1)] * 3
    assert pace(busy, 1) == pytest.approx(3.0)
    assert charged_s([sample(0.0, 0.0, 0.6)], busy, 1)[0] == pytest.approx((1.5, 1.5))


def test_what_the_reference_varies_by_is_not_charged() -> None:
    reference = [sample(0.5, 0.5, outside) for outside in (0.08, 0.10, 0.12)]
    assert usual_outside_s(reference) == pytest.approx(0.12)


def asked(**change: Any) -> dict[str, Any]:
    plain = {"sources": ["int f();"], "functions": ["f"], "cflags": [], "ldflags": [], "headers": True, "wrapped": True}
    return {**plain, **change}


def test_the_unit_is_laid_out_as_pytorch_does() -> None:
    lines = unit_text(asked()).splitlines()
    assert lines[0] == "#include <torch/extension.h>" and lines[1] == "int f();"
    assert lines[2:] == [
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {",
        'm.def("f", torch::wrap_pybind_function(f), "f");',
        "}",
    ]
    bare = unit_text(asked(headers=False, wrapped=False, functions=[]))
    assert bare == "int f();\n"


@pytest.mark.parametrize(
    "change",
    [
        {"cflags": ["-fplugin=x.so"]},
        {"cflags": ["-include", "/etc/passwd"]},
        {"cflags": ["@file"]},
        {"cflags": ["-Wl,-rpath,/x"]},
        {"cflags": ["-specs=x"]},
        {"ldflags": ["-L/somewhere"]},
        {"functions": ['f"); evil("']},
    ],
)
def test_options_are_an_allow_list(change: dict[str, Any]) -> None:
    with pytest.raises(RunFailed, match=r"not allowed|expected the name"):
        compiler_of(None)(asked(**change))


def test_the_commands_are_two() -> None:
    compiled, linked = steps("many", ["-O3"], ["-fopenmp"], Path("/torch"))
    assert compiled[-4:] == ["-c", "main.cpp", "-o", "main.o"] and "-O3" in compiled and "/torch/include" in compiled
    assert "-DTORCH_EXTENSION_NAME=many" in compiled
    assert linked[1:5] == ["-shared", "main.o", "-o", "many.so"] and linked[-1] == "-fopenmp"


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ("sse2 avx2 fma", "avx2"),
        ("avx2 fma avx512f avx512vl avx512bw avx512dq", "avx512"),
        ("sse2", "default"),
        ("", ""),
    ],
)
def test_the_processor_is_told_from_its_flags(tmp_path: Path, flags: str, name: str) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(f"processor : 0\nflags\t\t: {flags}\n" if flags else "processor : 0\n")
    assert capability(str(file)) == name


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"abc",
        b"\0\0\0\xff{}",
        b"\0\0\0\x02[]",
        b"\0\0\0\x02{}",
        b'\0\0\0\x0f{"sizes": [99]}',
        b'\0\0\0\x0f{"sizes": [-1]}',
    ],
)
def test_messages_of_strangers(message: bytes) -> None:
    with pytest.raises(wire.BadMessage):
        wire.unpack(message)


def test_messages_go_there_and_back() -> None:
    header, blobs = wire.unpack(wire.pack({"a": 1}, [b"xy", b""]))
    assert header == {"a": 1} and [bytes(one) for one in blobs] == [b"xy", b""]
