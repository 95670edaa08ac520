import numpy as np


def reference(x: np.ndarray) -> np.ndarray:
    return x.max(axis=1)
