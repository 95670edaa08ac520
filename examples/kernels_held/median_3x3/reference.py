import numpy as np


def reference(src: np.ndarray) -> np.ndarray:
    height, width = src.shape
    padded = np.pad(src, 1, mode="edge")
    near = [padded[dy : dy + height, dx : dx + width] for dy in range(3) for dx in range(3)]
    return np.sort(np.stack(near), axis=0)[4]
