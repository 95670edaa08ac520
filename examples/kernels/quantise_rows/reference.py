import numpy as np


def reference(x: np.ndarray) -> dict[str, np.ndarray]:
    scale = np.maximum(np.abs(x).max(axis=1), 1e-8) / 127
    return {"q": np.rint(x / scale[:, None]).astype(np.int8), "scale": scale}
