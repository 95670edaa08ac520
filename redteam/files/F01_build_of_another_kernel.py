# attack: F1 the build of a fast kernel lies under the key of a slow one
# task: transpose
# expect: not_believed

ASK = "slow"


def tamper(world):
    theirs, mine = world.built(world.fast), world.built(world.slow)
    for (name, _), (_, body) in zip(mine.items(), theirs.items(), strict=True):
        file = world.cache / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
