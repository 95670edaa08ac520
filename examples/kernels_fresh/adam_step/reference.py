import numpy as np


def reference(
    p: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray, rate: float, step: int
) -> dict[str, np.ndarray]:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    p = p - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return {"p": p, "m": m, "v": v}
