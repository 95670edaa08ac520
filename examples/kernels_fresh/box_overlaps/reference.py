import numpy as np


def reference(corner: np.ndarray, size: np.ndarray) -> np.ndarray:
    low, high = corner.astype(np.int64), corner.astype(np.int64) + size
    sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    both = np.maximum(sides, 0).prod(2)
    area = size.astype(np.int64).prod(1)
    return (2 * both > area[:, None] + area - both).sum(1) - 1
