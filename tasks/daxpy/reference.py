import numpy as np


def reference(x: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    return alpha * x + y
