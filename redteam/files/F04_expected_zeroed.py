# attack: F4 kept expected values are zeroed, with digests that fit: an honest kernel may not be refused for it
# task: transpose
# expect: honest_accepted
from redteam.stores import DIGEST_BYTES, entries, sealed

ASK = "honest"


def tamper(world):
    world.compare(world.fast)
    for name, body in entries(world.cache).items():
        if "expected" in name:
            payload = bytearray(body[DIGEST_BYTES:])
            payload[len(payload) // 2 :] = bytes(len(payload) - len(payload) // 2)
            (world.cache / name).write_bytes(sealed(bytes(payload)))
