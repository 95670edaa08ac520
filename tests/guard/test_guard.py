"""A commit that makes a kernel slower or wrong is caught, a neutral one is not; and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.guard.repository import Repository, honest, make_repository, quiet
from typer.testing import CliRunner

from warpsight.cli.app import build_app
from warpsight.errors import UsageError
from warpsight.guard.baseline import read_baseline
from warpsight.guard.judge import GuardRow, status_of
from warpsight.guard.reports import junit, markdown, sarif
from warpsight.nouns import Timing
from warpsight.nouns.timing import Likelihood
from warpsight.verbs import guard


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """`matmul_naive` accepted in a fast form."""
    made = make_repository(tmp_path_factory.mktemp("repository"), "matmul_naive")
    made.commit("matmul_naive", honest("matmul_naive__tiled"))
    made.accept()
    made.git("add", "-A")
    made.git("commit", "-qm", "the baseline")
    return made


@pytest.fixture
def slow() -> str:
    return (Path(__file__).parents[2] / "tasks" / "matmul_naive" / "kernel.cu").read_text()


def test_a_slower_kernel_is_caught_and_put_back(repository: Repository, slow: str) -> None:
    fast = repository.kernel("matmul_naive").read_text()
    repository.commit("matmul_naive", slow)
    row = repository.verdict("matmul_naive")
    assert row.status in ("slower", "likely_slower") and row.change is not None and row.change > 0.03
    assert row.fails(strict=True)
    assert row.before and row.after and row.before.time_us and row.after.time_us
    assert row.after.time_us > row.before.time_us
    assert repository.verdict("matmul_naive", "900%").status == "same"
    repository.commit("matmul_naive", fast)
    assert repository.verdict("matmul_naive").status == "unchanged"


def test_a_neutral_change_is_not_caught(repository: Repository) -> None:
    fast = repository.kernel("matmul_naive").read_text()
    repository.commit("matmul_naive", fast + "\n// a remark\n")
    row = repository.verdict("matmul_naive")
    assert (row.status, row.detail) == ("same", "the same machine code")
    repository.commit("matmul_naive", fast)


def test_a_wrong_kernel_fails_and_is_never_accepted(repository: Repository) -> None:
    fast = repository.kernel("matmul_naive").read_text()
    before = (repository.folder / "warpsight-baseline.json").read_bytes()
    for text in (fast.replace("0.0f", "1.0f"), fast.replace("__syncthreads", "__syncthread")):
        assert text != fast
        repository.commit("matmul_naive", text)
        assert repository.verdict("matmul_naive").status == "wrong"
        assert guard.update(repository.folder, "", quiet)[2][0].status == "wrong"
        assert (repository.folder / "warpsight-baseline.json").read_bytes() == before
    repository.commit("matmul_naive", fast)


def test_another_question_and_a_new_kernel_have_nothing_to_compare_with(repository: Repository) -> None:
    reference = repository.folder / "kernels" / "matmul_naive" / "reference.py"
    text = reference.read_text()
    reference.write_text(text + "\n# another question\n")
    assert repository.verdict("matmul_naive").status == "task_changed"
    reference.write_text(text)
    listed = repository.folder / "warpsight.toml"
    was = listed.read_text()
    listed.write_text(was + 'gpus = ["t4"]\n')
    assert repository.verdict("matmul_naive").status == "new"
    listed.write_text(was)


def test_the_command_says_it_and_ends_with_one(repository: Repository, slow: str, tmp_path: Path) -> None:
    fast = repository.kernel("matmul_naive").read_text()
    repository.commit("matmul_naive", slow)
    files = {kind: tmp_path / kind for kind in ("markdown", "junit", "sarif")}
    options = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
    words = ["guard", "check", "--list", str(repository.folder), "--strict", "--json", *options]
    ended = CliRunner().invoke(build_app(words), words)
    repository.commit("matmul_naive", fast)
    assert ended.exit_code == 1, ended.output
    document = json.loads(ended.stdout)
    assert document["failed"] and document["source"] == "simulated"
    assert "fail" in files["markdown"].read_text()
    assert ElementTree.parse(files["junit"]).getroot().get("failures") == "1"
    run = json.loads(files["sarif"].read_text())["runs"][0]
    uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert uris == {"kernels/matmul_naive/kernel.cu"}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {r["ruleId"] for r in run["results"]}


def test_a_damaged_baseline_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    with pytest.raises(UsageError, match="guard update"):
        read_baseline(file)
    for text in ("", "{}", '{"accepted": 1}', "\x00"):
        file.write_text(text)
        with pytest.raises(UsageError, match="no baseline"):
            read_baseline(file)


def test_strange_names_do_not_break_the_reports() -> None:
    row = GuardRow(task="a", file="x|<b>`", path="p", gpu="a100", status="wrong", detail="one\ntwo | <img> \x07")
    table = markdown([row], False).splitlines()[4]
    assert table.count("|") - table.count("\\|") == 7 and "<img>" not in table
    assert ElementTree.fromstring(junit([row], False).partition("\n")[2]) is not None
    assert json.loads(sarif([row], False))["runs"][0]["results"][0]["level"] == "error"


@pytest.mark.parametrize(
    ("ratio", "likely", "decision", "most", "status"),
    [
        (0.5, (0.4, 0.8), "SLOWER", 0.03, "slower"),
        (0.9, (0.7, 1.1), "SLOWER", 0.03, "likely_slower"),
        (0.96, (0.9, 0.99), "SLOWER", 0.05, "same"),
        (1.0, (0.8, 1.2), "SAME", 0.03, "same"),
        (1.5, (1.2, 1.9), "FASTER", 0.03, "faster"),
        (1.1, (0.9, 1.3), "LIKELY_FASTER", 0.03, "likely_faster"),
    ],
)
def test_the_word_for_a_ratio(
    ratio: float, likely: tuple[float, float], decision: str, most: float, status: str
) -> None:
    factors = (likely[0] / ratio, likely[1] / ratio)
    probable = Likelihood(
        baseline_bound="dram", candidate_bound="dram", level=0.9, factors=factors, probability_faster=0.5, tables="none"
    )
    timing = Timing(
        source="simulated", device="virtual", method="simulated", samples_us=(1 / ratio,), baseline_us=(1.0,),
        ratio=ratio, interval=likely, simulated_interval=(ratio, ratio), likelihood=probable,
        decision=decision,  # type: ignore[arg-type]
    )  # fmt: skip
    assert status_of(timing, most)[0] == status
