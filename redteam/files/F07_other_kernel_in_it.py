# attack: F7 a certificate with another kernel in it, with hashes that fit, and without its ledger
# task: transpose
# expect: does_not_hold
import hashlib
import json

from redteam.stores import resealed

ASK = "verify"


def tamper(world):
    certificate = json.loads(world.certificate().read_bytes())
    text = world.slow.read_text()
    certificate["candidate"] = {
        **certificate["candidate"],
        "text": text,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    alone = world.root / "alone.json"
    alone.write_bytes(resealed(certificate))
    return (alone,)
