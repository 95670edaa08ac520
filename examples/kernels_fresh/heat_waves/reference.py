import numpy as np


def reference(heat: np.ndarray, limit: float) -> np.ndarray:
    run = longest = np.zeros(len(heat), np.int32)
    for day in heat.T:
        run = np.where(day > limit, run + 1, 0)
        longest = np.maximum(longest, run)
    return longest
