import numpy as np


def reference(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    return (X.astype(np.float64) @ W.astype(np.float64).T).astype(np.int32)  # exact: far below 2^53
