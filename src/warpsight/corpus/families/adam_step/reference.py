import numpy as np


def reference(w, m, v, g, rate):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return {"w": w - rate * m / np.sqrt(v + 1e-8), "m": m, "v": v}
