import numpy as np


def reference(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    return table[index].mean(axis=1)
