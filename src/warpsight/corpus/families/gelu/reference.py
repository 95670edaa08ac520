import numpy as np


def reference(x, bias):
    v = x + bias
    return 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
