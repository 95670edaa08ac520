import numpy as np


def reference(x: np.ndarray, y: np.ndarray, z: np.ndarray, count: np.ndarray) -> np.ndarray:
    place = np.stack((x, y, z), 1).astype(np.int64)
    i, j = np.triu_indices(len(x), 1)
    squared = ((place[i] - place[j]) ** 2).sum(1)
    return count + np.bincount(squared // 32, minlength=100)[:100]
