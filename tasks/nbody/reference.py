import numpy as np


def reference(bodies: np.ndarray, soft: float) -> np.ndarray:
    position, mass = bodies[:, :3], bodies[:, 3]
    acc = np.zeros_like(position)
    for j in range(len(bodies)):
        d = position[j] - position
        acc += mass[j] * d / ((d * d).sum(axis=1, keepdims=True) + soft) ** 1.5
    return acc
