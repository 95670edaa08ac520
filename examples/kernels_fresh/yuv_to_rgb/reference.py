import numpy as np


def reference(luma: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    y = 298 * (luma.astype(int) - 16) + 128
    d, e = (np.repeat(np.repeat(plane.astype(int) - 128, 2, 0), 2, 1) for plane in (u, v))
    rgb = np.stack((y + 409 * e, y - 100 * d - 208 * e, y + 516 * d), 2)
    return np.clip(rgb >> 8, 0, 255).astype(np.uint8)
