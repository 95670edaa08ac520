import numpy as np


def reference(x):
    return np.cumsum(x, axis=1)
