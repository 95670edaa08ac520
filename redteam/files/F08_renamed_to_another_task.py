# attack: F8 a certificate of one task says the name and the hash of another
# task: transpose
# expect: does_not_hold
import json

from redteam.stores import resealed

ASK = "verify"


def tamper(world):
    certificate = json.loads(world.certificate().read_bytes())
    certificate["task"] = "transpose_tiled"
    alone = world.root / "alone.json"
    alone.write_bytes(resealed(certificate))
    return (alone,)
