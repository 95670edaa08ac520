"""A certificate is checked offline: it holds as written, and no byte of it or of its ledger can change unseen."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.gate.certificate.conftest import Accepted

from warpsight.gate.certificate import read_certificate, text_of
from warpsight.gate.likely import likely_interval
from warpsight.gate.rerun import rerun_certificate
from warpsight.gate.verdict import NO_TABLES, OTHER_TABLES, verdict_of
from warpsight.gate.verify import verify_bytes
from warpsight.nouns import Timing
from warpsight.nouns.certificate import Certificate
from warpsight.tasks import read_task

TASKS = Path(__file__).parents[3] / "tasks"
FLIPS = 1000


def bad(raw: bytes, ledger: Path | None = None) -> list[str]:
    return [one.name for one in verify_bytes(raw, ledger).findings if not one.ok]


def certificate_of(accepted: Accepted) -> Certificate:
    return read_certificate(accepted.file.read_bytes())[0]


def with_factors(timing: Timing, factors: tuple[float, float]) -> Timing:
    """The same with another likely range, and an interval that follows from it."""
    assert timing.likelihood is not None and timing.ratio is not None and timing.simulated_interval is not None
    narrow = timing.likelihood.model_copy(update={"factors": factors})
    interval = likely_interval(timing.ratio, timing.simulated_interval, narrow)
    return timing.model_copy(update={"likelihood": narrow, "interval": interval})


def test_it_holds_as_written(accepted: Accepted) -> None:
    all_of_it = verify_bytes(accepted.file.read_bytes(), accepted.ledger.path, accepted.task)
    found, looked = all_of_it.certificate, all_of_it.findings
    assert found is not None and all(one.ok for one in looked), looked
    names = {one.name for one in looked}
    assert {"file", "commitment", "task", "roof", "likely range", "decision"} <= names
    assert {"ledger", "committed before", "result", "head"} <= names
    assert found.environment["gpu"] == "a100" and found.protections and not found.unsafe and found.attempt == 1


def test_one_flipped_byte_anywhere_is_found(accepted: Accepted, tmp_path: Path) -> None:
    whole, chain = accepted.file.read_bytes(), accepted.ledger.path.read_bytes()
    choose, copy = random.Random(20261116), tmp_path / "ledger.jsonl"
    missed = 0
    for n in range(FLIPS):
        at, change = choose.randrange(len(whole) + len(chain)), choose.randrange(1, 256)
        both = bytearray(whole + chain)
        both[at] ^= change
        copy.write_bytes(both[len(whole) :])
        missed += not bad(bytes(both[: len(whole)]), copy)
        assert missed == 0, f"flip {n}: byte {at} by {change}"


def test_a_byte_more_or_less_is_found(accepted: Accepted) -> None:
    raw = accepted.file.read_bytes()
    for wrong in (raw + b"\n", raw[:-1], b" " + raw, raw.replace(b"\n", b"\r\n", 1), b"", b"[]", b"{}"):
        assert bad(wrong) == ["file"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda t: t.model_copy(update={"ratio": t.ratio * 1.01}), "decision"),
        (lambda t: t.model_copy(update={"interval": (t.interval[0], t.ratio * 99)}), "decision"),
        (lambda t: t.model_copy(update={"samples_us": tuple(x / 2 for x in t.samples_us)}), "decision"),
        (lambda t: t.model_copy(update={"roof": t.roof.model_copy(update={"floor_us": 0.001})}), "roof"),
        (lambda t: t.model_copy(update={"roof": None}), "roof"),
        (
            lambda t: t.model_copy(update={"source": "measured", "likelihood": None, "simulated_interval": None}),
            "measured twice",
        ),
        (lambda t: with_factors(t, (0.999, 1.001)), "likely range"),
    ],
)
def test_a_forger_who_mends_the_hash_is_still_found(accepted: Accepted, change: object, found: str) -> None:
    assert callable(change)
    honest = certificate_of(accepted)
    timing = change(honest.timing)
    assert isinstance(timing, Timing)
    raw = text_of(honest.model_copy(update={"timing": timing}))[0]
    assert found in bad(raw)
    assert "result" in bad(raw, accepted.ledger.path) and "entered in the ledger" in bad(raw, accepted.ledger.path)


def test_another_seed_or_another_task_does_not_fit(accepted: Accepted) -> None:
    honest = certificate_of(accepted)
    other = honest.seed.model_copy(update={"value": honest.seed.value + 1})
    assert "commitment" in bad(text_of(honest.model_copy(update={"seed": other}))[0])
    looked = verify_bytes(accepted.file.read_bytes(), None, read_task(TASKS / "saxpy")).findings
    assert [one.name for one in looked if not one.ok] == ["task"]


def test_what_is_not_accepted_has_no_certificate(accepted: Accepted) -> None:
    document = json.loads(accepted.file.read_bytes())
    document.pop("sha256")
    document.pop("signature")
    for key, value in (("decision", "SAME"), ("decision", "REJECTED")):
        with pytest.raises(ValueError, match="certificate is for"):
            Certificate.model_validate({**document, "timing": {**document["timing"], key: value, "reason": "no_time"}})
    with pytest.raises(ValueError, match="unsafe"):
        Certificate.model_validate({**document, "missing_protections": ["landlock"]})


def test_other_error_tables_are_told_and_do_not_break_it(accepted: Accepted, exact_model: None) -> None:
    looked = verify_bytes(accepted.file.read_bytes(), accepted.ledger.path, accepted.task)
    assert all(one.ok for one in looked.findings) and "likely range" not in {one.name for one in looked.findings}
    verdict = verdict_of(looked, with_ledger=True)
    assert verdict.kind == "holds" and OTHER_TABLES in verdict.not_shown


def test_a_certificate_from_before_the_error_tables_is_judged_by_its_own_rule(accepted: Accepted) -> None:
    honest = certificate_of(accepted)
    without = {"likelihood": None, "simulated_interval": None, "interval": honest.timing.simulated_interval}
    raw = text_of(honest.model_copy(update={"timing": honest.timing.model_copy(update=without)}))[0]
    looked = verify_bytes(raw)
    assert all(one.ok for one in looked.findings)
    assert NO_TABLES in verdict_of(looked, with_ledger=False).not_shown


def test_a_rerun_that_is_no_longer_sure_says_so(accepted: Accepted, rough_model: None) -> None:
    found = rerun_certificate(certificate_of(accepted), accepted.task)
    assert not found.ok and "now LIKELY_FASTER" in found.detail and "other error tables" in found.detail


def test_a_rerun_gives_the_same_numbers(accepted: Accepted) -> None:
    found = rerun_certificate(certificate_of(accepted), accepted.task)
    assert found.ok, found.detail
    honest = certificate_of(accepted)
    other = honest.timing.model_copy(update={"baseline_us": tuple(2 * x for x in honest.timing.baseline_us)})
    assert not rerun_certificate(honest.model_copy(update={"timing": other}), accepted.task).ok
