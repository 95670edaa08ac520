import numpy as np


def reference(a, b):
    re = a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1]
    im = a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0]
    return np.stack([re, im], axis=1)
