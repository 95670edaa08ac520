import numpy as np


def reference(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    return out + x.sum()
