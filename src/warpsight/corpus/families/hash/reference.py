import numpy as np


def reference(x, rounds):
    h = x.astype(np.uint32)
    for r in range(rounds):
        h = (h ^ (h >> np.uint32(15))) * np.uint32(2654435761) + np.uint32(r)
    return h
