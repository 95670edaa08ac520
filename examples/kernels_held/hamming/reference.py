import numpy as np


def reference(queries: np.ndarray, references: np.ndarray) -> np.ndarray:
    distance = np.zeros((len(queries), len(references)), np.int32)
    for i in range(64):
        distance += queries[:, None, i] != references[None, :, i]
    return distance
