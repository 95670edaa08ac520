# attack: F2 the same, with the hash of the slow text put in and the digest made anew
# task: transpose
# expect: not_believed
import hashlib
import re
from pathlib import Path

from redteam.stores import DIGEST_BYTES, sealed

ASK = "slow"


def tamper(world):
    theirs, mine = world.built(world.fast), world.built(world.slow)
    texts = [
        (file.read_bytes(), hashlib.sha256(file.read_bytes()).hexdigest().encode()) for file in (world.fast, world.slow)
    ]
    for (name, honest), (other, body) in zip(mine.items(), theirs.items(), strict=True):
        payload = (
            body[DIGEST_BYTES:]
            .replace(texts[0][1], texts[1][1])
            .replace(Path(other).name.encode(), Path(name).name.encode())
        )
        told = re.search(rb'"source_sha256":"([0-9a-f]{64})"', honest)
        if told:
            payload = re.sub(rb'"source_sha256":"[0-9a-f]{64}"', told.group(0), payload)
        file = world.cache / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(sealed(payload))
