import numpy as np


def reference(values, counts, width):
    return counts + np.bincount(values // width, minlength=64)
