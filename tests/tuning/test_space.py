"""What may vary in a kernel: constants found and replaced, launches tied to them, files that declare it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tuning.conftest import ROOT, configurations, example

from warpsight.errors import TaskError, UsageError
from warpsight.tasks import evaluate_launch, read_candidate
from warpsight.tasks.expressions import ExpressionError
from warpsight.tuning.constants import named_constants, with_constants
from warpsight.tuning.declared import read_space, space_of
from warpsight.tuning.infer import defines_task, inferred_space
from warpsight.tuning.launches import check_rule, holds, launch_line, with_values
from warpsight.tuning.space import Configurations

TEXT = """#define TILE 16  // a comment
  #  define ROWS (8)
#define WARPS (TILE / 32)
#define MASK 0xff
#define TWICE 4
#define TWICE 5
#define EPS 1.5
constexpr int STEP = 4;
static const unsigned int WIDE = 32;
const float scale = 2;
    const int inside = 3;
"""


def test_constants_that_may_vary() -> None:
    found = named_constants(TEXT)
    assert {name: one.value for name, one in found.items()} == {
        "TILE": 16,
        "ROWS": 8,
        "STEP": 4,
        "WIDE": 32,
        "inside": 3,
    }
    assert [one.line for one in found.values()] == [1, 2, 8, 9, 11]


def test_values_go_where_the_constants_are_and_nowhere_else() -> None:
    text = with_constants(TEXT, {"TILE": 128, "ROWS": 4, "STEP": 16, "MASK": 9, "nobody": 1})
    assert "#define TILE 128  // a comment" in text and "define ROWS (4)" in text and "STEP = 16;" in text
    assert "0xff" in text and "(TILE / 32)" in text
    assert with_constants(text, {"TILE": 16, "ROWS": 8, "STEP": 4}) == TEXT


@pytest.mark.parametrize(
    ("expression", "filled"),
    [
        ("ceil(N / (4 * block_x))", "ceil(N / 256)"),
        ("min(ceil(N / block_x), most)", "min(ceil(N / 64), 100)"),
        ("block_x // 32", "2"),
        ("N", "N"),
        ("ceil(N / (block_x / 3))", "ceil(N / (64 / 3))"),
    ],
)
def test_parameters_become_numbers(expression: str, filled: str) -> None:
    assert with_values(expression, {"block_x": 64, "most": 100}, frozenset({"N"})) == filled


def test_rules() -> None:
    values = {"BM": 64, "TM": 4}
    assert holds("BM % TM == 0", values) and holds("BM / TM >= 16", values) and not holds("BM < TM", values)
    assert not holds("BM / 3 == 21", values)  # no integer, so not true
    assert not holds("BM / (TM - 4) == 1", values)
    for bad in ("BM", "BM = 4", "BM == X", "BM == 1 == 1", "BM == __import__('os')"):
        with pytest.raises(ExpressionError):
            check_rule(bad, frozenset(values))


# launch over the parameters, and the parameters with their values now
INFERRED = {
    "saxpy": ("grid=(ceil(N / (4 * block_x))) block=(block_x) shared=0", {"block_x": 256}),
    "matmul_tiled": ("grid=(ceil(N / TILE), ceil(M / TILE)) block=(TILE, TILE) shared=0", {"TILE": 16}),
    "transpose_tiled": (
        "grid=(ceil(C / TILE), ceil(R / TILE)) block=(TILE, ROWS) shared=0",
        {"TILE": 32, "ROWS": 8},
    ),
    "histogram": (
        "grid=(min(ceil(N / (per_thread_x * block_x)), most_blocks_x)) block=(block_x) shared=4*BINS",
        {"block_x": 256, "per_thread_x": 4, "most_blocks_x": 256},
    ),
    "reduce_sum": (
        "grid=(min(ceil(N / (per_thread_x * THREADS)), most_blocks_x)) block=(THREADS) shared=0",
        {"THREADS": 256, "per_thread_x": 4, "most_blocks_x": 512},
    ),
    "conv2d": (
        "grid=(ceil((W - R + 1) / block_x), ceil((H - R + 1) / block_y), K) block=(block_x, block_y) shared=0",
        {"block_x": 16, "block_y": 16},
    ),
    "layer_norm": ("grid=(R) block=(THREADS) shared=0", {"THREADS": 256}),
}


@pytest.mark.parametrize("name", INFERRED)
def test_the_space_of_a_kernel_is_read_from_it(name: str) -> None:
    space = inferred_space(*example(name))
    line, given = INFERRED[name]
    assert launch_line(space.launch) == f"// launch: {line}"
    assert {parameter.name: parameter.given for parameter in space.parameters} == given and not space.notes


def test_what_has_two_meanings_is_not_guessed() -> None:
    space = inferred_space(*example("matmul_register_blocked"))
    assert any("64 in the launch is BM or BN" in note for note in space.notes)
    assert space.launch.grid[:2] == ("ceil(N / 64)", "ceil(M / 64)")


def test_a_warp_for_each_row() -> None:
    task, kernel = example("spmv_csr")
    text = kernel.source.replace("grid=(ceil(M/128))", "grid=(ceil(M/4))")
    space = inferred_space(task, read_candidate(text, task, "kernel.cu"))
    assert space.launch.grid[0] == "ceil(M / (block_x // 32))"


def test_shared_bytes_that_follow_the_block() -> None:
    task, kernel = example("saxpy")
    text = kernel.source.replace("shared=0", "shared=4*256")
    space = inferred_space(task, read_candidate(text, task, "kernel.cu"))
    made = Configurations(task, read_candidate(text, task, "kernel.cu"), space)
    assert "shared=512" in made.kernel((128,))


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "tasks").glob("*/kernel.*u")))
def test_every_configuration_is_a_kernel_of_its_task(name: str) -> None:
    """Each reads back as a candidate whose launch is possible; the given values are the given kernel."""
    made = configurations(name)
    assert made.given_key is not None and made.kernel(made.given_key) == made.given.source
    assert made.given_key not in made.allowed
    texts = set[str]()
    chosen = made.allowed[:: max(1, len(made.allowed) // 10)]
    for key in chosen:
        text = made.kernel(key)
        candidate = read_candidate(text, made.task, made.task.kernel_file)
        for workload in made.task.workloads:
            if not workload.hidden:
                evaluate_launch(candidate, workload.axes)
        constants = {n: one.value for n, one in named_constants(text).items()}
        assert all(constants[p.name] == v for p, v in zip(made.space.parameters, key, strict=True) if p.constant)
        texts.add(text)
    assert made.given.source not in texts and len(texts) == len(chosen)


def test_a_triton_kernel_varies_in_its_first_lines() -> None:
    made = configurations("triton_vector_add")
    names = {parameter.name for parameter in made.space.parameters}
    assert {"num_warps", "num_stages"} < names and made.given_key is not None
    assert made.kernel(made.given_key) == made.given.source
    for key in made.allowed[::7]:
        candidate = read_candidate(made.kernel(key), made.task, made.task.kernel_file)
        told = dict(option.split("=") for option in candidate.options)
        assert told == told | {name: str(value) for name, value in made.config(key).items()}


def test_a_declared_space() -> None:
    made = configurations("matmul_register_blocked")
    assert made.space.origin == "tune.toml" and made.given_key == (64, 64, 16, 4, 4, 256)
    text = made.kernel((128, 64, 8, 8, 4, 256))
    assert "grid=(ceil(N / 64), ceil(M / 128)) block=(16, 16)" in text and "#define BM 128" in text
    assert (128, 64, 8, 8, 4, 512) not in made.allowed  # a rule: the threads are those of the tile


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[parameters]\nTILE = []", "parameters.TILE"),
        ("[parameters]\nTILE = ['a']", "parameters.TILE"),
        ("[parameters]\nN = [8]", "parameters.N"),
        ("[parameters]\nother = [8]\n[launch]\ngrid=['ceil(N/16)', 'ceil(M/16)']\nblock=['16', '16']", "other"),
        ("[parameters]\nT = [8]\nTM = [2]\n[launch]\ngrid=['ceil(N/TM)']\nblock=['TM']", r"parameters\.T\b"),
        ("[launch]\ngrid=['ceil(N/X)']\nblock=['16']", "launch.grid"),
        ("rules = ['TILE']", "rules"),
        ("[launch]\ngrid=['1']", "launch.block"),
        ("colour = 1", "colour"),
        ("parameters =", "TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, key: str, tmp_path: Path) -> None:
    file = tmp_path / "tune.toml"
    file.write_text(text)
    with pytest.raises(TaskError, match=key):
        read_space(*example("matmul_tiled"), file)


def test_values_from_the_command_line() -> None:
    made = configurations("transpose_tiled", TILE=(16, 32), ROWS=(4, 8))
    assert set(made.allowed) == {(16, 4), (16, 8), (32, 4)}
    with pytest.raises(UsageError, match="found 'COLUMNS'") as problem:
        configurations("transpose_tiled", COLUMNS=(1, 2))
    assert "TILE, ROWS" in (problem.value.hint or "")


def test_a_space_without_end_is_refused() -> None:
    task, kernel = example("matmul_register_blocked")
    many = tuple(range(1, 61))
    space = space_of(task, kernel, None, {"BM": many, "BN": many, "BK": many})
    with pytest.raises(UsageError, match="at most 50000 combinations") as problem:
        _ = Configurations(task, kernel, space).allowed
    assert "--set BM=" in (problem.value.hint or "")


def test_what_the_reference_says_too_is_no_choice() -> None:
    """A constant of the question stays as it is, whichever letters it has there."""
    found, given = example("matmul_tiled")
    (tile,) = [one for one in named_constants(found.kernel).values() if one.name == "TILE"]
    assert not defines_task(found, tile)
    for line in ("TILE = 99", "tile = 16", "def reference(x, tile: int = 16): ..."):
        assert defines_task(found.model_copy(update={"reference": f"{found.reference}\n{line}\n"}), tile)
    other = found.model_copy(update={"reference": f"{found.reference}\ntile = 8\n"})
    assert not defines_task(other, tile)
    fixed = found.model_copy(update={"reference": f"{found.reference}\nTILE = 16\n"})
    space = inferred_space(fixed, given)
    assert "TILE" not in {parameter.name for parameter in space.parameters}
    assert any("TILE says what is computed" in note for note in space.notes)
