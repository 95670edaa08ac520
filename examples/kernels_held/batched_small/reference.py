import numpy as np


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b
