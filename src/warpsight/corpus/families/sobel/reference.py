import numpy as np


def reference(x):
    wide = np.pad(x, 1)
    height, width = x.shape
    at = lambda r, c: wide[r : r + height, c : c + width]  # noqa: E731
    across = sum(w * (at(k, 2) - at(k, 0)) for k, w in enumerate((1, 2, 1)))
    down = sum(w * (at(2, k) - at(0, k)) for k, w in enumerate((1, 2, 1)))
    return np.sqrt(across * across + down * down)
