"""Who vouches for a certificate: a forger who mends every hash and every line cannot make it hold."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.gate.certificate.conftest import Accepted

from warpsight.errors import BrokenMachine, UsageError
from warpsight.gate import keys
from warpsight.gate.certificate import read_certificate, text_of
from warpsight.gate.identity import canonical, compact, sha256_of
from warpsight.gate.ledger import START
from warpsight.gate.verdict import MAKER, ONLY, TAKEN, Verdict, verdict_of
from warpsight.gate.verify import Verified, verify_bytes
from warpsight.nouns.certificate import Certificate


def judged(raw: bytes, ledger: Path | None = None, folder: Path | None = None) -> Verdict:
    return verdict_of(verify_bytes(raw, ledger, keys_folder=folder), with_ledger=ledger is not None)


def forged(accepted: Accepted, **changes: Any) -> Certificate:
    """What a forger may say freely: nothing else in the file contradicts it."""
    honest = read_certificate(accepted.file.read_bytes()).certificate
    return honest.model_copy(update={"environment": {**honest.environment, "cpu": "a better one"}, **changes})


def rewritten_ledger(accepted: Accepted, certificate: Certificate, file: Path) -> tuple[bytes, Path]:
    """A ledger whose chain is whole, made from nothing to fit a certificate, which is changed to fit its head."""
    lines = [json.loads(line) for line in accepted.ledger.path.read_text().splitlines()]
    raw = b""
    prev, rows = START, list[bytes]()
    for seq, line in enumerate(lines):
        body = line["body"]
        if line["kind"] == "certificate":
            place = certificate.ledger.model_copy(update={"head": prev})
            raw, found = text_of(certificate.model_copy(update={"ledger": place}))
            body = {**body, "sha256": found}
        if line["kind"] == "commit":
            body = {**body, "device": "another"}
        unhashed = {"seq": seq, "prev": prev, "kind": line["kind"], "body": body}
        prev = sha256_of(unhashed)
        rows.append(compact({**unhashed, "hash": prev}))
    file.write_bytes(b"\n".join(rows) + b"\n")
    return raw, file


def test_a_certificate_of_this_machine_holds_and_says_whose(accepted: Accepted) -> None:
    found = judged(accepted.file.read_bytes(), accepted.ledger.path)
    assert found.kind == "holds" and found.not_shown == ()
    assert "this machine's key" in found.line and keys.fingerprint(keys.own_public()) in found.line
    alone = judged(accepted.file.read_bytes())
    assert alone.kind == "holds" and alone.not_shown == (ONLY,), "without the ledger the attempts are the signer's word"


def test_a_resealed_certificate_never_holds(accepted: Accepted) -> None:
    found = judged(text_of(forged(accepted))[0])
    assert found.kind == "unproven" and found.not_shown == (MAKER, ONLY, TAKEN)
    assert "holds" not in found.line and "not signed" in found.line


def test_a_signature_does_not_pass_to_another_text(accepted: Accepted) -> None:
    signature = json.loads(accepted.file.read_bytes())["signature"]
    raw, _ = text_of(forged(accepted))
    kept = canonical({**json.loads(raw), "signature": signature})
    found = verify_bytes(kept)
    assert [one.name for one in found.findings if not one.ok] == ["signature"] and not found.signer.known
    assert judged(kept).kind == "broken"


def test_a_stranger_may_sign_and_is_called_one_until_trusted(accepted: Accepted, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    raw, _ = text_of(forged(accepted), partial(keys.sign, folder=theirs))
    found = judged(raw, folder=ours)
    assert found.kind == "unproven" and "unknown key" in found.line and MAKER in found.not_shown
    keys.trust(keys.own_public(theirs), "the lab", ours)
    found = judged(raw, folder=ours)
    assert found.kind == "holds" and "a key you trust, the lab" in found.line
    assert not (ours / keys.KEY_FILE).exists(), "to look at a certificate makes no key"


def test_a_ledger_made_from_nothing_proves_nothing(accepted: Accepted, tmp_path: Path) -> None:
    raw, ledger = rewritten_ledger(accepted, forged(accepted), tmp_path / "ledger.jsonl")
    found = judged(raw, ledger)
    assert found.kind == "unproven" and "which anybody can write" in found.line and MAKER in found.not_shown
    real = verify_bytes(accepted.file.read_bytes(), ledger)
    assert "head" in [one.name for one in real.findings if not one.ok], "the signature vouches for the lines before it"


def test_a_cut_ledger_does_not_contain_it(accepted: Accepted, tmp_path: Path) -> None:
    lines = accepted.ledger.path.read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        (tmp_path / "cut.jsonl").write_bytes(b"".join(lines[:kept]))
        assert judged(accepted.file.read_bytes(), tmp_path / "cut.jsonl").kind == "broken"


def test_a_rerun_shows_that_it_comes_out_again_and_not_who_made_it(accepted: Accepted) -> None:
    looked = verify_bytes(text_of(forged(accepted))[0])
    again = verdict_of(looked, with_ledger=False, rerun=Verified("rerun", True))
    assert again.kind == "reproduced" and again.not_shown == (MAKER, ONLY) and "holds" not in again.line
    assert verdict_of(looked, with_ledger=False, rerun=Verified("rerun", False)).kind == "broken"


def test_the_key_is_for_its_user_alone(tmp_path: Path) -> None:
    public = keys.own_public(tmp_path / "keys")
    file = tmp_path / "keys" / keys.KEY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [one.name for one in file.parent.iterdir()] == [keys.KEY_FILE], "nothing is left beside it"
    assert keys.own_public(tmp_path / "keys") == public and file.read_text().strip() != public


def test_processes_that_make_a_key_at_once_share_one(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from warpsight.gate import keys; sys.stdin.read();"
        "print(keys.own_public(Path(sys.argv[1])))"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "keys")]
    started = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    for one in started:
        assert one.stdin is not None
        one.stdin.close()
        one.stdin = None
    assert len({one.communicate(timeout=60)[0] for one in started}) == 1


def test_a_key_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokenMachine, match="cannot keep keys"):
        keys.own_public(tmp_path / "file")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / keys.KEY_FILE).write_text("short\n")
    with pytest.raises(BrokenMachine, match="no signing key"):
        keys.own_public(tmp_path / "keys")


@pytest.mark.parametrize("word", ["abc", "z" * 64, "/no/such/file"])
def test_what_is_no_key_is_told(word: str) -> None:
    with pytest.raises(UsageError, match="64 hex digits"):
        keys.read_public(word)


def test_a_key_is_read_from_hex_a_file_and_a_certificate(accepted: Accepted, tmp_path: Path) -> None:
    public = keys.own_public()
    (tmp_path / "own.pub").write_text(public + "\n")
    assert {keys.read_public(word) for word in (public, str(tmp_path / "own.pub"), str(accepted.file))} == {public}
    keys.trust(public, "me", tmp_path)
    with pytest.raises(UsageError, match="another key is trusted"):
        keys.trust("0" * 64, "me", tmp_path)
    for name in ("", "../x", "a/b", "x" * 65):
        with pytest.raises(UsageError, match="expected a name"):
            keys.trust(public, name, tmp_path)
