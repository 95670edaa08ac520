import numpy as np


def reference(start: np.ndarray) -> np.ndarray:
    n = start.astype(np.int64)
    steps = np.zeros(n.shape, np.int32)
    while (running := n != 1).any():
        steps += running
        n = np.where(running, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
    return steps
