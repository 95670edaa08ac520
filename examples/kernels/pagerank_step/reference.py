import numpy as np


def reference(
    start: np.ndarray, source: np.ndarray, degree: np.ndarray, rank: np.ndarray, damping: float
) -> np.ndarray:
    vertices = len(rank)
    target = np.repeat(np.arange(vertices), np.diff(start))
    flow = np.bincount(target, weights=(rank / degree)[source], minlength=vertices)
    return (1 - damping) / vertices + damping * flow
