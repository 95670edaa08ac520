"""`warpsight time`, `compare` and `verify`: what they print, what --json holds, how they end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpsight.gate import keys
from warpsight.gate.identity import canonical

Command = Callable[..., Any]
Changed = Callable[[str, str, str], str]

SLOW = """// launch: grid=(8) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += 8 * 256) c[i] = a[i] + b[i];
}
"""


@pytest.fixture
def slow(tmp_path: Path) -> str:
    file = tmp_path / "slow.cu"
    file.write_text(SLOW)
    return str(file)


def test_a_simulated_time_says_so(command: Command) -> None:
    ran = command("time", "vector_add", "--gpu", "a100")
    assert ran.code == 0 and "simulated at the boost clock" in ran.out and "virtual:a100" in ran.out
    document = command("time", "vector_add", "--json").document()
    assert document["source"] == "simulated" and len(document["samples_us"]) == 2 and document["decision"] is None
    assert "when measured (90 % of such times)" in ran.out
    assert 0 < document["likely_us"][0] < document["likely_us"][1]


def test_a_time_of_a_wrong_kernel_is_rejected(command: Command, changed: Changed) -> None:
    ran = command("time", "vector_add", "--kernel", changed("vector_add", "+ b[i]", "- b[i]"))
    assert ran.code == 1 and "wrong_in_timed_call" in ran.out


def test_a_kernel_that_does_not_compile_has_no_time(command: Command, changed: Changed) -> None:
    ran = command("time", "vector_add", "--kernel", changed("vector_add", "int i =", "int j ="))
    assert ran.code == 1 and "nothing to time" in ran.out


def test_slower_is_an_answer(command: Command, slow: str) -> None:
    ran = command("compare", "vector_add", "--candidate", slow)
    assert ran.code == 0 and "SLOWER" in ran.out and "simulated" in ran.out


def test_a_wrong_candidate(command: Command, changed: Changed) -> None:
    ran = command("compare", "vector_add", "--candidate", changed("vector_add", "+ b[i]", "- b[i]"), "--json")
    document = ran.document()
    assert ran.code == 1 and document["timing"] is None and document["check"]["verdict"] == "wrong"


def test_a_wrong_baseline_is_refused(command: Command, changed: Changed) -> None:
    wrong = changed("vector_add", "+ b[i]", "- b[i]")
    ran = command("compare", "vector_add", "--candidate", "tasks/vector_add/kernel.cu", "--baseline", wrong)
    assert ran.code == 2 and "expected a right baseline" in ran.err


def test_a_winner_gets_a_certificate_that_holds(command: Command, slow: str, tmp_path: Path) -> None:
    words = ("compare", "vector_add", "--baseline", slow, "--candidate", "tasks/vector_add/kernel.cu")
    ran = command(*words, "--ledger", str(tmp_path / "run"), "--json")
    document = ran.document()
    assert ran.code == 0 and document["timing"]["decision"] == "FASTER" and not document["unsafe"]
    file = Path(document["certificate_file"])
    good = command("verify", str(file), "--task", "vector_add")
    assert good.code == 0 and "the certificate holds" in good.out and "does not hold" not in good.out
    raw = file.read_bytes()
    file.write_bytes(raw.replace(b'"attempt": 1', b'"attempt": 9'))
    bad = command("verify", str(file), "--json")
    assert bad.code == 1 and bad.document()["ok"] is False
    file.write_bytes(raw)
    book = tmp_path / "run" / "ledger.jsonl"
    book.write_bytes(book.read_bytes().replace(b'"vector_add"', b'"vector_sub"', 1))
    chain = command("verify", str(file))
    assert chain.code == 1 and "does not hold  ledger" in chain.out
    signature_is_told(command, raw, tmp_path)


def signature_is_told(command: Command, raw: bytes, tmp_path: Path) -> None:
    """The same certificate elsewhere: with its signature, without, and with a stranger's."""
    alone = tmp_path / "elsewhere" / "cert.json"
    alone.parent.mkdir()
    alone.write_bytes(raw)
    known = command("verify", str(alone), "--json").document()
    assert known["verdict"] == "holds" and known["signature"]["whose"] == "own" and known["not_shown"]
    unsigned = {key: value for key, value in json.loads(raw).items() if key != "signature"}
    alone.write_bytes(canonical(unsigned))
    ran = command("verify", str(alone))
    assert ran.code == 4 and "not signed" in ran.out and "the certificate holds" not in ran.out
    assert "not shown: who made it" in ran.out.replace("\n", " ")
    document = command("verify", str(alone), "--json").document()
    assert document["verdict"] == "unproven" and document["ok"] and document["signature"]["whose"] == "none"
    theirs = keys.sign(canonical(unsigned), tmp_path / "theirs")
    alone.write_bytes(canonical({**unsigned, "signature": theirs.model_dump()}))
    assert command("verify", str(alone)).code == 4
    trusted = command("keys", "trust", str(alone), "--name", "lab", "--json").document()
    assert trusted["fingerprint"] == keys.fingerprint(theirs.key)
    found = command("verify", str(alone))
    assert found.code == 0 and "a key you trust, lab" in found.out
    shown = command("keys", "show", "--json").document()
    assert shown["trusted"]["lab"]["key"] == theirs.key and shown["own"]["key"] == keys.own_public()
    assert command("keys", "show").code == 0 and command("keys", "trust", "abc", "--name", "x").code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("time", "vector_ad"), "vector_add"),
        (("time", "vector_add", "--gpu", "a1000"), "--gpu"),
        (("time", "vector_add", "--workload", "smal"), "small"),
        (("compare", "vector_add", "--candidate", "nowhere.cu"), "nowhere.cu"),
        (("compare", "saxpy", "--candidate", "tasks/saxpy/kernel.cl", "--gpu", "a100"), "--gpu"),
        (("verify", "nowhere.json"), "nowhere.json"),
    ],
)
def test_wrong_usage(command: Command, words: tuple[str, ...], told: str) -> None:
    ran = command(*words)
    assert ran.code == 2 and ran.out == "" and told in ran.err


@pytest.mark.parametrize("verb", ["time", "compare", "verify"])
def test_help_has_an_example(command: Command, verb: str) -> None:
    ran = command(verb, "--help")
    assert ran.code == 0 and f"warpsight {verb}" in ran.out and "Examples" in ran.out
