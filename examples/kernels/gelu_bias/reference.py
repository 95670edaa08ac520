import numpy as np


def reference(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    v = x + bias
    return 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))
