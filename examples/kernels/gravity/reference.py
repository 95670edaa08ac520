import numpy as np


def reference(position: np.ndarray, mass: np.ndarray, soft: float) -> np.ndarray:
    acceleration = np.empty_like(position)
    for i, here in enumerate(position):
        d = position - here
        acceleration[i] = (mass / ((d * d).sum(axis=1) + soft) ** 1.5) @ d
    return acceleration
