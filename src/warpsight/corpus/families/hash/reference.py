import numpy as np


def reference(x, key, K, rounds):
    h = x.astype(np.uint32)
    words = key.astype(np.uint32)
    for r in range(rounds):
        h = (h ^ (h >> np.uint32(15))) * np.uint32(2654435761) + words[r % K]
    return h
