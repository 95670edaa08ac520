import numpy as np


def reference(x, y, out):
    return out + np.dot(x.astype(np.float64), y.astype(np.float64))
