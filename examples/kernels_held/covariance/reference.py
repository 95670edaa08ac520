import numpy as np


def reference(table: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    del covariance  # zeros, which kernels may add to
    centred = table - mean
    return centred.T @ centred / (len(table) - 1)
