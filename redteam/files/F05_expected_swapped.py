# attack: F5 kept expected values of the same length change places
# task: transpose
# expect: honest_accepted
from redteam.stores import entries

ASK = "honest"


def tamper(world):
    world.compare(world.fast)
    lengths = {}
    for name, body in entries(world.cache).items():
        if "expected" in name:
            lengths.setdefault(len(body), []).append((name, body))
    for alike in lengths.values():
        for (name, _), (_, body) in zip(alike, alike[1:] + alike[:1], strict=True):
            (world.cache / name).write_bytes(body)
