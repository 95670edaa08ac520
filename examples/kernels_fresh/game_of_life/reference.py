import numpy as np


def reference(now: np.ndarray) -> np.ndarray:
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
    around = sum(np.roll(now, shift, (0, 1)).astype(int) for shift in shifts)
    return ((around == 3) | (now == 1) & (around == 2)).astype(np.uint8)
