# attack: F6 a certificate says a larger gain, with a hash that fits, and is shown without its ledger
# task: transpose
# expect: does_not_hold
import json

from redteam.stores import faster_by, resealed

ASK = "verify"


def tamper(world):
    certificate = json.loads(world.certificate().read_bytes())
    faster_by(certificate, 1.2)
    alone = world.root / "alone.json"
    alone.write_bytes(resealed(certificate))
    return (alone,)
