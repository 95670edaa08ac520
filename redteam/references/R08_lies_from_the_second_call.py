# attack: R8 is honest in its first calls and changes numpy in a later one
# task: layer_norm
# expect: isolated
import numpy as np


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    np.calls = getattr(np, "calls", 0) + 1  # the text may be read anew for each call: numpy is not
    if np.calls == 2:
        np.sqrt = lambda x, *_, **__: np.ones_like(x)
    return a + b
