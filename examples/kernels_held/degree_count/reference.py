import numpy as np


def reference(edges: np.ndarray, degree: np.ndarray) -> np.ndarray:
    return degree + np.bincount(edges.ravel(), minlength=len(degree)).astype(np.int32)
