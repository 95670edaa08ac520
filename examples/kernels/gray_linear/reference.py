import numpy as np


def reference(rgb: np.ndarray) -> np.ndarray:
    linear = (rgb / 255.0) ** 2.2
    return (linear @ np.array([0.2126, 0.7152, 0.0722])) ** (1 / 2.2)
