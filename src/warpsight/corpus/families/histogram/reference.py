import numpy as np


def reference(keys, counts):
    return counts + np.bincount(keys, minlength=64)
