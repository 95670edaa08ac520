import numpy as np


def reference(x):
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    height, width = x.shape[1:]
    taps = [wide[:, r : r + height, c : c + width] for r in range(3) for c in range(3)]
    return np.stack(taps, axis=1)
