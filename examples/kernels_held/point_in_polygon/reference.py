import numpy as np


def reference(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, 1, axis=0), strict=True):
        crosses = (y1 > y) != (y2 > y)
        if y1 != y2:
            inside ^= crosses & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    return inside.astype(np.int32)
