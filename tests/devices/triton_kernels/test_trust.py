"""A lower trust is named on every record, and records of the usual trust are what they were before it had a name."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from warpsight.gate.kernel import trusted
from warpsight.nouns import HOST_CODE_NOTE, Build, Check, Evaluation, Noun, Profile, Timing

BUILD = Build(
    ok=True, source_sha256="0" * 64, gpu_arch="sm_80", options=(), compiler="", ptx="x", diagnostics=(), log=""
)
CHECK = Check(verdict="refused", reason="none")
TIMING = Timing(source="simulated", device="virtual", method="none", samples_us=(1.0, 2.0))
PROFILE = Profile(
    kernel="k", device="virtual", source="simulated", counters={}, units={}, sampled_blocks=1, total_blocks=1
)


@pytest.mark.parametrize("record", [BUILD, CHECK, TIMING, PROFILE], ids=lambda r: type(r).__name__)
def test_only_a_lower_trust_is_written(record: Noun) -> None:
    assert '"trust"' not in record.model_dump_json() and '"dynamic_shared_bytes"' not in record.model_dump_json()
    lower = record.model_copy(update={"trust": "host_code"})
    assert '"trust":"host_code"' in lower.model_dump_json()
    assert type(record).model_validate_json(lower.model_dump_json()) == lower != record


def test_an_evaluation_is_trusted_as_its_least_trusted_part() -> None:
    right = Evaluation(candidate_sha256="0" * 64, check=CHECK, profile=PROFILE)
    assert right.trust == "kernel"
    for part in ("check", "profile"):
        lower = getattr(right, part).model_copy(update={"trust": "host_code"})
        assert right.model_copy(update={part: lower}).trust == "host_code"


def test_a_timing_is_trusted_as_the_least_trusted_of_its_programs() -> None:
    lower = BUILD.model_copy(update={"trust": "host_code"})
    assert trusted(TIMING, BUILD, BUILD) == TIMING
    for builds in ((lower, BUILD), (BUILD, lower), (lower, lower)):
        found = trusted(TIMING, *builds)
        assert found.trust == "host_code" and found.notes == (HOST_CODE_NOTE,)
    assert trusted(trusted(TIMING, lower), lower).notes == (HOST_CODE_NOTE,)


def test_a_triton_build_cannot_hide_it() -> None:
    with pytest.raises(ValidationError, match="host code"):
        Build.model_validate({**BUILD.model_dump(), "language": "triton"})
