import numpy as np


def reference(x, w):
    return sum(w[d] * np.roll(x, 3 - d) for d in range(7))
