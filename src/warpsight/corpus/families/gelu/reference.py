import numpy as np


def reference(x, bias):
    v = x + bias
    return v / (1 + np.exp(-2 * 0.7978845608 * (v + 0.044715 * v**3)))
