import numpy as np


def reference(x, f):
    padded = np.pad(x, 2)
    h, w = x.shape
    return sum(f[i, j] * padded[i : i + h, j : j + w] for i in range(5) for j in range(5))
