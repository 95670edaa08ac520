import numpy as np


def reference(seeds, hits, range):
    state = seeds.astype(np.uint32)
    found = 0
    for _ in np.arange(32):
        state = state ^ (state << np.uint32(13))
        state = state ^ (state >> np.uint32(17))
        state = state ^ (state << np.uint32(5))
        x = ((state >> np.uint32(16)) & np.uint32(range - 1)).astype(np.int64)
        y = (state & np.uint32(range - 1)).astype(np.int64)
        found += int((x * x + y * y < int(range) * int(range) - 1).sum())
    return hits + np.int32(found)
