import numpy as np


def reference(src: np.ndarray, sigma_space: float, sigma_range: float) -> np.ndarray:
    height, width = src.shape
    padded = np.pad(src, 3, mode="edge")
    total, weights = np.zeros_like(src), np.zeros_like(src)
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            near = padded[3 + dy : 3 + dy + height, 3 + dx : 3 + dx + width]
            space = (dx * dx + dy * dy) / (2 * sigma_space**2)
            weight = np.exp(-space - (near - src) ** 2 / (2 * sigma_range**2))
            total += weight * near
            weights += weight
    return total / weights
