import numpy as np


def reference(x, w):
    padded = np.concatenate([np.zeros(3), x, np.zeros(3)])
    return sum(w[d] * padded[d : d + len(x)] for d in range(7))
