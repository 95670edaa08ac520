# attack: R1 replaces np.cumsum by a copy
# task: scan
# expect: isolated
import numpy as np

np.cumsum = lambda x, axis=None, **_: np.array(x)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
