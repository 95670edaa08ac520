import numpy as np


def reference(points: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    distance = ((points[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2)
    return distance.argmin(axis=1).astype(np.int32)
