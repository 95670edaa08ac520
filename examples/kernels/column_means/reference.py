import numpy as np


def reference(table: np.ndarray, mean: np.ndarray) -> np.ndarray:
    del mean  # zeros, which kernels may add to
    return table.mean(axis=0)
