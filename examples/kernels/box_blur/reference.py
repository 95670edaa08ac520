import numpy as np


def reference(src: np.ndarray) -> np.ndarray:
    height, width = src.shape
    padded = np.pad(src.astype(np.int64), 4, mode="edge")
    total = sum(padded[dy : dy + height, dx : dx + width] for dy in range(9) for dx in range(9))
    return ((total + 40) // 81).astype(np.uint8)
