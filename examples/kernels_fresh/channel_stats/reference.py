import numpy as np


def reference(x: np.ndarray) -> dict[str, np.ndarray]:
    return {"mean": x.mean((0, 2)), "var": x.var((0, 2))}
