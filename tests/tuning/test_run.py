"""A tuning on the virtual GPU, through the real gate: the winner's evidence, an interrupt, going on, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.model_errors import EXACT
from tests.tuning.conftest import ROOT, example

from warpsight.cli.app import main
from warpsight.cli.device_argument import device_for
from warpsight.errors import UsageError
from warpsight.gate.certificate import read_certificate
from warpsight.tuning.declared import space_of
from warpsight.tuning.journal import TRIALS, TuningJournal, find_tuning
from warpsight.tuning.records import TuneRequest, TuningTrial
from warpsight.tuning.run import Tuned, finalists, is_better, plan, tune
from warpsight.vgpu import model_error

TILED = {"TILE": (16, 32), "ROWS": (2, 8)}  # three configurations besides the given one
CLI = ("tune", "transpose_tiled", "--set", "TILE=16,32", "--set", "ROWS=2,8", "--quiet", "--strategy", "exhaustive")


def planned(task_name: str = "transpose_tiled", tries: int = 60, **values: tuple[int, ...]) -> TuneRequest:
    task, kernel = example(task_name)
    return plan(
        task, kernel, space_of(task, kernel, None, values or TILED), tries=tries, secret_seed=7, strategy="exhaustive"
    )


def run(journal: TuningJournal, tmp_path: Path, stop_after: int | None = None, top: int = 0) -> Tuned:
    seen = list[TuningTrial]()

    def watch(trial: TuningTrial, _: TuningTrial | None) -> None:
        seen.append(trial)
        if len(seen) == stop_after:
            raise KeyboardInterrupt

    return tune(journal, tmp_path / "ledger", watch=watch, top=top)


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A tuning without a break, whose winner is surely faster."""
    folder = tmp_path_factory.mktemp("certified")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_error, "built_in", lambda: EXACT)
        return run(TuningJournal.create(planned(), folder / "tuning"), folder)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A tuning over more values, with its best three."""
    folder = tmp_path_factory.mktemp("wide")
    return run(TuningJournal.create(planned(TILE=(8, 16, 32), ROWS=(2, 8)), folder / "tuning"), folder, top=3)


def test_a_tuning_ends_with_a_certified_kernel(certified: Tuned) -> None:
    found = certified
    assert found.stopped == "all_tried" and found.asked.strategy == "exhaustive" and len(found.trials) == 3
    assert found.best is not None and found.final is not None and found.final.timing is not None
    assert found.kernel is not None and found.certificate_file is not None
    certificate, *_ = read_certificate(found.certificate_file.read_bytes())
    assert certificate.candidate.text == found.kernel and certificate.baseline.text == found.asked.kernel
    assert certificate.timing.source == "simulated" and certificate.timing.decision == "FASTER"
    assert max(trial.ratio or 0 for trial in found.trials) == found.best.ratio
    assert (found.folder / "best.cu").read_text() == found.kernel


@pytest.mark.usefixtures("exact_model")
def test_an_interrupted_tuning_goes_on_and_loses_nothing(certified: Tuned, tmp_path: Path) -> None:
    whole = certified
    journal = TuningJournal.create(planned(), tmp_path / "cut")
    first = run(journal, tmp_path, stop_after=1)
    assert first.stopped == "interrupted" and len(first.trials) == 1 and first.final is None
    before = (journal.folder / TRIALS).read_bytes()
    (journal.folder / TRIALS).write_bytes(before + b'{"number": 1, "conf')  # a kill in the middle of a line
    again = run(TuningJournal(journal.folder), tmp_path)
    assert (journal.folder / TRIALS).read_bytes().startswith(before)
    assert [(t.config, t.ratio) for t in again.trials] == [(t.config, t.ratio) for t in whole.trials]
    assert again.kernel == whole.kernel and again.certificate_file != whole.certificate_file


@pytest.mark.slow
def test_tries_are_kept_to_and_can_be_added(tmp_path: Path) -> None:
    journal = TuningJournal.create(planned(tries=1))
    found = run(journal, tmp_path)
    assert found.stopped == "tries_spent" and len(found.trials) == 1
    journal.write_asked(journal.asked().model_copy(update={"tries": 2}))
    assert len(run(journal, tmp_path).trials) == 2


def test_a_wrong_configuration_is_a_trial_and_no_winner(tmp_path: Path) -> None:
    """MAX_C below the rows' length overruns its array: the gate says so, the search goes on."""
    found = run(TuningJournal.create(planned("bitonic_sort", MAX_C=(64, 1024), block_x=(128,))), tmp_path)
    bad = [trial for trial in found.trials if trial.config["MAX_C"] == 64]
    assert len(bad) == 1 and bad[0].verdict == "fault" and bad[0].ratio is None and "out_of_bounds" in bad[0].reason
    assert found.best is None or found.best.config["MAX_C"] == 1024


def test_better_means_faster_by_the_gate() -> None:
    def trial(decision: str | None, ratio: float | None) -> TuningTrial:
        verdict = "wrong" if decision is None else "right"
        return TuningTrial.model_validate(
            {"number": 0, "config": {}, "kernel_sha256": "0" * 64, "verdict": verdict, "decision": decision,
             "ratio": ratio, "seconds": 0.0}
        )  # fmt: skip

    assert is_better(trial("FASTER", 1.2), None) and is_better(trial("FASTER", 1.3), trial("FASTER", 1.2))
    assert is_better(trial("LIKELY_FASTER", 1.3), trial("FASTER", 1.2))
    for other in (trial("REJECTED", 9.0), trial("SAME", 1.01), trial("AMBIGUOUS", 1.5), trial(None, None)):
        assert not is_better(other, None)


def test_a_tuning_is_of_one_task_and_one_process(tmp_path: Path) -> None:
    journal = TuningJournal.create(planned())
    with journal.hold(), pytest.raises(UsageError, match="another process"):
        run(journal, tmp_path)
    changed = journal.asked().model_copy(update={"task_sha256": "0" * 64})
    journal.write_asked(changed)
    with pytest.raises(UsageError, match="not the one that it began with"):
        run(journal, tmp_path)


def test_nothing_to_search_is_told() -> None:
    task, kernel = example("vector_add")
    with pytest.raises(UsageError, match="nothing to search"):
        plan(task, kernel, space_of(task, kernel, None, {"block_x": (256,)}))


# ------------------------------------------------------------------------------------------------------ the command


def command(*words: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(words)
    shown = capfd.readouterr()
    return int(end.value.code or 0), shown.out, shown.err


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    out = tmp_path / "new.cu"
    code, said, _ = command(*CLI, "--tries", "1", "--out", str(out), "--json", capfd=capfd)
    first = json.loads(said)
    assert code in (0, 1) and first["tries"] == 1 and first["stopped"] == "tries_spent"
    code, said, errors = command("tune", "--resume", "last", "--tries", "9", "--out", str(out), capfd=capfd)
    assert code == 0 and "everything was tried; 3 of 3" in said and "simulated" in said and str(out) in said
    assert "best so far" in errors and out.read_text() != (ROOT / "tasks/transpose_tiled/kernel.cu").read_text()
    code, said, _ = command("tune", "--resume", first["tuning"][:20], "--out", str(out), "--json", capfd=capfd)
    assert json.loads(said)["tries"] == 3  # all is known: nothing runs but the last word
    assert find_tuning("transpose_tiled").asked().id == first["tuning"]
    code, said, _ = command("tune", "--resume", "last", "--top", "2", "--out", str(out), capfd=capfd)
    assert code == 0 and "to measure on the card" in said and "likely range" in said and "top-1" not in said


@pytest.mark.slow
def test_ctrl_c_in_a_real_process(tmp_path: Path) -> None:
    """An interrupt after the first try: what was tried is kept, how to go on is said, and going on ends it."""
    words = [sys.executable, "-m", "warpsight.cli.app", *(word for word in CLI if word != "--quiet")]
    words += ["--out", str(tmp_path / "new.cu")]
    env = os.environ | {"WARPSIGHT_DATA": str(tmp_path / "data")}
    process = subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None and "best so far" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=240)
    assert process.returncode == 130 and "interrupted; " in out and "--resume" in out
    (journal,) = (tmp_path / "data" / "tunings").iterdir()
    kept = len(TuningJournal(journal).trials())
    assert kept >= 1
    again = [*words[:3], "tune", "--resume", "last", "--out", str(tmp_path / "new.cu")]
    ended = subprocess.run(again, cwd=ROOT, env=env, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0 and "3 of 3 configurations" in ended.stdout, ended.stderr
    assert len(ended.stderr.splitlines()) == 3 - kept  # one line for each try that was left


def test_what_would_be_searched(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code, said, _ = command("tune", "matmul_tiled", "--show-space", capfd=capfd)
    assert code == 0 and "TILE" in said and "launch: grid=(ceil(N / TILE), ceil(M / TILE))" in said


def test_triton_runs_where_ptx_does() -> None:
    _, triton = example("triton_vector_add")
    _, cuda = example("saxpy")
    assert device_for(None, triton, "k.py") == device_for("virtual", triton, "k.py") == "virtual"
    assert device_for("cuda", triton, "k.py") == "cuda"
    assert device_for("hip", cuda, "k.cu") == "hip"
    with pytest.raises(UsageError, match=r"the hip device runs CUDA C\+\+, got k\.py"):
        device_for("hip", triton, "k.py")
    with pytest.raises(UsageError, match="OpenCL C"):
        device_for("opencl", triton, "k.py")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("tune",), "either a task or --resume"),
        (("tune", "saxpy", "--resume", "last"), "either a task or --resume"),
        (("tune", "--resume", "nothing"), "no tuning 'nothing'"),
        (("tune", "saxpy", "--set", "block_x=a"), "NAME=A,B,C"),
        (("tune", "saxpy", "--set", "warp=1"), "found 'warp'"),
        (("tune", "saxpy", "--strategy", "luck"), "expected a strategy"),
        (("tune", "saxpy", "--space", "nowhere.toml"), "nowhere.toml"),
        (("tune", "transpose", "--device", "opencl"), "no OpenCL kernel"),
    ],
)
def test_wrong_words(
    words: tuple[str, ...], told: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, errors = command(*words, capfd=capfd)
    assert code == 2 and out == "" and told in errors


def test_what_would_not_beat_the_best_so_far_is_not_checked(wide: Tuned) -> None:
    best, skipped = 1.0, 0
    for trial in wide.trials:
        if trial.verdict == "not_checked":
            assert trial.foretold is not None and trial.foretold > 1 / best and trial.ratio is None, trial
            skipped += 1
        elif trial.improves and trial.ratio is not None:
            best = max(best, trial.ratio)
    assert skipped >= 1 and wide.final is not None and wide.best is not None and wide.best.ratio == best


@pytest.mark.usefixtures("rough_model")
def test_a_likely_winner_is_handed_over_without_a_certificate(tmp_path: Path) -> None:
    found = run(TuningJournal.create(planned()), tmp_path)
    assert found.final is not None and found.final.timing is not None and found.kernel is not None
    assert found.final.timing.decision == "LIKELY_FASTER" and found.certificate_file is None


def test_the_best_few_are_listed_with_their_likely_times(wide: Tuned) -> None:
    found = wide
    skipped = {trial.kernel_sha256 for trial in found.trials if trial.verdict == "not_checked"}
    assert len(found.top) == 3 and len({one.kernel_sha256 for one in found.top}) == 3
    assert {one.kernel_sha256 for one in found.top} & skipped, "what the search left unchecked is listed too"
    assert [one.time_us for one in found.top] == sorted(one.time_us for one in found.top)
    assert found.top[0].kernel == found.kernel and found.best is not None and found.top[0].config == found.best.config
    for one in found.top:
        assert one.source == "simulated" and one.likely_us is not None and one.likely_us[0] < one.likely_us[1]
        assert f"// launch: {one.launch}" in one.kernel and f"TILE {one.config['TILE']}" in one.kernel


def test_the_best_few_are_written_into_a_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    out = tmp_path / "to-measure"
    code, said, _ = command(*CLI, "--top", "2", "--out", str(out), "--json", capfd=capfd)
    top = json.loads(said)["top"]
    assert code == 0 and [one["kernel_file"] for one in top] == [str(out / f"top-{n}.cu") for n in (1, 2)]
    assert sorted(file.name for file in out.iterdir()) == ["best.cu", "top-1.cu", "top-2.cu"]
    assert {"config", "launch", "time_us", "likely_us", "ratio", "decision"} <= top[0].keys()


def test_where_the_best_is_not_accepted_the_next_are_asked_about_checked_or_not() -> None:
    def trial(number: int, **found: object) -> TuningTrial:
        return TuningTrial.model_validate(
            {"number": number, "config": {}, "kernel_sha256": "0" * 64, "seconds": 0.0, **found}
        )

    best = trial(0, verdict="right", decision="FASTER", ratio=1.5)
    skipped = trial(1, verdict="not_checked", foretold=0.8)
    first = trial(2, verdict="right", decision="FASTER", ratio=1.1)
    slow = trial(3, verdict="not_checked", foretold=1.2)
    wrong = trial(4, verdict="wrong")
    luck = trial(5, verdict="right", decision="REJECTED", ratio=9.0)
    assert finalists((slow, first, wrong, best, luck, skipped)) == [best, skipped, first]
