import numpy as np


def reference(x: np.ndarray) -> dict[str, np.ndarray]:
    place = np.argsort(-x, axis=1, kind="stable")[:, :4]
    return {"value": np.take_along_axis(x, place, axis=1), "place": place.astype(np.int32)}
