import numpy as np


def reference(image: np.ndarray, filters: np.ndarray, R: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(image, (R, R), axis=(1, 2))
    return np.einsum("chwrs,kcrs->khw", windows, filters)
