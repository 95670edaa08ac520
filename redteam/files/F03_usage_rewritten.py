# attack: F3 the entry says fewer registers and no shared memory, with a digest that fits
# task: xorshift
# expect: not_believed
import re

from redteam.stores import DIGEST_BYTES, sealed

ASK = "slow"


def tamper(world):
    for name, body in world.built(world.slow).items():
        payload = body[DIGEST_BYTES:]
        for number in ("registers", "shared_bytes", "local_bytes", "spill_store_bytes", "spill_load_bytes"):
            least = b"16" if number == "registers" else b"0"
            payload = re.sub(rf'"{number}":\d+'.encode(), f'"{number}":'.encode() + least, payload)
        file = world.cache / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(sealed(payload))
