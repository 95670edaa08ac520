"""Records that make no sense cannot be built, and every record survives a trip through JSON."""

import hashlib
import math

import pytest
from pydantic import ValidationError

from warpsight.errors import TaskError, ToolMissing, UnsupportedInstruction, WarpsightError
from warpsight.nouns import (
    Argument,
    Axis,
    Build,
    Candidate,
    Check,
    Diagnostic,
    EntryUsage,
    Evaluation,
    Evidence,
    Fault,
    Finding,
    Launch,
    LineCounters,
    Profile,
    Run,
    Step,
    Timing,
    Workload,
    WorkloadResult,
    WorstElement,
)

SHA = hashlib.sha256(b"").hexdigest()
USAGE = EntryUsage(
    name="k", registers=8, spill_store_bytes=0, spill_load_bytes=0, shared_bytes=0, local_bytes=0, const_bytes=360
)
ERROR = Diagnostic(severity="error", file="kernel.cu", line=3, column=7, message="expected a ;")
OK = WorkloadResult(workload="small", hidden=False, seed=1, ok=True, total_elements=10)
BAD = WorkloadResult(
    workload="small",
    hidden=False,
    seed=1,
    ok=False,
    reason="non_finite",
    wrong_elements=1,
    total_elements=10,
    worst=WorstElement(output="y", index=(3,), got=math.nan, expected=1.0, error=math.inf),
)
FAULT = Fault(kind="out_of_bounds", message="read past x", thread=(1, 0, 0), block=(0, 0, 0), address=4096, array="x")
RIGHT = Check(verdict="right", reason="", workloads=(OK,))


def build(**changes: object) -> Build:
    fields: dict[str, object] = {
        "ok": True,
        "source_sha256": SHA,
        "gpu_arch": "sm_80",
        "options": (),
        "compiler": "nvrtc",
        "ptx": ".version 8.0",
        "cubin": b"\x7fELF\x00\xff",
        "entries": (USAGE,),
        "diagnostics": (),
        "log": "",
    }
    return Build.model_validate(fields | changes)


def test_a_failed_build_has_no_program_and_a_good_one_no_errors() -> None:
    assert build().ok
    assert not build(ok=False, ptx="", cubin=b"", entries=(), diagnostics=(ERROR,)).ok
    for changes in ({"ok": False}, {"ptx": ""}, {"diagnostics": (ERROR,)}, {"gpu_arch": "ampere"}, {"extra": 1}):
        with pytest.raises(ValidationError):
            build(**changes)


def test_records_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        build().ok = False  # type: ignore[misc]


@pytest.mark.parametrize(
    "record",
    [
        build(),
        Check(verdict="wrong", reason="wrong_values", workloads=(OK, BAD)),
        Check(verdict="fault", reason="out_of_bounds", faults=(FAULT,)),
        Workload(name="small", axes={"N": 3}, hidden=True),
        Argument(name="x", dtype="float32", role="in", shape=("N",), low=0, high="2*N"),
        Run(id="r1", task="saxpy", model="none", device="virtual", started_at="2026-01-01T00:00:00Z"),
    ],
    ids=lambda record: type(record).__name__,
)
def test_json_and_back(record: Build | Check | Workload | Argument | Run) -> None:
    text = record.model_dump_json()
    back = type(record).model_validate_json(text)
    assert back.model_dump_json() == text
    if isinstance(back, Build):
        assert back.cubin == b"\x7fELF\x00\xff"
    if isinstance(back, Check) and back.verdict == "wrong":
        worst = back.workloads[1].worst
        assert worst is not None and math.isnan(worst.got) and worst.error == math.inf


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "right", "reason": ""},
        {"verdict": "right", "reason": "", "workloads": (OK, BAD)},
        {"verdict": "right", "reason": "", "workloads": (OK,), "faults": (FAULT,)},
        {"verdict": "wrong", "reason": "wrong_values", "workloads": (OK,)},
        {"verdict": "wrong", "reason": "", "workloads": (BAD,)},
        {"verdict": "fault", "reason": "out_of_bounds"},
        {"verdict": "refused", "reason": "option", "workloads": (OK,)},
        {"verdict": "fine", "reason": ""},
    ],
)
def test_a_verdict_needs_its_evidence(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Check.model_validate(fields)


def test_only_right_kernels_have_a_time() -> None:
    timing = Timing(source="simulated", device="a100", method="model", samples_us=(3.0,))
    assert Evaluation(candidate_sha256=SHA, check=RIGHT, timing=timing).timing == timing
    wrong = Check(verdict="wrong", reason="wrong_values", workloads=(BAD,))
    with pytest.raises(ValidationError, match="no timing"):
        Evaluation(candidate_sha256=SHA, check=wrong, timing=timing)


def test_a_comparison_of_times_is_whole() -> None:
    base = {"source": "measured", "device": "d", "method": "pairs", "samples_us": (1.0,)}
    whole = {"baseline_us": (2.0,), "ratio": 2.0, "interval": (1.8, 2.2), "decision": "FASTER"}
    assert Timing.model_validate(base | whole).ratio == 2.0
    for changes in (
        {"ratio": 2.0},
        whole | {"baseline_us": ()},
        whole | {"interval": (2.1, 2.2)},
        whole | {"decision": "REJECTED"},
        {"samples_us": ()},
        {"samples_us": (0.0,)},
        {"source": "guessed"},
    ):
        with pytest.raises(ValidationError):
            Timing.model_validate(base | changes)


def test_likely_faster_needs_a_likelihood_that_agrees() -> None:
    said = {
        "baseline_bound": "latency", "candidate_bound": "latency", "level": 0.9, "factors": (0.5, 2.0),
        "probability_faster": 0.8, "tables": "some",
    }  # fmt: skip
    whole = {
        "source": "simulated", "device": "d", "method": "model", "samples_us": (1.0, 1.0), "baseline_us": (1.5, 1.5),
        "ratio": 1.5, "interval": (0.75, 3.0), "simulated_interval": (1.5, 1.5), "likelihood": said,
        "decision": "LIKELY_FASTER",
    }  # fmt: skip
    found = Timing.model_validate(whole)
    assert found.improves and Timing.model_validate_json(found.model_dump_json()) == found
    for changes in (
        {"likelihood": None},
        {"likelihood": None, "simulated_interval": None},
        {"simulated_interval": (0.7, 1.5)},
        {"decision": "FASTER"},
        {"interval": (1.1, 3.0)},
        {"source": "measured"},
        {"likelihood": said | {"factors": (2.0, 0.5)}},
        {"likelihood": said | {"probability_faster": 1.1}},
    ):
        with pytest.raises(ValidationError):
            Timing.model_validate(whole | changes)
    assert Timing.model_validate(whole | {"decision": "FASTER", "interval": (1.1, 3.0)}).improves
    assert not Timing.model_validate(whole | {"decision": "SAME"}).improves


def test_timings_from_before_the_error_tables_keep_their_hash() -> None:
    old = Timing(source="simulated", device="d", method="model", samples_us=(1.0,))
    assert not {"likelihood", "simulated_interval", "likely_us"} & old.model_dump().keys()


def test_every_counter_of_a_profile_has_a_unit_and_is_measured() -> None:
    fields: dict[str, object] = {
        "kernel": "k",
        "device": "virtual",
        "source": "simulated",
        "counters": {"warps": 8},
        "units": {"warps": "warp", "sectors": "sector"},
        "lines": (LineCounters(line=3, text="x", counters={"sectors": 4}),),
        "sampled_blocks": 1,
        "total_blocks": 2,
        "not_measured": ("dram_bytes",),
    }
    assert Profile.model_validate(fields).counters["warps"] == 8
    for changes in ({"units": {"warps": "warp"}}, {"not_measured": ("warps",)}, {"sampled_blocks": 3}):
        with pytest.raises(ValidationError):
            Profile.model_validate(fields | changes)


def test_findings_rest_on_evidence_and_a_profile() -> None:
    evidence = Evidence(counter="sectors", value=32, unit="sector", limit=4, line=7)
    finding = Finding(name="uncoalesced", message="m", evidence=(evidence,), estimated_gain=2.0, suggestion="s")
    with pytest.raises(ValidationError, match="profile"):
        Evaluation(candidate_sha256=SHA, check=RIGHT, findings=(finding,))
    with pytest.raises(ValidationError):
        Finding(name="uncoalesced", message="m", evidence=(), suggestion="s")


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "scalar"},
        {"role": "scalar", "value": 1, "shape": ("N",)},
        {"role": "in"},
        {"role": "in", "shape": ("N",), "value": 3},
        {"role": "out", "shape": ("N",), "fill": "zeros"},
        {"role": "in", "shape": ("N",), "dtype": "float"},
        {"role": "in", "shape": ("N",), "fill": "gauss"},
        {"role": "in", "shape": ("N",), "name": "a b"},
    ],
)
def test_arguments_that_make_no_sense(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Argument.model_validate({"name": "x", "dtype": "float32"} | fields)


def test_a_candidate_carries_the_hash_of_its_source() -> None:
    launch = Launch(grid=("1", "1", "1"), block=("32", "1", "1"))
    assert Candidate(source="", launch=launch, sha256=SHA).sha256 == SHA
    with pytest.raises(ValidationError, match="not that of the source"):
        Candidate(source="x", launch=launch, sha256=SHA)


def test_small_rules() -> None:
    with pytest.raises(ValidationError, match="greater than max"):
        Axis(name="N", min=3, max=2)
    with pytest.raises(ValidationError, match="cannot be hidden"):
        Workload(name="w", axes={}, hidden=True, profile=True)
    with pytest.raises(ValidationError, match="tool"):
        Step(index=0, kind="call", content="")
    with pytest.raises(ValidationError, match="numbered"):
        Run(
            id="r",
            task="t",
            model="m",
            device="d",
            started_at="",
            steps=(Step(index=1, kind="user", content="hi"),),
        )
    with pytest.raises(ValidationError, match="outcome"):
        Run(
            id="r",
            task="t",
            model="m",
            device="d",
            started_at="",
            submitted=Evaluation(candidate_sha256=SHA, check=RIGHT),
        )


def test_errors_say_expected_found_and_what_to_try() -> None:
    error = TaskError(file="task.toml", key="axes.N", expected="1 to 9", found="10", line=4, hint="use 9")
    assert str(error) == "task.toml:4: axes.N: expected 1 to 9, found 10\n  try: use 9"
    assert (error.exit_code, ToolMissing("x").exit_code, WarpsightError("x").exit_code) == (2, 3, 1)
    unsupported = UnsupportedInstruction("tex.2d.v4.f32.f32", line=9)
    assert "tex.2d.v4.f32.f32" in unsupported.message and "line 9" in unsupported.message
    assert unsupported.exit_code == 1
